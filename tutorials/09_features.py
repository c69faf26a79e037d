# %% [markdown]
# # Features, and how to choose them
#
# A learner can say only what its features let it say. So the choice of features decides how good an answer can be. It also
# decides how fast a learner is, and even whether it is stable. This tutorial takes these things apart on a small corridor, with exact numbers.
#
# *Read [01](01_oblique_projection.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*

# %%
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd import features

n = 9
rows = [(s, "left", max(s - 1, 0), 1, 0) for s in range(n)]
rows += [(s, "right", min(s + 1, n - 1), 1, int(s == n - 1)) for s in range(n)]
corridor = otd.MDP.from_transitions(rows)
coin = otd.Policy.uniform(corridor)


def problem_with(made):
    return otd.PolicyEvaluation(corridor, target=coin, features=made, discount="9/10")


truth = problem_with(None)
values = [float(v) for v in truth.v_pi]
assert values == sorted(values)
print("values:", " ".join(f"{v:.2f}" for v in values))

# %% [markdown]
# Nine states in a row; a coin decides between left and right, and a step to the right in the last state pays 1. The values rise towards the
# reward. All states are visited equally often, and data and question have the same policy, so nothing is off-policy yet.
#
# ## What can be said at all
#
# Three ways to describe a state with $k$ numbers:
#
# * *aggregation*: the corridor is cut into $k$ rooms, and one feature for each room is 1 inside it;
# * *polynomials*: $1, x, x^2, \dots$ of the position $x$;
# * *prediction*: the reward that is expected now, one step later, two steps later, and so on: $r, P r, P^2 r, \dots$
#
# For each of them, the error of the best approximation (lines), and the error of what TD finds (dots):


# %%
def rooms(k):
    return features.aggregation(corridor, {s: s * k // n for s in range(n)})


def powers(k):
    return features.polynomial(corridor, k - 1)


def predictions(k):
    columns = [sp.Matrix(truth.r_pi)]
    while len(columns) < k:
        columns.append(truth.P_pi * columns[-1])
    return sp.Matrix.hstack(*columns)


families = {"aggregation": rooms, "polynomials": powers, "prediction": predictions}
errors = {
    name: [
        [float(problem_with(make(k)).fixed_point(m).rmse) for m in ("best", "td")]
        for k in range(1, 8)
    ]
    for name, make in families.items()
}
fig, ax = plt.subplots(figsize=(6.8, 4.2))
for (name, pairs), color in zip(errors.items(), ("#0072B2", "#D55E00", "#009E73"), strict=True):
    best, td = np.array(pairs).T
    ax.plot(range(1, 8), best, color=color, label=f"{name}: best")
    ax.plot(range(1, 8), td, "o", color=color, markersize=5, label=f"{name}: TD")
ax.set(yscale="log", xlabel="number of features", ylabel="error of the values")
ax.set_title("What the features allow, and what TD makes of it", fontsize="medium")
ax.legend(frameon=False, fontsize="small")
fig.tight_layout()
for pairs in errors.values():
    assert all(td >= best * (1 - 1e-12) for best, td in pairs)
assert errors["polynomials"][3][0] < errors["prediction"][3][0] < errors["aggregation"][3][0]

# %% [markdown]
# The values are a smooth curve, and polynomials know that neighbours have similar values. Rooms know nothing of the kind: at a wall between
# two rooms they jump. The predictions know the model, and still need many features, because a reward at the end of the corridor is many steps
# away from its beginning. With all nine they must be right:

# %%
whole = problem_with(predictions(9)).fixed_point("td")
assert list(whole.v_hat) == list(truth.v_pi)
print("TD with nine predictions has the error", whole.rmse)

# %% [markdown]
# **Advice.** Take features in which similar values look similar. To compare two sets, ask for the error of the best approximation. It is what no
# learner can beat.
#
# ## Same span, same answer, other speed
#
# Only the *span* of the features decides what TD finds. Let the position run from 0 to 8, or from $-1/2$ to $1/2$: the
# polynomials of degree 2 span the same functions, so TD says the same.


# %%
def centred(s):
    return sp.Rational(s, n - 1) - sp.Rational(1, 2)


raw, mild = (
    problem_with(features.polynomial(corridor, 2, coordinate))
    for coordinate in (lambda s: s, centred)
)
assert raw.fixed_point("td").v_hat == mild.fixed_point("td").v_hat
print("both say", [str(v) for v in raw.fixed_point("td").v_hat][:3], "and so on")

# %% [markdown]
# But they do not learn alike. In one direction the weights move by the smallest eigenvalue of $A$ a step, in another by the largest, and the step
# size has to suit the largest. The ratio of the two says how many steps the slowest direction has to wait:

# %%
ratios = []
for name, problem in (("0 to 8", raw), ("-1/2 to 1/2", mild)):
    speeds = sorted(x.real for x in otd.mean_dynamics(problem, otd.TD()).spectrum())
    ratios.append(speeds[-1] / speeds[0])
    limit = float(otd.step_size_limit(problem, otd.TD(), sampling="iid"))
    print(f"{name:>12}: largest over smallest {ratios[-1]:6.0f}, step size below {limit:.4f}")
assert ratios[1] < 50 < 4000 < ratios[0]

# %% [markdown]
# **Advice.** Scale features to a similar size and centre them. It costs nothing and changes no answer.
#
# ## More features may make TD worse
#
# Another feature can only help the *best* approximation. TD is not the best approximation: it projects obliquely, and one more dimension
# may turn its direction for the worse. Here it does, and data and question still have the same policy:

# %%
two = otd.domains.random_problem(3, 2, seed=275, discount="9/10")
two = two.replace(behavior=two.target)
one = two.replace(features=two.Phi[:, 0])
for name, problem in (("one feature", one), ("two features", two)):
    print(name)
    print(otd.compare(problem, ["best", "td"], quantities=["rmse"]))
best = [float(p.fixed_point("best").rmse) for p in (one, two)]
td = [float(p.fixed_point("td").rmse) for p in (one, two)]
assert best[1] < best[0]
assert td[1] > 1.4 * td[0]

# %% [markdown]
# There is a limit to this. Where data and question have the same policy, TD's error is at most $1/\sqrt{1 - \gamma^2}$ times the best one
# (Tsitsiklis and Van Roy 1997). `otd.bounds` lays that bound beside the exact number:

# %%
factor = 1 / (1 - 0.9**2) ** 0.5
assert td[1] <= factor * best[1]
assert td[0] <= factor * best[0]
print(
    f"TD over best: {td[0] / best[0]:.2f} and {td[1] / best[1]:.2f}, never more than {factor:.2f}"
)

# %% [markdown]
# ## Features decide on stability
#
# Off-policy there is no such limit, and the features alone can make TD diverge. In the example of the paper the left state has the feature 1 and the
# right state 2. Let the right one have $x$ instead:

# %%
paper = otd.domains.two_state("9/10", reward=1)
free = paper.replace(features={"left": [1], "right": ["x"]})
dynamics = otd.mean_dynamics(free, otd.TD())
x = sp.Symbol("x")
assert sp.expand(dynamics.A[0] - (x**2 - 9 * x + 10) / 20) == 0
dynamics

# %% [markdown]
# TD is stable where $A$ is positive. So it is unstable between the two roots $(9 \pm \sqrt{41})/2$, some 1.3 and 7.7, and 2 lies between them:

# %%
region = otd.stability_region(free, otd.TD(), x)
low, high = (9 - sp.sqrt(41)) / 2, (9 + sp.sqrt(41)) / 2
assert region == sp.Union(sp.Interval.open(-sp.oo, low), sp.Interval.open(high, sp.oo))
assert 2 not in region
print(f"unstable for x from {float(low):.2f} to {float(high):.2f}, stable elsewhere")

# %%
grid = np.linspace(-1, 10, 400)
fig, ax = plt.subplots(figsize=(6.8, 3.4))
A = (grid**2 - 9 * grid + 10) / 20
ax.plot(grid, A, color="black")
ax.fill_between(grid, A, 0, where=A < 0, color="#D55E00", alpha=0.35, label="unstable")
ax.fill_between(grid, A, 0, where=A > 0, color="#0072B2", alpha=0.2, label="stable")
ax.axvline(2, color="black", linestyle=":", linewidth=1)
ax.text(2.1, 0.45, "the paper's example", fontsize="small")
ax.axhline(0, color="black", linewidth=0.8)
ax.set(xlabel="feature x of the right state (the left one has 1)", ylabel="A")
ax.legend(frameon=False, fontsize="small", loc="upper center")
fig.tight_layout()

# %% [markdown]
# Where states that follow each other have similar features, an update of one moves the target of the other, and TD chases its own tail. With one
# indicator a state (the *tabular* case) an update moves nothing else, and TD is stable on this example at each discount below 1:

# %%
tabular = otd.domains.two_state("gamma", reward=1).replace(features=None)
region = otd.stability_region(tabular, otd.TD(), "gamma")
assert region == sp.Interval.Ropen(0, 1)
print("tabular TD is stable for gamma in", region)

# %% [markdown]
# **What to take along.** The error of the best approximation says what features are worth. Scale them, for speed. Do not take it for
# granted that more of them help TD. Off-policy, ask for the verdict before you run anything.
#
# ## Exercises
#
# 1. Features may be redundant. Give the corridor two equal features for each of three rooms. Does TD still have an answer? Are the weights unique?
# 2. ETD, *emphatic* TD, multiplies each step by a number that follows how the target would have come to the state. For which $x$ is it unstable in the
#    last example?
# 3. The Fourier basis $\cos(\pi c x)$ is said to suit smooth curves. With four features, does it beat the polynomials here?
#
# ## Solutions
#
# *1.* The values are what they were. The weights are not unique: three directions are free, one for each pair.

# %%
three = problem_with(rooms(3))
doubled = problem_with({s: vector * 2 for s, vector in rooms(3).items()})
point = doubled.fixed_point("td")
assert point.v_hat == three.fixed_point("td").v_hat
assert not point.is_unique
assert point.null_space.shape[1] == 3
print(f"unique: {point.is_unique}, free directions: {point.null_space.shape[1]}")

# %% [markdown]
# *2.* For none: $A$ is a quadratic polynomial without a real root.

# %%
etd = otd.mean_dynamics(free, otd.ETD()).A[0]
assert otd.stability_region(free, otd.ETD(), x) == sp.S.Reals
assert sp.discriminant(sp.Poly(etd, x)) < 0
etd

# %% [markdown]
# *3.* No: the polynomials are better here. The cosines are flat at both ends of the corridor, and the values are not, at the right one.

# %%
cosines = features.fourier(corridor, 3)
flat = float(problem_with(cosines).fixed_point("best").rmse)
curved = errors["polynomials"][3][0]
assert curved < flat
print(f"cosines {flat:.3f}, polynomials {curved:.3f}")
