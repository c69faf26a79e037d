# %% [markdown]
# # Is SETD stable? A hunt for a counterexample
#
# The paper says of its algorithms that "the off-policy stability is rigorously proved"; its text holds no proof. On the
# two-state example and on Baird's star SETD is stable. Is it always?
#
# SETD, *stable and efficient* TD, is TD with a weight $\omega$ on each transition. The weight is made so that the step fits the features, and it is 0 where a
# step would go the wrong way.
#
# *Read [01](01_oblique_projection.ipynb) and [03](03_off_policy_divergence.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*

# %%
import matplotlib.pyplot as plt
import sympy as sp

import obliquetd as otd
from obliquetd.plotting import learning_curves, mdp_graph, vector_field

# %%
free_two = otd.domains.two_state("gamma")
two_states = otd.stability_region(free_two, otd.SETD(), "gamma")
star = otd.mean_dynamics(otd.domains.baird_star(), otd.SETD()).stability.verdict
assert (two_states, star) == (sp.Interval.Ropen(0, 1), "stable")
print(f"two states: stable for gamma in {two_states}; the star: {star}")

# %% [markdown]
# ## One feature and no trace: yes
#
# With one feature and $\lambda = 0$ the expected update has $A = \sum \xi\,\pi\,P\,\phi^2\,[\phi\,\Delta\phi > 0]$, a sum of terms that are
# not negative. The package proves it as a claim, for every number of states.

# %%
(result,) = otd.verify(["setd-one-feature-never-unstable"])
assert result.verdict == "proved"
assert {a.name: a.needed for a in result.assumptions} == {
    "one feature": "needed",
    "lambda = 0": "needed",
}
result

# %% [markdown]
# With a trace it is not so: the emphasis of one transition then meets the error of another. The target goes
# 0 to 1 to 2 and stays, the behaviour is anywhere with the same chance, and there is still one feature:

# %%
ring = otd.MDP.from_transitions([(s, f"to {n}", n, 1, 0) for s in (0, 1, 2) for n in (0, 1, 2)])
traced = otd.PolicyEvaluation(
    ring,
    target=otd.Policy.deterministic({0: "to 1", 1: "to 2", 2: "to 2"}),
    behavior=otd.Policy.uniform(ring),
    features=[[10], [11], [20]],
    discount="9/10",
)
A = {lam: otd.mean_dynamics(traced, otd.SETD(lam=lam)).A[0] for lam in ("0", "1/2")}
assert A["0"] > 0
assert A["1/2"] == sp.Rational(-17450, 33)
unstable = otd.mean_dynamics(traced, otd.SETD(lam="1/2"))
assert not unstable.is_stable()
assert otd.check_certificate(unstable.certificate())
print({f"lambda = {lam}": str(a) for lam, a in A.items()})
print(otd.one_line_proof(unstable.certificate()))

# %% [markdown]
# ## Two features: no
#
# Two states are not enough at $\lambda = 0$, whatever the features:

# %%
(two,) = otd.verify(["setd-two-states-never-unstable"])
assert two.verdict == "proved"
print(two.claim.title)

# %% [markdown]
# Three are. Let a search look for a small problem on which SETD is unstable while TD is stable. It walks over small integers,
# decides each candidate exactly, and shrinks what it finds.

# %%
found = otd.find_unstable(otd.SETD(), states=3, features=2, stable=[otd.TD()], seed=0)
problem = found.problem
assert problem is not None
print(found)
fig, ax = plt.subplots(figsize=(8, 5))
ax = mdp_graph(problem, ax)
# %%
problem.Phi

# %%
setd, td = otd.mean_dynamics(problem, otd.SETD()), otd.mean_dynamics(problem, otd.TD())
assert setd.stability.verdict == "unstable"
assert td.stability.verdict == "stable"
setd.A

# %% [markdown]
# ## A proof that fits on a page
#
# The certificate holds $A$ and a rational witness; checking it needs nothing but fractions. Its proof fits in a line. So the sentence of the paper is
# refuted, not merely doubted.

# %%
assert otd.check_certificate(found.certificate)
print(otd.one_line_proof(found.certificate))

# %% [markdown]
# ## Why it fails
#
# SETD weights the error of a transition by $\omega = \max(\Delta\phi^\top\phi / \|\Delta\phi\|^2, 0)$. Each weight is right for its own transition, but
# together they change which states and which transitions count: the learner evaluates a *tilted* chain, and a tilted
# chain need not fit the weights. With two weights the mean dynamics can be drawn:

# %%
fig, axes = plt.subplots(1, 2, figsize=(10, 4.6))
for ax, dyn in zip(axes, (td, setd), strict=True):
    vector_field(
        dyn, ax, starts=[(1, 1), (-1, 0.5)], alpha=0.2, steps=5000, window=((-3, 3), (-3, 3))
    )
    ax.set_title(f"{dyn.learner.name}: {dyn.stability.verdict}")

# %% [markdown]
# On the left the paths go to the fixed point, on the right they leave it. And so do the runs:

# %%
floats = problem.replace(arithmetic="float")
runs = otd.simulate(floats, [otd.TD(0.05), otd.SETD(0.05)], 20_000, 10, theta0=[1, 1], every=20)
fig, ax = plt.subplots(figsize=(6, 4))
ax = learning_curves(runs, ax=ax)
assert runs["SETD"].mean()[-1] > 1e3 * runs["SETD"].mean()[0]
assert runs["TD"].mean()[-1] < runs["TD"].mean()[0]

# %% [markdown]
# ## For which discounts?
#
# The counterexample has discount 9/10. With the discount as a symbol, its region is a set with exact ends.

# %%
free = problem.replace(discount="gamma")
region = otd.stability_region(free, otd.SETD(), "gamma")
assert sp.Rational(9, 10) not in region
assert 0 in region
print(f"stable from 0 up to {float(region.end):.4f}, where")
sp.Eq(region.end.poly.as_expr(sp.Symbol("gamma")), 0)

# %% [markdown]
# ## On-policy as well
#
# One would hope that SETD is at least safe where target and behaviour agree. The claim `setd-on-policy-stable` has a
# counterexample, which you can run again:

# %%
(result,) = otd.verify(["setd-on-policy-stable"])
assert result.verdict == "refuted"
print(
    otd.one_line_proof(
        otd.mean_dynamics(result.outcome.counterexample.problem(), otd.SETD()).certificate()
    )
)
result

# %% [markdown]
# ## Exercises
#
# 1. Give the counterexample one indicator a state in place of its two features. Is SETD stable there?
# 2. Is ETD, *emphatic* TD, stable on the counterexample? It is known to be wherever the behaviour takes each action that the target takes.
# 3. Let the search find a problem with three states and two features on which SETD is unstable *on-policy*.
#
# ## Solutions
#
# *1.* On this one it is:

# %%
tabular = otd.mean_dynamics(problem.replace(features=None), otd.SETD())
assert tabular.is_stable()
print(tabular.stability.verdict)

# %% [markdown]
# *2.* It is, as it has to be, and a certificate says so:

# %%
emphatic = otd.mean_dynamics(problem, otd.ETD())
assert emphatic.is_stable()
assert otd.check_certificate(emphatic.certificate())
print(otd.one_line_proof(emphatic.certificate()))

# %% [markdown]
# *3.* `on_policy=True` has the search take one policy for both:

# %%
again = otd.find_unstable(otd.SETD(), states=3, features=2, on_policy=True, seed=0)
assert again.problem is not None
assert again.problem.on_policy
print(otd.one_line_proof(again.certificate))
