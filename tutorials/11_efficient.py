# %% [markdown]
# # Efficient? Bias, variance and rate
#
# Two learners can both be stable and still not be equally good. One may settle on worse values; one may need a thousand
# times the data to settle at all. This tutorial takes the word *efficient* apart into three numbers that can be computed
# exactly, with no simulation: the **bias**, the **variance** and the **rate**.
#
# *Read [03](03_off_policy_divergence.ipynb) and [04](04_from_rule_to_learning_curve.ipynb) before this one: 03 says what ETD, emphatic TD, and SETD, the
# paper's stable and efficient TD, are. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*
#
# Let $v$ be the true values and $\Phi\theta_t$ what a learner believes after $t$ steps, and measure errors in the weights $\xi$ of
# the states. For a learner that settles,
#
# $$\mathbb E\|\Phi\theta_t - v\|^2 \;\approx\; \underbrace{\|\Phi\theta^* - v\|^2}_{\text{bias}^2} + \frac{\text{rate}}{t}.$$
#
# The bias is what no amount of data removes: the learner heads for $\theta^*$, and $\theta^*$ is not quite right. The rate says how
# much data the way there costs. Most of it is variance: the samples are random, so the weights are.

# %%
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import obliquetd as otd

problem = otd.domains.random_problem(4, 2, seed=17, discount="1/2")
lstd, lsetd = otd.efficiency(problem, otd.LSTD()), otd.efficiency(problem, otd.LSETD())
for found in (lstd, lsetd):
    print(
        f"{found.name:6s}  bias^2 = {float(found.squared_bias):.4f}   rate = {float(found.rate):.2f}"
    )

# %% [markdown]
# LSTD and LS-ETD are least-squares estimators: they average what they see and solve for the weights, so they have no step
# size to choose. LSTD heads for TD's fixed point, LS-ETD for ETD's, which weighs each state by its *follow-on*. Here LS-ETD
# is less biased, and pays for it with a larger rate. So LSTD is better with little data and LS-ETD with much; the two
# errors cross at $t = (\text{rate}_2 - \text{rate}_1)/(\text{bias}_1^2 - \text{bias}_2^2)$:

# %%
crossing = otd.crossover(problem, otd.LSTD(), otd.LSETD())
assert crossing.less_biased == "LS-ETD"
assert crossing.steps == (lsetd.rate - lstd.rate) / (lstd.squared_bias - lsetd.squared_bias)
assert 58 < crossing.steps < 59
print(f"LS-ETD is the better one after more than {float(crossing.steps):.1f} steps")

# %% [markdown]
# Is it true? Below, 2000 trajectories are drawn and both estimators are computed on each. The lines are the formula above,
# the dots are the simulated mean squared errors.

# %%
ACTIONS = [
    (problem.mdp.index[row.state], problem.mdp.index[row.next_state], row) for row in problem.mdp.transitions
]  # fmt: skip
Phi, gamma = np.array(problem.Phi, dtype=float), float(problem.discount)
xi, v = np.array(list(problem.xi), dtype=float), np.array(list(problem.v_pi), dtype=float)
n, d = Phi.shape


def simulated(steps, runs, marks, seed=0, warm_up=50):
    """The mean squared errors of LSTD and LS-ETD at some steps, and their standard errors."""
    chance = np.zeros((n, len(ACTIONS)))  # of each row of the model, in each state
    rho, reward, after = (np.zeros(len(ACTIONS)) for _ in range(3))
    for k, (s, t, row) in enumerate(ACTIONS):
        mu = problem.behavior[row.state].get(row.action, 0)
        pi = problem.target[row.state].get(row.action, 0)
        chance[s, k], after[k], reward[k] = mu * row.probability, t, row.reward
        rho[k] = pi / mu if mu else 0
    total, after = chance.cumsum(axis=1), after.astype(int)
    rng = np.random.default_rng(seed)
    s, follow_on = rng.choice(n, size=runs, p=xi / xi.sum()), np.ones(runs)
    A, b = np.zeros((2, runs, d, d)), np.zeros((2, runs, d))
    out = []
    for t in range(-warm_up, steps):
        k = (rng.random(runs)[:, None] > total[s]).sum(axis=1).clip(max=len(ACTIONS) - 1)
        if t >= 0:
            down = Phi[s] - gamma * Phi[after[k]]
            for i, emphasis in enumerate((rho[k], rho[k] * follow_on)):
                A[i] += emphasis[:, None, None] * Phi[s][:, :, None] * down[:, None, :]
                b[i] += (emphasis * reward[k])[:, None] * Phi[s]
            if t + 1 in marks:
                theta = np.linalg.solve(A, b[..., None])[..., 0]
                errors = (xi * (theta @ Phi.T - v) ** 2).sum(axis=-1)
                out.append((errors.mean(axis=1), errors.std(axis=1) / np.sqrt(runs)))
        follow_on, s = 1 + gamma * rho[k] * follow_on, after[k]
    return np.array(out)


marks = [30, 45, 60, 90, 120, 240, 480, 960]
seen = simulated(960, 2000, marks)

# %%
fig, ax = plt.subplots(figsize=(6.8, 4.2))
grid = np.geomspace(28, 1000, 100)
for i, (found, color, mark) in enumerate(((lstd, "#0072B2", "o"), (lsetd, "#009E73", "s"))):
    bias, rate = float(found.squared_bias), float(found.rate)
    ax.plot(grid, bias + rate / grid, color=color, label=f"{found.name}: bias$^2$ + rate / t")
    ax.errorbar(
        marks,
        seen[:, 0, i],
        2 * seen[:, 1, i],
        color=color,
        fmt=mark,
        ms=5,
        label=f"{found.name}, simulated",
    )
    ax.axhline(bias, color=color, linestyle=":", linewidth=1.2)
    ax.text(29, bias + 0.03, f"bias$^2$ of {found.name}", color=color, fontsize="small")
ax.axvline(float(crossing.steps), color="#555555", linestyle="--", linewidth=1)
ax.text(
    float(crossing.steps) * 1.04,
    5.2,
    "from here on\nLS-ETD is better",
    fontsize="small",
    color="#555555",
)
ax.set(xscale="log", xlabel="steps t", ylabel=r"$E\,\|\Phi\theta_t - v\|^2$", xlim=(28, 1020))
ax.set_title("Less bias wins in the end; less noise wins at first", fontsize="medium")
ax.legend(frameon=False, fontsize="small")
fig.tight_layout()

# %% [markdown]
# From a hundred steps on the dots lie on the lines. Before that the terms in $1/t^2$, which the formula leaves out, still
# count, but the crossing is where it should be: LS-ETD is behind at 30 steps and ahead at 90.

# %%
for k, t in enumerate(marks):
    for i, found in enumerate((lstd, lsetd)):
        off = (seen[k, 0, i] - float(found.mse(t))) / seen[k, 1, i]
        if t > 100:
            assert abs(off) < 5
            print(f"{found.name:<6} after {t} steps: {off:+.1f} standard errors from the formula")
assert seen[marks.index(30), 0, 0] < seen[marks.index(30), 0, 1]
assert seen[marks.index(90), 0, 0] > seen[marks.index(90), 0, 1]

# %% [markdown]
# ## When the noise is infinite
#
# ETD's follow-on is a product of ratios and discounts, $F_{t+1} = 1 + \gamma\rho_t F_t$, so now and then it is enormous. Its mean is
# finite, and that is all that stability asks. On the paper's two-state example its *variance* is not finite from
# $\gamma = 1/\sqrt 2$ on: with chance 1/2 the ratio is $\rho = 2$, so $F^2$ is multiplied by $\tfrac12(2\gamma)^2 = 2\gamma^2$ on
# average, and that is 1 at $\gamma = 1/\sqrt 2$. No number of samples averages such noise away at the rate $1/t$.


# %%
def noise(learner, discount):
    return otd.efficiency(otd.domains.two_state(discount, reward=1), learner)


assert noise(otd.ETD(), "7/10").is_finite
assert not noise(otd.ETD(), "71/100").is_finite
print(noise(otd.ETD(), "9/10").reason)

# %% [markdown]
# TD is the other way round. Its noise is finite at every discount, but from $\gamma = 5/6$ on it is unstable, so the noise has
# nothing to settle around; the variance grows without bound as $\gamma$ nears 5/6. SETD is stable throughout, and from
# $\gamma = 1/2$ on it has no noise at all here: at its fixed point every single update is 0, not only the mean.
# (Just below 1/2 it has a great deal; it is left out of the picture.)

# %%
discounts = [Fraction(k, 100) for k in range(0, 100, 2)] + [
    Fraction(705, 1000),
    Fraction(707, 1000),
]
variances = {}
for name, learner in (("TD", otd.TD()), ("ETD", otd.ETD()), ("SETD", otd.SETD())):
    variances[name] = []
    for gamma_ in sorted(discounts):
        found = noise(learner, gamma_)
        if found.is_finite and otd.mean_dynamics(found.problem, learner).is_stable():
            variances[name].append((float(gamma_), float(found.variance)))
assert max(gamma_ for gamma_, _ in variances["ETD"]) < 2**-0.5
assert max(gamma_ for gamma_, _ in variances["TD"]) < 5 / 6
assert {x for gamma_, x in variances["SETD"] if gamma_ >= 0.5} == {0}
assert len(variances["SETD"]) == len(discounts)  # finite and stable at all of them
assert noise(otd.SETD(), "49/100").variance > 1000

fig, ax = plt.subplots(figsize=(6.8, 4.2))
for name, color, end, told, side, height in (
    ("TD", "#0072B2", 5 / 6, "TD is unstable", 1, 0.1),
    ("ETD", "#009E73", 2**-0.5, "ETD's noise is infinite", -1, 0.72),
):
    ax.plot(*zip(*variances[name], strict=True), color=color, marker=".", label=f"{name}")
    ax.axvline(end, color=color, linestyle="--", linewidth=1.2)
    at = {"transform": ax.get_xaxis_transform(), "fontsize": "small", "color": color}
    ax.text(
        end + side * 0.008,
        height,
        f"from here on\n{told}",
        ha="left" if side > 0 else "right",
        **at,
    )
ax.set(
    yscale="log",
    xlabel=r"discount $\gamma$",
    ylabel=r"t $\cdot$ variance of the average",
    xlim=(0, 1),
)
ax.set_title(
    "Two ways to end: the noise grows, or the pull to the fixed point fades", fontsize="medium"
)
ax.legend(frameon=False, fontsize="small")
fig.tight_layout()

# %% [markdown]
# ## The average beats the last weights
#
# TD with a constant step size $\alpha$ never settles: each step brings new noise, and the weights keep a variance of about
# $\alpha S$ for ever. The *average* of all weights so far has a variance of about $M/t$, which goes on falling, and in the long run nothing else that
# heads for $\theta^*$ does better. With one weight, the average is nearer to $\theta^*$ from step $2/(a\alpha)$ on, where $a$ is the number $A$ of the mean update $\alpha(b - a\theta)$.

# %%
problem = otd.domains.random_problem(3, 1, seed=11, discount="1/2")
alpha = Fraction(1, 40)
td = otd.efficiency(problem, otd.TD())
a = otd.mean_dynamics(problem, otd.TD()).A[0]
assert td.averaging_pays_after(alpha) == 2 / (a * alpha)
print(f"S = {float(td.constant_step[0]):.2f}, M = {float(td.averaged[0]):.2f}")
print(f"the average is nearer after {float(td.averaging_pays_after(alpha)):.1f} steps")

# %% [markdown]
# Could a cleverer step size do without averaging? Step sizes $c/t$ do settle, and the last weights then have a variance of about
# $S_c/t$. But $S_c$ is never below $M$, and for most $c$ it is far above. `excess(c)` is the factor, which is the factor in samples. For one
# weight it is $(ac)^2/(2ac - 1)$, so it is 1 for one $c$ only, $1/a$, which nobody knows beforehand:

# %%
for times in map(Fraction, ("3/5", 1, 2, 10)):
    assert td.excess(times / a) == times**2 / (2 * times - 1)
    print(f"c = {float(times):4.1f}/a needs {float(td.excess(times / a)):.2f} times the samples")

# %% [markdown]
# With several weights there need not be any such $c$. Below, $A$ has the eigenvalues 0.9 and 10.8: a $c$ that suits one of them
# is far from right for the other, and the best $c$ needs more than twice the samples that the average does.

# %%
problem_2 = otd.domains.random_problem(3, 2, seed=4, discount="1/2")
two = otd.efficiency(problem_2, otd.TD())
slow, fast = sorted(x.real for x in otd.mean_dynamics(problem_2, otd.TD()).spectrum())
assert slow < 0.92 < 10.8 < fast
best = min(float(two.excess(Fraction(k, 100))) for k in range(56, 300))  # c > 1/(2 slow)
assert 2.2 < best < 2.3
print(f"the best c needs {best:.2f} times the samples")

# %% [markdown]
# ## What a constant step size leaves, and how to take it away
#
# Averaging removes noise and not bias, and a constant step size has a bias of its own. Along a trajectory the weights and the
# state depend on each other, so the mean of the weights comes to rest beside $\theta^*$, not on it. `stationary_moments` has that bias as
# a formula in $\alpha$. It begins with a term in $\alpha$, so twice the step size has about twice the bias. Run both and
# take $2\bar\theta_\alpha - \bar\theta_{2\alpha}$: the term in $\alpha$ cancels. That is Richardson-Romberg extrapolation.

# %%
moments = otd.stationary_moments(problem, otd.TD("alpha"))
bias = {k: float(moments.bias[0][0].subs("alpha", k * alpha)) for k in (1, 2)}
left = float(moments.extrapolated_bias[0].subs("alpha", alpha))
assert abs(left - (2 * bias[1] - bias[2])) < 1e-12
assert abs(left) < abs(bias[1]) / 20
print(f"bias {bias[1]:.4f} with alpha, {bias[2]:.4f} with 2 alpha; extrapolated {left:.4f}")

# %%
steps = 20_000
learners = {"alpha": otd.TD(float(alpha)), "2 alpha": otd.TD(2 * float(alpha))}
runs = otd.simulate(
    problem.replace(arithmetic="float"), learners, steps, runs=40, seed=0, keep_path=True
)
gap = {name: runs[name].path[:, :-1, 0] - float(moments.fixed_point[0]) for name in learners}
count = np.arange(1, steps + 1)
average = {name: path.cumsum(axis=1) / count for name, path in gap.items()}
lines = {
    "last weights": gap["alpha"],
    "average": average["alpha"],
    "extrapolated average": 2 * average["alpha"] - average["2 alpha"],
}
root = {name: np.sqrt((path**2).mean(axis=0)) for name, path in lines.items()}

fig, ax = plt.subplots(figsize=(6.8, 4.4))
shown = np.unique(np.geomspace(1, steps, 300).astype(int)) - 1
for (name, values), color in zip(root.items(), ("#999999", "#0072B2", "#D55E00"), strict=True):
    ax.plot(count[shown], values[shown], color=color, label=name)
kept = float(moments.second[0][0].subs("alpha", alpha))
mean = float(moments.mean[0][0].subs("alpha", alpha))
theta = float(moments.fixed_point[0])
level = np.sqrt(kept - 2 * theta * mean + theta**2)
for y, height, told in (
    (level, 1.55, "exact: the noise that a constant step size keeps"),
    (abs(bias[1]), 0.75, "exact: its bias"),
):
    ax.axhline(y, color="black", linestyle=":", linewidth=1)
    ax.text(steps, y * height, told, fontsize="small", ha="right")
ax.plot(
    count[shown],
    np.sqrt(float(td.averaged[0]) / count[shown]),
    "k--",
    lw=1,
    label=r"$\sqrt{M / t}$",
)
ax.set(
    xscale="log", yscale="log", xlabel="steps t", ylabel=r"root mean square of $\theta - \theta^*$"
)
ax.set_title("Averaging removes the noise, extrapolation the bias", fontsize="medium")
ax.legend(frameon=False, fontsize="small", loc="lower left")
fig.tight_layout()

# %%
assert abs(root["last weights"][-5000:].mean() / level - 1) < 0.1
assert abs(root["average"][-1] / abs(bias[1]) - 1) < 0.2
assert root["extrapolated average"][-1] < root["average"][-1] / 4
print({name: round(float(values[-1]), 4) for name, values in root.items()})

# %% [markdown]
# **The whole table** for a problem of your own, with the reason wherever a number does not exist, is a command:
# `obliquetd analyze model.json`. In Python, `otd.compare` has the three numbers beside each other.

# %%
print(
    otd.compare(
        otd.domains.random_problem(4, 2, seed=17, discount="1/2"),
        [otd.LSTD(), otd.LSETD()],
        quantities=["bias", "variance", "rate"],
    )
)

# %% [markdown]
# **Where this ends.** The formulas are limits: of many steps, and of small constant step sizes. They say nothing about the
# first few dozen steps, as the first picture shows, and a constant step size has to be below `otd.step_size_limit`.

# %%
limit = otd.step_size_limit(problem, otd.TD())
assert 2 * alpha < limit
print(f"largest constant step size here: {float(limit):.3f}")

# %% [markdown]
# ## Exercises
#
# 1. After how many steps is LS-ETD's squared error within a tenth of its squared bias, by the formula?
# 2. At which discount is the noise of ETD infinite if the behaviour of the two-state example goes right three times out of four?
#
# ## Solutions
#
# *1.* Where rate / t is a tenth of bias²:

# %%
steps = 10 * lsetd.rate / lsetd.squared_bias
print(f"after {float(steps):.0f} steps")
assert abs(float(lsetd.squared_bias + lsetd.rate / steps) / float(lsetd.squared_bias) - 1.1) < 1e-12

# %% [markdown]
# *2.* $F^2$ is multiplied by $\tfrac34(\tfrac43\gamma)^2 = \tfrac43\gamma^2$ on average, which is 1 at $\sqrt3/2$, some 0.866.

# %%
base = otd.domains.two_state("86/100", reward=1)
often = otd.Policy({s: {"left": "1/4", "right": "3/4"} for s in base.states})
for discount in ("86/100", "87/100"):
    found = otd.efficiency(base.replace(behavior=often, discount=discount), otd.ETD())
    assert found.is_finite == (Fraction(discount) ** 2 < Fraction(3, 4))
    print(f"discount {discount}: {'finite' if found.is_finite else 'infinite'}")
