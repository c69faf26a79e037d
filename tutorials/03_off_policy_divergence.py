# %% [markdown]
# # Off-policy divergence: where exactly, and why?
#
# Off-policy TD may diverge. On a given problem, for which discounts? The answer here is an exact set, with a
# certificate that anyone can check, and no eigenvalue is computed to find it.
#
# Beside TD two more learners are asked: ETD, *emphatic* TD, which multiplies each step by a number that follows how the target would have come to the
# state; and SETD, *stable and efficient* TD, the paper's own, whose weight is 0 where a step would go the wrong way.
#
# *Read [01](01_oblique_projection.ipynb) and [02](02_two_states_and_table_1.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*

# %%
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd.plotting import eigenvalues, learning_curves, stability_regions, stability_regions_2d

# %% [markdown]
# ## What decides
#
# On average a learner moves by $\alpha(b - A\theta)$. It is *stable* where every eigenvalue of $A$ has a positive
# real part: then a small enough step size contracts. For TD, $A = \Phi^\top\Xi(I - \gamma P_\pi)\Phi$; for the two-state example this is one
# number, and it changes sign.

# %%
problem = otd.domains.two_state(discount="gamma")
td = otd.mean_dynamics(problem, otd.TD())
td

# %%
gamma = sp.Symbol("gamma")
assert sp.expand(td.A[0] - (sp.Rational(5, 2) - 3 * gamma)) == 0
region = otd.stability_region(problem, otd.TD(), gamma)
assert region == sp.Interval.Ropen(0, sp.Rational(5, 6))
print(f"stable for gamma in {region}")

# %% [markdown]
# ## Why
#
# The behaviour is in each state half of the time. But the target always ends in the right state, whose value
# estimate is twice as large as that of the left one. An update at the left state changes both: where it raises its own
# estimate by 1, it raises the target $\gamma\hat v(\mathrm{right})$ by $2\gamma$, so from $\gamma = 1/2$ on it never catches up.
# At the right state the estimate rises by 2 and the target by $2\gamma$ only. The sum of both,
# $\tfrac12(1 - 2\gamma)\cdot 1 + \tfrac12(2 - 2\gamma)\cdot 2 = \tfrac52 - 3\gamma$, is zero at $\gamma = 5/6$: there left and right balance.

# %%
left, right = 1 - 2 * gamma, 2 - 2 * gamma  # what an update leaves of the error, times phi
assert sp.solve(left, gamma) == [sp.Rational(1, 2)]
assert sp.expand((left * 1 + right * 2) / 2 - td.A[0]) == 0
assert sp.solve(td.A[0], gamma) == [sp.Rational(5, 6)]
print(
    f"left alone changes sign at {sp.solve(left, gamma)[0]}, both at {sp.solve(td.A[0], gamma)[0]}"
)

# %% [markdown]
# As two arrows: what the left state and what the right state pull the weight to its fixed point with, for an error of 1.
# At 5/6 they are of one length, and point away from each other:

# %%
fig, ax = plt.subplots(figsize=(7, 3.2))
discounts = (sp.Rational(1, 2), sp.Rational(5, 6), sp.Rational(19, 20))
for row, discount in enumerate(discounts):
    pulls = {
        "left": float(left.subs(gamma, discount)) / 2,
        "right": float(right.subs(gamma, discount)),
    }
    for name, y, color in (("left", row - 0.16, "#D55E00"), ("right", row + 0.16, "#0072B2")):
        if abs(pulls[name]) > 1e-9:
            ax.annotate(
                "", xy=(pulls[name], y), xytext=(0, y),
                arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 3, "mutation_scale": 16, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
        else:
            ax.plot(0, y, "o", color=color, markersize=6)
    total = pulls["left"] + pulls["right"]
    says = (
        "they cancel"
        if abs(total) < 1e-9
        else f"sum {total:+.3g}: " + ("stable" if total > 0 else "unstable")
    )
    ax.text(
        1.08,
        row,
        says,
        va="center",
        fontsize="medium",
        fontweight="bold" if total == 0 else "normal",
    )
ax.axvline(0, color="black", linewidth=1)
ax.set_yticks(range(3), [f"$\\gamma$ = {d}" for d in discounts])
ax.set(
    xlim=(-0.6, 1.65), ylim=(2.6, -0.6), xlabel="away from the fixed point      |      towards it"
)
for name, color in (("left state", "#D55E00"), ("right state", "#0072B2")):
    ax.plot([], [], color=color, linewidth=3, label=name)
ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
fig.tight_layout()
edge = {
    state: part.subs(gamma, sp.Rational(5, 6)) for state, part in (("left", left), ("right", right))
}
assert edge["left"] * 1 / 2 == -edge["right"] * 2 / 2 == -sp.Rational(1, 3)

# %% [markdown]
# Were the states weighted as the *target* visits them, the right one alone would count, with
# $A = 4(1 - \gamma) > 0$. Emphatic TD goes that way: its weights $f = L_\pi^{-\top}\xi$ solve $f = \xi + \gamma P_\pi^\top f$, so a state
# also counts for all from which the target comes to it, and $A = \Phi^\top\mathrm{diag}(f)L_\pi\Phi$ has no sign change.

# %%
on_policy = problem.replace(behavior=problem.target)
assert list(on_policy.xi) == [0, 1]
assert sp.expand(otd.mean_dynamics(on_policy, otd.TD()).A[0] - 4 * (1 - gamma)) == 0
assert sp.simplify(problem.f - problem.xi - gamma * problem.P_pi.T * problem.f) == sp.zeros(2, 1)
etd = otd.mean_dynamics(problem, otd.ETD())
assert sp.expand(etd.A[0] - (sp.Rational(5, 2) + gamma)) == 0
print("A of ETD:", etd.A[0])

# %%
fig, ax = plt.subplots(figsize=(6.5, 2.6))
learners = [otd.TD(), otd.TD(lam="1/2"), otd.ETD(), otd.SETD()]
stability_regions(problem, learners, gamma, ax)
ends = [text.get_text() for text in ax.texts]
assert ends == ["[0, 5/6)", "[0, 10/11)", "[0, 1)", "[0, 1)"]

# %% [markdown]
# A trace helps TD: with $\lambda = 1/2$ the limit is 10/11. Over both parameters at once the boundary is a curve,
# $\gamma(6 - \lambda) = 5$, exact:

# %%
both = otd.domains.two_state(discount="gamma")
lam = sp.Symbol("lam")
top, _ = sp.fraction(sp.together(otd.mean_dynamics(both, otd.TD(lam="lam")).A[0]))
assert sp.rem(top, 5 - gamma * (6 - lam), gamma) == 0
assert otd.stability_region(both, otd.TD(lam="1/2"), gamma) == sp.Interval.Ropen(
    0, sp.Rational(10, 11)
)
fig, ax = plt.subplots(figsize=(4.8, 4))
ax = stability_regions_2d(both, otd.TD(lam="lam"), ("gamma", "lam"), ax=ax)
# %% [markdown]
# With a slider for each, and a reward of 1 for going right:

# %%
paid = otd.domains.two_state(discount="gamma", reward=1)
page = otd.explore(paid, learners=[otd.TD(lam="lam"), otd.ETD()], title="Discount and trace")
assert [str(slider.symbol) for slider in page.sliders] == ["gamma", "lam"]
page

# %% [markdown]
# ## Baird's star
#
# Seven states, eight features. Since $\Phi$ has rank 7, one direction of $\theta$ is seen by no value; stability is judged
# modulo that direction.

# %%
star = otd.domains.baird_star()
assert (star.Phi.shape, star.Phi.rank()) == ((7, 8), 7)
dynamics = {L.name: otd.mean_dynamics(star, L) for L in (otd.TD(), otd.ETD(), otd.SETD())}
for name, dyn in dynamics.items():
    print(
        f"{name:<5} {dyn.stability.verdict}, kernel of dimension {dyn.stability.kernel_dimension}"
    )
assert not dynamics["TD"].is_stable()
assert dynamics["ETD"].is_stable()
assert dynamics["SETD"].is_stable()

# %%
fig, ax = plt.subplots(figsize=(8, 4))
ax = eigenvalues(dynamics, ax)
# %%
star_gamma = otd.domains.baird_star(discount="gamma")
star_region = otd.stability_region(star_gamma, otd.TD(), "gamma")
assert star_region == sp.Interval.Ropen(0, sp.Rational(15, 17))
print(f"TD is stable on the star for gamma in {star_region}")

# %% [markdown]
# ## A certificate
#
# A verdict should not have to be believed. `certificate()` gives rational matrices, and `check_certificate` checks them with
# Python's fractions and nothing else: for stability a $K$ with $K$ and $Q^\top K + KQ$ positive definite, for instability a
# witness that some direction grows. `one_line_proof` says it in a line.

# %%
for name, dyn in dynamics.items():
    certificate = dyn.certificate()
    assert otd.check_certificate(certificate)
    print(f"{name:<5} {certificate['claim']}: {otd.one_line_proof(certificate)}")

forged = {**dynamics["TD"].certificate(), "claim": "stable"}
assert not otd.check_certificate(forged)

# %% [markdown]
# ## And the learners do what the algebra says

# %%
floats = otd.domains.baird_star(discount=0.99)
found = otd.simulate(
    floats, [otd.TD(0.01), otd.SETD(0.006)], steps=3000, runs=10, theta0=[1] * 6 + [10, 1]
)
fig, ax = plt.subplots(figsize=(6, 4))
ax = learning_curves(found, ax=ax)
assert found["TD"].mean()[-1] > 100 * found["TD"].mean()[0]
assert found["SETD"].mean()[-1] < found["SETD"].mean()[0] / 10
assert np.isfinite(found["SETD"].mean()).all()

# %% [markdown]
# ## Exercises
#
# 1. How often would the behaviour have to go right on the two-state example for TD to be stable at discount 9/10?
# 2. TD is stable on the two-state example at 1/2 and not at 9/10. Is it a matter of the reward?
# 3. GTD2 is a gradient learner with a second vector of weights. For which discounts is it stable on the star?
#
# ## Solutions
#
# *1.* Let it go right with probability $q$. The region in $q$ at this discount is exact:

# %%
q = sp.Symbol("q")
mdp = problem.mdp
mixed = otd.PolicyEvaluation(
    mdp, target=problem.target, discount="9/10", features={"left": [1], "right": [2]},
    behavior=otd.Policy({s: {"left": "1 - q", "right": "q"} for s in mdp.states}),
)  # fmt: skip
often = otd.stability_region(mixed, otd.TD(), q)
assert otd.mean_dynamics(mixed.subs({"q": "7/10"}), otd.TD()).is_stable()
assert not otd.mean_dynamics(mixed.subs({"q": "1/2"}), otd.TD()).is_stable()
print("stable for q in", often)

# %% [markdown]
# *2.* No: $A$ holds no reward, so no reward can change the verdict.

# %%
for reward in (0, 1, -100):
    verdicts = [
        otd.mean_dynamics(otd.domains.two_state(g, reward=reward), otd.TD()).stability.verdict
        for g in ("1/2", "9/10")
    ]
    assert verdicts == ["stable", "unstable"]
    print(f"reward {reward}: {verdicts}")

# %% [markdown]
# *3.* For all below 1. TD fails because two of its eigenvalues cross the imaginary axis, at 15/17; but $A$ of TD is nowhere singular on what moves, and that
# is all that GTD2 needs.

# %%
gtd2 = otd.stability_region(star_gamma, otd.GTD2(), "gamma")
assert gtd2 == sp.Interval.Ropen(0, 1)
print("GTD2 is stable for gamma in", gtd2)
