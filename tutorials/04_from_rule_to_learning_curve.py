# %% [markdown]
# # From an update rule to its exact learning curve
#
# A learning curve is usually an average over runs, with noise. For a learner without a trace and with a constant step
# size there is no need for that: the mean and the second moment of its weights obey linear equations that can be
# iterated, exactly. This tutorial goes from the rule to the line without noise.
#
# The learner is SETD, *stable and efficient* TD, which the paper proposes: TD with a weight $\omega$ on each transition. Beside it GTD2 is run, a gradient
# learner with a second vector of weights, and at the end ETD, *emphatic* TD, whose steps carry a memory.
#
# *Read [01](01_oblique_projection.ipynb) and [02](02_two_states_and_table_1.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*

# %%
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import obliquetd as otd
from obliquetd.plotting import learning_curves

problem = otd.domains.two_state(reward=1)
learner = otd.SETD("1/50")

# %% [markdown]
# ## The rule is run on fractions
#
# There is one function for TD, SETD and ETD. Compiled, it makes the simulations; as it stands it is called with fractions,
# transition by transition, to obtain $\mathbb E[\theta_{t+1} - \theta_t] = \alpha(b - A\theta_t)$. Nothing is derived by hand.

# %%
dyn = otd.mean_dynamics(problem, learner)
assert (dyn.A[0], dyn.b[0]) == (2, 10)
assert dyn.fixed_point()[0] == 5
dyn

# %% [markdown]
# By hand: only the step from right to right moves the weight. It has $\xi\mu = 1/4$, $\rho = 2$, $\omega = 10$ and $\phi = 2$, and its
# error is $\delta = 1 - \tfrac{1}{5}\theta$. So $b = \tfrac14\cdot 2\cdot 10\cdot 2 = 10$ and $A = 10/5 = 2$, as found.
#
# ## The moments
#
# Given the transition the new weight is $\theta' = (1 - \alpha g)\theta + \alpha c$. With the second moment beside the mean, in each state,
# everything stays linear. `exact_moments` iterates that, here as fractions:

# %%
exact = otd.exact_moments(problem, learner, steps=3)
assert [m[0] for m in exact.mean[:2]] == [0, Fraction(1, 5)]
for t, error in enumerate(exact.expected_mse):
    print(f"after {t} steps: E[theta] = {exact.mean[t][0]}, E||v_hat - v||^2 = {error}")

# %% [markdown]
# The first error is $\|v\|_\Xi^2 = 100$, since both states are worth 10.

# %%
assert list(problem.v_pi) == [10, 10]
assert exact.expected_mse[0] == 100
print(f"values {list(problem.v_pi)}, first error {exact.expected_mse[0]}")

# %% [markdown]
# ## Beside a simulation
#
# Dashed is the root of the exact expected square error. The solid line is what estimates it: the root of the mean square
# of 200 simulated runs. (A mean of their errors is another quantity, and lies below.)

# %%
steps = 150
floats = otd.domains.two_state(discount=0.9, reward=1)
chosen = {"SETD": otd.SETD(0.02), "GTD2": otd.GTD2(0.1, 1)}
runs = otd.simulate(floats, chosen, steps, runs=200, seed=1)
moments = {name: otd.exact_moments(floats, L, steps) for name, L in chosen.items()}
lines = {name: np.sqrt(m.expected_mse) for name, m in moments.items()}
fig, ax = plt.subplots(figsize=(6.5, 4.2))
ax = learning_curves(runs, ax=ax, exact=lines)
# %% [markdown]
# At every step the mean square of the runs is within five standard errors of the exact value. (GTD2 walks away from $v$:
# it heads for TD's fixed point, which is $-15/2$ here.)

# %%
assert (
    problem.fixed_point("td").theta[0]
    == otd.mean_dynamics(problem, otd.GTD2(1, 1)).fixed_point()[0]
)
assert problem.fixed_point("td").theta[0] == Fraction(-15, 2)
assert moments["GTD2"].mean[-1][0] < 0 < moments["SETD"].mean[-1][0]
assert moments["GTD2"].expected_mse[-1] > moments["GTD2"].expected_mse[0]
drawn = next(line for line in ax.get_lines() if line.get_label() == "SETD").get_ydata()
assert np.allclose(drawn, np.sqrt((runs["SETD"].rmse ** 2).mean(axis=0)))
assert (runs["SETD"].mean()[10:] < drawn[10:]).all()
for name, m in moments.items():
    squares = runs[name].rmse ** 2
    error = squares.std(axis=0, ddof=1) / np.sqrt(len(squares))
    gap = np.abs(squares.mean(axis=0) - m.expected_mse)
    assert (gap <= 5 * error + 1e-9).all()
    print(f"{name}: largest gap {np.max(gap[2:] / error[2:]):.2f} standard errors")

# %% [markdown]
# ## How large may the step size be?
#
# The same equations say for which $\alpha$ the second moment stays bounded. The mean alone would allow more:

# %%
square = otd.step_size_limit(problem, otd.SETD(), sampling="iid")
mean = otd.step_size_limit(problem, otd.SETD(), sampling="iid", sense="mean")
assert (square, mean) == (Fraction(1, 4), 1)
print(f"the second moment stays bounded below {square}, the mean below {mean}")

# %% [markdown]
# Between 1/4 and 1 the mean converges while every run explodes. Only the step from right to right moves the weight, a
# quarter of all steps, and it multiplies the error by $1 - 8\alpha$: beyond 1/4 that is less than $-1$. The signs alternate and
# cancel in the mean, which is multiplied by $\tfrac34 + \tfrac14(1 - 8\alpha) = 1 - 2\alpha$; in a run they do not. Of 200 runs of
# 3000 steps at 0.26, the one that ends best has an error beyond $10^{20}$:

# %%
high = otd.simulate(floats, [otd.SETD(0.26)], 3000, 200, seed=0, stream="iid", every=3000)["SETD"]
assert high.diverged == 0
assert high.rmse[:, -1].min() > 1e20
print(f"errors after 3000 steps: {high.rmse[:, -1].min():.2g} to {high.rmse[:, -1].max():.2g}")
factors = {alpha: 1 - 8 * Fraction(alpha) for alpha in ("1/4", "26/100", "1")}
assert factors["1/4"] == -1 > factors["26/100"] > factors["1"]
one = otd.exact_moments(
    problem, otd.SETD("26/100"), 2, theta0=[4], sampling="iid"
)  # 5 is the fixed point
assert (one.mean[1][0] - 5) / (4 - 5) == 1 - 2 * Fraction(26, 100)
assert (one.second[1][0] - 10 * one.mean[1][0] + 25) == Fraction(3, 4) + factors["26/100"] ** 2 / 4

# %% [markdown]
# Ten of those runs, begun beside the fixed point 5: they fan out, to both sides alike, while their mean goes to 5 at once.

# %%
few = otd.simulate(
    floats, {"SETD": otd.SETD(0.26)}, 120, 10, seed=3, stream="iid", theta0=[4.0], keep_path=True
)["SETD"].path[:, :, 0]
calm = np.array(
    otd.exact_moments(floats, otd.SETD(0.26), 120, theta0=[4.0], sampling="iid").mean
).ravel()
fig, ax = plt.subplots(figsize=(6.8, 4.2))
for k, path in enumerate(few):
    ax.plot(path, color="#D55E00", linewidth=0.9, alpha=0.7, label="ten runs" if k == 0 else None)
ax.plot(calm, color="black", linewidth=2.2, label=r"the exact mean $E\,\theta_t$")
ax.set(xlabel="step t", ylabel=r"$\theta_t$", ylim=(-20, 30))
ax.set_title(r"$\alpha = 0.26$: every run fans out, and the mean is calm", fontsize="medium")
ax.legend(frameon=False, fontsize="small", loc="upper left")
fig.tight_layout()
assert np.abs(calm[10:] - 5).max() < 0.01
assert (np.abs(few[:, 60:] - 5).max(axis=1) > 1).all()

# %%
for alpha in (Fraction(24, 100), Fraction(26, 100)):
    m = otd.exact_moments(problem, otd.SETD(alpha), 60, sampling="iid")
    print(
        f"alpha = {float(alpha)}: E[theta_60] = {float(m.mean[60][0]):.6f}, variance {float(m.covariance[60][0]):.4g}"
    )
below, above = (
    otd.exact_moments(floats, otd.SETD(alpha), 3000, sampling="iid").covariance[3000][0, 0]
    for alpha in (0.24, 0.26)
)
assert below < 1e3 < 1e20 < above

# %% [markdown]
# **Where this ends.** A trace, and ETD's follow-on trace, multiplies the weights in an update, so that each moment of the
# weights asks for a higher moment of both. `exact_moments` says so instead of guessing.

# %%
try:
    otd.exact_moments(problem, otd.ETD("1/100"), 3)
except otd.ObliqueTDError as error:
    print(error)
    refused = True
assert refused

# %% [markdown]
# ## Exercises
#
# 1. How large may the step size of TD be on the two-state example at discount 1/2, in mean square and in the mean?
# 2. After how many steps has SETD's mean, with step size 1/50 and independent samples, gone nine tenths of its way from 0 to 5?
# 3. Does the error that a constant step size leaves behind go down in proportion to the step size? Ask `otd.stationary_moments` for TD at discount 1/2.
#
# ## Solutions
#
# *1.* A quarter of what the mean allows:

# %%
half = otd.domains.two_state("1/2", reward=1)
limits = [
    otd.step_size_limit(half, otd.TD(), sampling="iid", sense=sense)
    for sense in ("mean square", "mean")
]
assert limits == [Fraction(1, 2), 2]
print(f"in mean square {limits[0]}, in the mean {limits[1]}")

# %% [markdown]
# *2.* The mean's distance to 5 is multiplied by $1 - 2\alpha = 24/25$ at each step, so after $\log(1/10)/\log(24/25)$ steps, rounded up:

# %%
needed = int(np.ceil(np.log(0.1) / np.log(24 / 25)))
path = otd.exact_moments(problem, learner, needed, sampling="iid").mean
assert path[needed - 1][0] < Fraction(9, 10) * 5 <= path[needed][0]
print(f"after {needed} steps the mean is {float(path[needed][0]):.3f}")

# %% [markdown]
# *3.* For small steps, nearly: the variance at rest is $\alpha/(1 - 2\alpha)$. It has no end at $\alpha = 1/2$, which is the limit of the first exercise.

# %%
rest = otd.stationary_moments(half, otd.TD("alpha")).covariance[0][0]
for alpha in (Fraction(1, 10), Fraction(1, 100), Fraction(49, 100)):
    assert rest.subs("alpha", alpha) == alpha / (1 - 2 * alpha)
    print(f"alpha = {float(alpha):.2f}: variance {float(rest.subs('alpha', alpha)):.4f}")
