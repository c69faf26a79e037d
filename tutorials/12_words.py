# %% [markdown]
# # Closed forms from their definition, and a proof that Coq checks
#
# A method of policy evaluation looks for a value function $v = \Phi\theta$ that solves
# $v = \Pi_\Phi^X T v$, where $\Pi_\Phi^X = \Phi (X^\top \Phi)^{-1} X^\top$ projects onto the features
# along a matrix $X$, and $T v = r + v - L v$. The matrix $X$ *is* the method. Here we put in three of them, and
# let `otd.words` derive what each converges to: for any number of states and features.

# %%
import obliquetd as otd
from obliquetd.words import L, Phi, V, X, Xi, evaluate, inverse, letter, prove, r, simplify, solve

# %% [markdown]
# ## Words
#
# A letter stands for a matrix whose size has a name. Products that do not fit are refused.

# %%
Pi = Phi @ inverse(X.T @ Phi) @ X.T
print(Pi, Pi.shape)
try:
    Phi @ Xi
except otd.ObliqueTDError as error:
    print(error)

# %% [markdown]
# Rewriting proves an equation for every size, and keeps its steps. Where it fails, nothing is proved.

# %%
idempotent = prove(Pi @ Pi, Pi)
idempotent.trace

# %%
print(prove(Pi.T, Pi))
print(simplify(inverse(L) @ (L @ V - L @ r)))

# %% [markdown]
# ## TD
#
# TD weighs each state by $\Xi$ and projects along $X = \Xi\Phi$.

# %%
td = solve(Xi @ Phi)
print(td.latex())
print(td.proof.latex())

# %% [markdown]
# The formula is evaluated on a problem as it stands, and agrees with the one that the package computes by itself.

# %%
problem = otd.domains.two_state(reward=1)
td.evaluate(problem)

# %%
assert td.evaluate(problem) == problem.fixed_point("td").theta

# %% [markdown]
# ## Residual gradient
#
# It minimises $\lVert r - L\Phi\theta\rVert_\Xi^2$. We do not have to know its $X$: the gradient vanishes where
# $(L\Phi)^\top\Xi(r - L\Phi\theta) = 0$, which is $X^\top(Tv - v) = 0$ for $X = \Xi L\Phi$.

# %%
rg = solve(Xi @ L @ Phi)
print(rg.latex())
gradient = (L @ Phi).T @ Xi @ (r - L @ Phi @ rg.theta)
prove(gradient, 0 * gradient).trace

# %%
assert rg.evaluate(problem) == problem.fixed_point("rg").theta

# %% [markdown]
# ## A method of our own
#
# Halfway between the two: $X = \Xi(\Phi + L\Phi)$. A sum goes by a letter of its own, and what is proved with that letter holds for
# any $X$.

# %%
between = solve(Xi @ (Phi + L @ Phi))
print(between.latex())
between.evaluate(problem)

# %% [markdown]
# Its solution is the only one: for any $\theta$, $A^{-1}X^\top(v - Tv) = \theta - \hat\theta$.

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

# %% [markdown]
# With the discount a symbol the same words give the exact weights as functions of it, here for the three methods. TD's pole is where
# its $A$ vanishes.

# %%
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

gamma = sp.Symbol("gamma")
free = otd.domains.two_state(reward=1, discount=gamma)
discounts = np.arange(397) / 400
fig, ax = plt.subplots(figsize=(6, 3))
for name, method in {"TD": td, "residual gradient": rg, "between": between, "best": best}.items():
    weight = sp.lambdify(gamma, method.evaluate(free)[0])
    with np.errstate(divide="ignore"):
        values = weight(discounts) + 0 * discounts
    ax.plot(discounts, np.where(abs(values) < 40, values, np.nan), label=name)
ax.set_xlabel(r"discount $\gamma$")
ax.set_ylabel(r"weight $\hat\theta$")
ax.legend()
plt.show()

# %% [markdown]
# ## For a reader who trusts no Python
#
# The same proof as a file for Coq with mathcomp: matrices of any size over any field, the assumptions as hypotheses,
# the statement as we wrote it, and a line for each step. Coq multiplies out itself, so neither our
# products nor our steps are trusted.

# %%
text = td.coq()
print(text[text.index("Module Proof_1") : text.index("End Proof_1")])

# %% [markdown]
# With Coq on your machine, `obliquetd.kernel.check_text(text)` has it check the file, and `obliquetd prove` does the same for
# the paper's claims. A letter may have properties, and further equations may be assumed:

# %%
P = letter("P_pi", "n n", stochastic=True)
ones = otd.words.ones("n")
assert prove(P @ P @ ones, ones).proved
S = letter("S", "n n", symmetric=True)
prove(X, S @ X, [(X.T @ S, X.T)]).trace
