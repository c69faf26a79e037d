# %% [markdown]
# # State a claim of your own, and check it
#
# A claim is a sentence with a check that can fail. The paper's claims are objects of this kind; this tutorial makes three of
# your own, one that is proved, one that is verified, and one that is refuted by a counterexample.
#
# Two learners occur: TD, and ETD, *emphatic* TD, which multiplies each step by a number that follows how the target would have come to the state.
#
# *Read [01](01_oblique_projection.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*

# %%
import matplotlib.pyplot as plt
import sympy as sp

from obliquetd.claims import (
    Counterexample,
    Outcome,
    Registry,
    Verdict,
    battery,
    claim,
    decide_identity,
    letter,
    letters,
    matrix_of,
    refuted,
    verify,
)
from obliquetd.domains import random_problem

mine = Registry()

# %% [markdown]
# ## An identity: by rewriting
#
# *The projected value is unchanged when the features are mixed:* with $\Phi M$ in place of $\Phi$, $M$ invertible, the weighted
# normal matrix is $M^\top C M$. Matrix words of letters with shapes are expanded and compared; an identity that comes out is true for every
# size. The same words are evaluated on exact problems as well, so a slip in the letters is seen.

# %%
Phi, Xi = letters.Phi, letters.Xi
M = letter("M", "d d")


@claim(
    "mixed-features",
    where="this tutorial",
    title="Mixing the features mixes C",
    statement=r"(\Phi M)^\top\Xi(\Phi M) = M^\top C M",
    registry=mine,
)
def mixed_features(right=M.T @ (Phi.T @ Xi @ Phi) @ M):
    """The statement is the argument, so that a broken one can be fed in."""

    def give_m(problem, values):  # a value of M for the exact problems
        d = problem.Phi.shape[1]
        values["M"] = matrix_of(problem, [[i + 2 * j + 1 for j in range(d)] for i in range(d)])

    equation = ("mixed C", (Phi @ M).T @ Xi @ (Phi @ M), right)
    return decide_identity([equation], extra=give_m, premise="For any M")


# %%
(result,) = verify(["mixed-features"], registry=mine)
assert result.verdict == "proved"
result

# %% [markdown]
# A check that cannot fail proves nothing. Feed it another statement:

# %%
broken = mixed_features.check(right=(Phi.T @ Xi @ Phi) @ M)
assert broken.verdict is not Verdict.PROVED
print(broken.verdict)

# %% [markdown]
# ## A property: verified on exact problems
#
# *TD's fixed point has no projected Bellman error.* True wherever there is a fixed point; here on a battery of problems, one of
# which has every number a free symbol.


# %%
@claim(
    "td-has-no-rmspbe",
    where="this tutorial",
    title="TD's fixed point has no projected Bellman error",
    statement=r"\hat v = \Pi T\hat v",
    registry=mine,
)
def td_has_no_rmspbe(method="td"):
    def violation(problem):
        error = problem.fixed_point(method).rmspbe
        return None if sp.simplify(error) == 0 else {"RMSPBE": error}

    found = Counterexample.find(battery(), violation)
    if found is not None:
        return refuted(found)
    return Outcome(Verdict.VERIFIED, f"zero on {len(battery())} problems, one of them symbolic")


# %%
assert any(problem.arithmetic == "symbolic" for problem in battery())
(result,) = verify(["td-has-no-rmspbe"], registry=mine)
assert result.verdict == "verified"
assert td_has_no_rmspbe.check(method="etd").verdict is Verdict.REFUTED
print(result.evidence)

# %% [markdown]
# ## A conjecture: refuted
#
# *Off-policy, ETD's fixed point is never worse than TD's.* Plausible, since emphatic weights follow the target. A few random
# rational problems decide.


# %%
def etd_is_worse(problem):
    etd, td = (problem.fixed_point(name).rmse for name in ("etd", "td"))
    return {"ETD": etd, "TD": td} if float(etd) > float(td) + 1e-9 else None


@claim(
    "etd-never-worse",
    where="this tutorial",
    title="ETD's fixed point is never worse than TD's",
    statement=r"\|\hat v_{ETD} - v\|_\Xi \le \|\hat v_{TD} - v\|_\Xi",
    registry=mine,
)
def etd_never_worse(violation=etd_is_worse):
    problems = (random_problem(3, 1, seed=seed) for seed in range(200))
    found = Counterexample.find(problems, violation)
    return refuted(found) if found else Outcome(Verdict.OPEN, "none among 200 random problems")


# %%
(result,) = verify(["etd-never-worse"], registry=mine)
assert result.verdict == "refuted"
example = result.outcome.counterexample
assert example.rerun() == example.observed  # anyone can run it again
print({name: f"{float(value):.4f}" for name, value in example.observed.items()})

# %% [markdown]
# One point above the diagonal is enough. Of the 200 problems that were there to be tried, a good part lies there:

# %%
pairs = []
for seed in range(200):
    one = random_problem(3, 1, seed=seed)
    pairs.append([float(one.fixed_point(name).rmse) for name in ("td", "etd")])
worse = [pair for pair in pairs if pair[1] > pair[0] + 1e-9]
better = [pair for pair in pairs if pair not in worse]
fig, ax = plt.subplots(figsize=(5.2, 5))
ax.plot(
    *zip(*better, strict=True),
    "o",
    color="#0072B2",
    markersize=4,
    label=f"{len(better)} on which the claim is true",
)
ax.plot(
    *zip(*worse, strict=True),
    "^",
    color="#D55E00",
    markersize=5,
    label=f"{len(worse)} that refute it",
)
found = [float(example.observed[name]) for name in ("TD", "ETD")]
ax.plot(
    *found,
    "o",
    markersize=14,
    markerfacecolor="none",
    markeredgecolor="black",
    label="the counterexample",
)
ax.axline((1, 1), slope=1, color="black", linewidth=1)
ax.set(xscale="log", yscale="log", xlabel="TD's error", ylabel="ETD's error")
ax.legend(frameon=False, fontsize="small")
fig.tight_layout()
assert len(worse) > 10

# %% [markdown]
# The counterexample is a model with exact numbers: it can be saved, drawn, reported on, and sent.

# %%
example.problem().Phi

# %% [markdown]
# ## Exercises
#
# 1. Make the claim that mixing the features changes no fixed point: with $\Phi M$ in place of $\Phi$, TD's values are the same. Verify it on the battery.
# 2. Does the conjecture of this tutorial hold where both policies are the same?
#
# ## Solutions
#
# *1.* A violation is a problem on which the values differ. One with two features is mixed; with one it is scaled.


# %%
def mixing_changes_values(problem):
    d = problem.Phi.shape[1]
    mixer = sp.Matrix(d, d, lambda i, j: 2 if i == j else 1)
    mixed = problem.replace(features=problem.Phi * mixer)
    gap = problem.fixed_point("td").v_hat - mixed.fixed_point("td").v_hat
    return None if sp.simplify(gap).is_zero_matrix else {"gap": gap}


assert Counterexample.find(battery(), mixing_changes_values) is None
print("no violation on", len(battery()), "problems")

# %% [markdown]
# *2.* Yes, because ETD is TD there. Where $\xi$ is stationary under the target, $f = (I - \gamma P_\pi^\top)^{-1}\xi = \xi/(1 - \gamma)$, so the two have the same
# direction and the same fixed point. The search finds nothing, as it must:

# %%
seeds = range(50)
same = [random_problem(3, 1, seed=seed) for seed in seeds]
same = [one.replace(behavior=one.target) for one in same]
assert all(one.f == one.xi / (1 - one.discount) for one in same)
assert Counterexample.find(same, etd_is_worse) is None
print(f"none among {len(same)} problems, and f = xi / (1 - gamma) on each")
