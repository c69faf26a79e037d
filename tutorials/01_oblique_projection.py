# %% [markdown]
# # What is an oblique projection?
#
# Temporal-difference learning approximates a value function $v$ by $\hat v = \Phi\theta$, a point of the
# span of the features. Which point? Every method of this family answers with a *projection* of $v$ onto
# that span, and the methods differ only in the direction from which they project. Two states are
# enough to see it: a value function is then a point of the plane, and one feature spans a line.

# %%
import matplotlib.pyplot as plt
import sympy as sp

import obliquetd as otd
from obliquetd.plotting import mdp_graph, projections

problem = otd.domains.two_state(discount="1/2", reward=1)
fig, ax = plt.subplots(figsize=(7, 3.5))
mdp_graph(problem, ax)
# %% [markdown]
# Two states, two actions that lead to the state of their name. The target policy $\pi$ always goes right,
# which pays 1; the behaviour $\mu$ tosses a coin. With discount 1/2 both states are worth
# $1 + \tfrac12 + \tfrac14 + \dots = 2$. The feature is 1 in the left state and 2 in the right one.

# %%
assert list(problem.v_pi) == [2, 2]
assert list(problem.Phi) == [1, 2]
problem

# %% [markdown]
# ## One formula for all of them
#
# For a matrix $X$ of the shape of $\Phi$,
#
# $$\Pi_\Phi^X = \Phi\,(X^\top\Phi)^{-1}X^\top$$
#
# is the oblique projection onto $\mathrm{span}(\Phi)$ along the orthogonal complement of $\mathrm{span}(X)$. Three facts
# define it, and each can be checked with exact fractions.

# %%
X = sp.Matrix([3, 1])
P = otd.oblique_projection(problem.Phi, X)
assert P * P == P  # projecting twice changes nothing
assert P * problem.Phi == problem.Phi  # the span of Phi stays where it is
assert X.T * P == X.T  # what is removed is orthogonal to X
P

# %% [markdown]
# Only the *span* of $X$ matters, not its length:

# %%
assert otd.oblique_projection(problem.Phi, 17 * X) == P

# %% [markdown]
# ## The orthogonal projection, and the others
#
# With $X = \Xi\Phi$, where $\Xi$ holds the state weights $\xi$, the projection is the orthogonal one in the
# $\Xi$-norm: the best that the features can do. The methods of the paper take a value function $\hat v$ such that
#
# $$\hat v = \Pi_\Phi^X\, T\hat v, \qquad T v = r_\pi + \gamma P_\pi v .$$
#
# TD has $X = \Xi\Phi$ as well. So TD projects orthogonally, but it projects $T\hat v$ and not $v$. Solving for $\hat v$
# shows the direction from which it sees $v$ itself: it is $\Pi_\Phi^{L^\top X} v$ with $L = I - \gamma P_\pi$.

# %%
td = problem.fixed_point("td")
along = problem.L_pi.T * td.X
assert td.v_hat == otd.oblique_projection(problem.Phi, along) * problem.v_pi
assert td.v_hat == td.projection * (problem.r_pi + sp.Rational(1, 2) * problem.P_pi * td.v_hat)
td.v_hat.T, problem.best.T

# %% [markdown]
# ## The picture
#
# Axes are scaled by $\sqrt{\xi(s)}$, so that the $\Xi$-norm is the length you see and the orthogonal projection (black) is
# perpendicular. From the star, each line runs to the point a method calls $\hat v$: that is its oblique
# projection. A cross is $T\hat v$, and the dotted line from it is the projection by $X$.

# %%
fig, ax = plt.subplots(figsize=(6.5, 6))
projections(problem, ["best", "td", "etd", "rg"], ax)
# %% [markdown]
# The residual gradient method (`rg`) sees $v$ from far to the left, TD from the right, and emphatic TD (`etd`) from
# nearly the perpendicular. How near is the angle between $\mathrm{span}(X)$ and $\mathrm{span}(X^*)$, where
# $X^* = L^{-\top}\Xi\Phi$ is the matrix for which the fixed point is the best approximation:

# %%
print(otd.compare(problem, ["best", "etd", "td", "rg"], quantities=["angle", "rmse"]))

# %%
best = problem.fixed_point(X=problem.X_star)
assert best.v_hat == problem.best
errors = {name: problem.fixed_point(name).rmse for name in ("best", "etd", "td", "rg")}
assert errors["best"] < errors["etd"] < min(errors["td"], errors["rg"])

# %% [markdown]
# ## How bad can a direction be?
#
# By Pythagoras no projection beats the orthogonal one. And a direction nearly parallel to the line sends
# the point far away: with discount 5/6 the direction of TD *is* parallel, and there is no fixed point at all.

# %%
for discount in ("1/2", "4/5", "83/100"):
    point = otd.domains.two_state(discount, reward=1).fixed_point("td")
    print(f"discount {discount:>6}: theta = {point.theta[0]}, error {float(point.rmse):.3g}")

try:
    otd.domains.two_state("5/6", reward=1).fixed_point("td")
except otd.ObliqueTDError as error:
    print("discount    5/6:", error)
    missing = True
assert missing

# %% [markdown]
# **What to take along.** A method is a span of $X$. The nearer it is to the span of $X^*$, the better its
# fixed point. The next tutorial measures this for the paper's own example.
