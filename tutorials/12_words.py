# %% [markdown]
# # Closed forms from their definition, and a proof that Coq checks
#
# A method of policy evaluation looks for a value function $v = \Phi\theta$ that solves
# $v = \Pi_\Phi^X T v$. Here $\Pi_\Phi^X = \Phi (X^\top \Phi)^{-1} X^\top$ is the oblique projection of tutorial 01, and
# $T v = r + \gamma P v$ is what the rewards $r$ and the values of the next states suggest. With $L = I - \gamma P$ it is
# $T v = r + v - L v$, and the true values $V$ solve $L V = r$. The matrix $X$ *is* the method. Here we put in four
# matrices, and let `otd.words` derive the fixed point of each: for any number of states and features.
#
# *Read [01](01_oblique_projection.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`. Coq is not needed.*

# %%
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd.words import L, Phi, V, X, Xi, evaluate, inverse, letter, prove, r, simplify, solve

# %% [markdown]
# ## Words
#
# A letter stands for a matrix of which only the shape is known. `Phi`, for instance, is n by d: a row for each of n states, a column
# for each of d features. A *word* is a sum of products of letters. A product of shapes that do not fit is refused.

# %%
Pi = Phi @ inverse(X.T @ Phi) @ X.T
print(Pi, Pi.shape)
try:
    Phi @ Xi
except otd.ObliqueTDError as error:
    print(error)

# %% [markdown]
# `prove` expands the difference of two words and cancels what inverts itself, until nothing is left. This proves the equation for every size,
# and the steps are kept. Here: to project twice is to project once.

# %%
idempotent = prove(Pi @ Pi, Pi)
assert idempotent.proved
idempotent.trace

# %% [markdown]
# Where it fails, nothing is proved, and nothing is refuted either. An oblique projection, for example, need not be symmetric. `simplify` shows
# what a word comes to:

# %%
print(prove(Pi.T, Pi))
print(simplify(inverse(L) @ (L @ V - L @ r)))

# %% [markdown]
# ## TD
#
# TD weighs each state by $\Xi$ and has $X = \Xi\Phi$. `solve` finds the fixed point for every size, and proves that it solves the equation:

# %%
td = solve(Xi @ Phi)
print(td.latex())
print(td.proof.latex())

# %% [markdown]
# The formula is evaluated on a problem as it stands, and agrees with the one that the package computes by itself.

# %%
problem = otd.domains.two_state(reward=1)
assert td.evaluate(problem) == problem.fixed_point("td").theta
td.evaluate(problem)

# %% [markdown]
# ## Residual gradient
#
# This method minimises $\lVert r - L\Phi\theta\rVert_\Xi^2$, the squared Bellman error. We do not have to know its $X$: the gradient vanishes where
# $(L\Phi)^\top\Xi(r - L\Phi\theta) = 0$, which is $X^\top(Tv - v) = 0$ for $X = \Xi L\Phi$.

# %%
rg = solve(Xi @ L @ Phi)
print(rg.latex())
gradient = (L @ Phi).T @ Xi @ (r - L @ Phi @ rg.theta)
assert rg.evaluate(problem) == problem.fixed_point("rg").theta
prove(gradient, 0 * gradient).trace

# %% [markdown]
# ## A method of our own
#
# Halfway between the two lies $X = \Xi(\Phi + L\Phi)$. In the formula this sum is called $X$ again, and the proof uses nothing of it but the
# letter. So it holds for every $X$.

# %%
between = solve(Xi @ (Phi + L @ Phi))
print(between.latex())
between.evaluate(problem)

# %% [markdown]
# There is no other solution. For any $\theta$ and $v = \Phi\theta$, $A^{-1}X^\top(v - Tv) = \theta - \hat\theta$; where $v$ solves the equation, the left side is 0:

# %%
print(between.unique.left.latex(), "=", between.unique.right.latex())
assert between.unique.proved

# %% [markdown]
# The best approximation is one of the family too, with $X^* = L^{-\top}\Xi\Phi$; its value function is $\Pi V$.

# %%
best = solve(inverse(L).T @ Xi @ Phi)
print(best.latex())
nearest = Phi @ inverse(Phi.T @ Xi @ Phi) @ Phi.T @ Xi @ V
assert prove(best.v, nearest, [(r, L @ V)]).proved
assert evaluate(nearest, problem) == evaluate(best.v, problem)
print("the best approximation here:", list(evaluate(nearest, problem)))

# %% [markdown]
# With the discount a symbol the same words give the exact weights as functions of it. At 5/6, where $A$ of TD is 0, TD's weight has a pole.

# %%
gamma = sp.Symbol("gamma")
free = otd.domains.two_state(reward=1, discount=gamma)
discounts = np.arange(397) / 400
fig, ax = plt.subplots(figsize=(6, 3))
pole = sp.denom(sp.together(td.evaluate(free)[0]))
assert sp.solve(pole, gamma) == [sp.Rational(5, 6)]
for name, method in {"TD": td, "residual gradient": rg, "between": between, "best": best}.items():
    weight = sp.lambdify(gamma, method.evaluate(free)[0])
    with np.errstate(divide="ignore"):
        values = weight(discounts) + 0 * discounts
    ax.plot(discounts, np.where(abs(values) < 40, values, np.nan), label=name)
ax.set_xlabel(r"discount $\gamma$")
ax.set_ylabel(r"weight $\hat\theta$")
ax.legend(frameon=False, fontsize="small")
fig.tight_layout()

# %% [markdown]
# ## For a reader who trusts no Python
#
# Coq is a program that checks proofs, and mathcomp its library of algebra. `coq()` writes the same proof as a file for them: matrices of any size
# over any field, the assumptions as hypotheses, the statement as we wrote it, and a line for each step. Coq multiplies out
# itself, so neither our products nor our steps have to be trusted.

# %%
text = td.coq()
print(text[text.index("Module Proof_1") : text.index("End Proof_1")])

# %% [markdown]
# Where Coq is installed, `obliquetd.kernel.check_text(text)` has it check the file, and `obliquetd prove` does the same for
# the paper's claims. A letter may have properties, such as rows that sum to one, and further equations may be assumed:

# %%
P = letter("P_pi", "n n", stochastic=True)
ones = otd.words.ones("n")
assert prove(P @ P @ ones, ones).proved
print("P P 1 = 1 is proved:", prove(P @ P @ ones, ones).proved)
S = letter("S", "n n", symmetric=True)
prove(X, S @ X, [(X.T @ S, X.T)]).trace

# %% [markdown]
# ## Exercises
#
# 1. The features are mixed: $\Phi M$ takes the place of $\Phi$, with an invertible $M$. Prove that the projection of TD stays the same.
# 2. Is $I - \Pi_\Phi^X$ a projection, too? What does it leave of the features?
#
# ## Solutions
#
# *1.* $M$ is a letter with an inverse, and the inverse of the product is taken apart:

# %%
M = letter("M", "d d", invertible=True)
TD = Phi @ inverse(Phi.T @ Xi @ Phi) @ Phi.T @ Xi
inside = inverse(M) @ inverse(Phi.T @ Xi @ Phi) @ inverse(M).T
mixed = Phi @ M @ inside @ (Phi @ M).T @ Xi
assert prove(inside @ (M.T @ Phi.T @ Xi @ Phi @ M), otd.words.identity()).proved
same = prove(mixed, TD)
assert same.proved
same.trace

# %% [markdown]
# *2.* It is one, and of the features it leaves nothing:

# %%
rest = otd.words.identity() - Pi
assert prove(rest @ rest, rest).proved
print("of Phi it leaves", simplify(rest @ Phi))
