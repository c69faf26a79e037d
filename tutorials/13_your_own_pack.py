# %% [markdown]
# # A pack of claims for a paper of your own
#
# A paper makes statements. A *pack* holds them beside the works that they come from, decides each, and writes one page that a referee
# can read: `obliquetd verify --pack my_pack.py --html page.html`. The package ships two, the paper by Lyu et al. (2018) and the
# *folklore* of the field; here we make a third, for a short note of our own.
#
# The note mixes two updates. TD is fast and may diverge; the residual gradient is slow and never does. Baird (1995) takes a share $w$ of
# the second:
# $$A_w = (1 - w)\,\Phi^\top\Xi L\Phi + w\,(L\Phi)^\top\Xi L\Phi .$$
#
# *Read [08](08_your_own_claim.ipynb) before this one, which makes single claims. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*

# %%
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

from obliquetd.claims import (
    Assumption,
    Counterexample,
    Outcome,
    Pack,
    Reference,
    Setting,
    Verdict,
    decide_identity,
    letters,
    refuted,
    tally,
    verify,
)
from obliquetd.domains import random_problem, two_state
from obliquetd.report import claims_page

# %% [markdown]
# ## The pack
#
# It has a name, a title, a bibliography and the sections of its page. A claim cites works by their keys, and a key that is not in the
# bibliography is refused.

# %%
PACK = Pack(
    "mixture",
    "Mixing TD and the residual gradient",
    "of the note",
    (
        Reference(
            "Baird 1995", "L. Baird", 1995,
            "Residual algorithms: reinforcement learning with function approximation",
            "International Conference on Machine Learning",
        ),
        Reference("The note", "the reader", 2026, "Mixing TD and the residual gradient", "Unpublished"),
    ),
    {"forms": "What the mixture is", "stability": "When it is stable"},
)  # fmt: skip
print(PACK)

# %% [markdown]
# ## A statement for every size
#
# *With the share 1, $A$ is $(L\Phi)^\top\Xi(L\Phi)$.* The mixture has $X = \Xi\,((1 - w)\Phi + wL\Phi)$ and $A = X^\top L\Phi$; matrix words decide it
# for any number of states and features, and exact problems guard against a slip.

# %%
Phi, Xi, L = letters.Phi, letters.Xi, letters.L


@PACK.claim(
    "share-one",
    cites=("Baird 1995",),
    topic="forms",
    title="With the share 1 the mixture has A = (L Phi)'Xi (L Phi)",
    statement=r"A_1 = (L\Phi)^\top\Xi(L\Phi)",
    informal="it is one line",
)
def share_one(X=Xi @ L @ Phi):
    return decide_identity([("A of share 1", X.T @ L @ Phi, (L @ Phi).T @ Xi @ L @ Phi)])


# %% [markdown]
# A check that cannot fail proves nothing, so the statement is an argument: another $X$ must fare otherwise.

# %%
assert share_one.check().verdict is Verdict.PROVED
assert share_one.check(X=Xi @ Phi).verdict is not Verdict.PROVED
print("share 1:", share_one.check().verdict, "- with TD's X:", share_one.check(X=Xi @ Phi).verdict)

# %% [markdown]
# ## A statement with assumptions
#
# *With one feature it is stable exactly for $w > -a/(c - a)$, where TD's $a$ is negative.* Here $a$ is TD's number and $c$ the residual
# gradient's, so that $A_w = a + w(c - a)$ is a line in $w$. That is a proof, in a sentence; the check tests it on random problems.
#
# What it assumes stands beside it: each assumption has a name and a test. `verify` drops each in turn and looks for a problem that meets
# all others and on which the statement fails.


# %%
def numbers(problem):
    """TD's matrix and the residual gradient's."""
    M, xi = problem.L_pi * problem.Phi, sp.diag(*problem.xi)
    return problem.Phi.T * xi * M, M.T * xi * M


def mixed(problem, w):
    td, residual = numbers(problem)
    return (1 - w) * td + w * residual


ONE_FEATURE = Assumption("one feature", "d = 1", lambda p, _: p.Phi.shape[1] == 1)
DIVERGES = Assumption(
    "TD diverges", "a < 0", lambda p, _: p.Phi.shape[1] > 1 or numbers(p)[0][0] < 0
)


def share_of(problem):
    """The least share that stabilises, with one feature."""
    (a,), (c,) = numbers(problem)
    return -a / (c - a)


def not_at_the_share(problem, learner=None):
    """The conclusion fails: not 0 at the share, or not a number at all."""
    if problem.Phi.shape[1] > 1:
        return {"features": problem.Phi.shape[1]}
    share = share_of(problem)
    value = mixed(problem, share)[0]
    return None if value == 0 and 0 < share < 1 else {"share": share, "A there": value}


@PACK.claim(
    "least-share",
    cites=("The note",),
    where="Theorem 1",
    topic="stability",
    title="With one feature the mixture is stable exactly for w > -a/(c - a)",
    statement=r"a < 0 \implies A_w > 0 \iff w > \frac{-a}{c - a}",
    setting=Setting((ONE_FEATURE, DIVERGES), fails=not_at_the_share),
    informal="A is a line in w; the check tests it on exact problems",
)
def least_share():
    problems = [two_state(), *(random_problem(3, 1, seed=s) for s in range(300))]
    chosen = [p for p in problems if DIVERGES.holds(p)][:40]
    found = Counterexample.find(chosen, not_at_the_share)
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "A = a + w (c - a) is a line in w that rises, from a < 0 at 0 to c > 0 at 1. Also exact on "
        f"{len(chosen)} problems",
    )


# %%
(result,) = verify(["least-share"], pack=PACK)
assert result.verdict == "proved"
assert {a.name: a.needed for a in result.assumptions}["TD diverges"] == "needed"
result

# %% [markdown]
# ## A statement that looks true
#
# *Half and half is enough.* Hundreds of random problems agree, and we might print it. But "no counterexample among 200" is the verdict
# *verified*, and not *proved*; so we look where TD is at its worst, at discounts near 1.


# %%
def unstable_at(share):
    def violation(problem):
        A = mixed(problem, share)[0]
        return {"share": share, "A": A} if A < 0 else None

    return violation


half = sp.Rational(1, 2)
random_ones = [random_problem(3, 1, seed=s) for s in range(200)]
assert Counterexample.find(random_ones, unstable_at(half)) is None
print("none among", len(random_ones), "random problems")


# %%
@PACK.claim(
    "half-is-enough",
    cites=("The note",),
    where="Section 3",
    topic="stability",
    title="A share of one half stabilises TD on every problem",
    statement=r"A_{1/2} > 0",
    setting=Setting((ONE_FEATURE,)),
)
def half_is_enough(share=half):
    """Two states with the features 1 and b, at discounts that approach 1."""
    near_one = [
        two_state(discount=g).replace(features=[[1], ["3/2"]]) for g in ("9/10", "19/20", "99/100")
    ]
    found = Counterexample.find([*random_ones, *near_one], unstable_at(share))
    if found is None:
        return Outcome(Verdict.VERIFIED, f"on {len(random_ones) + len(near_one)} problems")
    return refuted(found)


(result,) = verify(["half-is-enough"], pack=PACK)
assert result.verdict == "refuted"
assert half_is_enough.check(share=sp.Rational(3, 4)).verdict is Verdict.VERIFIED
example = result.outcome.counterexample.problem()
print("at the discount", example.discount, "the least share is", share_of(example))

# %% [markdown]
# The least share as a function of the discount says why, and what to print instead. For the features 1 and $b$ the curve ends at $1/b$: the
# nearer the two features are to each other, the more of the residual gradient is needed, and no share below 1 does for all problems.

# %%
gamma = sp.Symbol("gamma")
discounts = np.linspace(0.8, 0.9999, 4000)
fig, ax = plt.subplots(figsize=(6.4, 3.8))
for b, color in (("2", "#0072B2"), ("3/2", "#D55E00"), ("6/5", "#009E73"), ("21/20", "#CC79A7")):
    problem = two_state(discount=gamma).replace(features=[[1], [b]])
    share = sp.together(share_of(problem))
    assert sp.limit(share, gamma, 1) == 1 / sp.Rational(b)
    values = sp.lambdify(gamma, share)(discounts)
    ax.plot(
        discounts, np.where(values > 0, values, np.nan), color=color, label=f"features 1 and {b}"
    )
ax.axhline(0.5, color="black", linewidth=1, linestyle="--")
ax.text(0.801, 0.52, "one half", fontsize="small")
ax.plot(
    float(example.discount),
    float(share_of(example)),
    "ko",
    markersize=7,
    label="the counterexample",
)
ax.set(xlabel=r"discount $\gamma$", ylabel="least share that is stable", ylim=(0, 1))
ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(0, 0.95))
fig.tight_layout()

# %% [markdown]
# ## The page
#
# `verify` judges the whole pack, and `claims_page` writes the page: each statement with its verdict, its assumptions, its counterexample
# as a file, and the bibliography.

# %%
results = verify(pack=PACK)
for one in results:
    print(f"{one.verdict:9} {one.claim.where}: {one.claim.title}")
page = claims_page(results, PACK)
assert tally(results)["paper"] == {"proved": 2, "refuted": 1}
assert "Bibliography" in page
print(PACK)

# %% [markdown]
# In a file `my_pack.py` the same lines are a pack for the command line: `obliquetd verify --pack my_pack.py --html page.html` judges it and
# writes the page, `--json` tells other programs, and the exit status is 1 where a check could not be completed. The file has to make one
# `Pack`, under any name. A claim without `cites` is one that you ask yourself, and is counted apart.
#
# ## Exercises
#
# 1. What should the note print in place of *half is enough*? Change the claim, so that it comes out as *corrected*.
# 2. Is a share of 9/10 enough? Ask it, as a claim of your own.
#
# ## Solutions
#
# *1.* A correction is a sentence of the outcome. The counterexample stays, so that a reader can run it again.

# %%
refutation = half_is_enough.check()
corrected = Outcome(
    Verdict.CORRECTED,
    refutation.evidence,
    counterexample=refutation.counterexample,
    correction="with one feature the least share is -a/(c - a), and no share below 1 does for all problems",
)
assert corrected.verdict is Verdict.CORRECTED
print(corrected.correction)

# %% [markdown]
# *2.* It is not: $1/b$ is above 9/10 for $b = 21/20$, and a discount near enough to 1 shows it.


# %%
@PACK.claim(
    "nine-tenths",
    topic="stability",
    title="A share of nine tenths stabilises TD on every problem",
    statement=r"A_{9/10} > 0",
    setting=Setting((ONE_FEATURE,)),
)
def nine_tenths():
    one = two_state(discount="9999/10000").replace(features=[[1], ["21/20"]])
    found = Counterexample.find([one], unstable_at(sp.Rational(9, 10)))
    return refuted(found) if found else Outcome(Verdict.OPEN, "not found")


(result,) = verify(["nine-tenths"], pack=PACK)
assert result.verdict == "refuted"
assert result.origin == "ours"
print(result.evidence)
