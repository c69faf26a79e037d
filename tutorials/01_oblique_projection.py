# %% [markdown]
# # What is an oblique projection?
#
# Temporal-difference learning approximates a value function $v$ by $\hat v = \Phi\theta$, a point of the
# span of the features. Which point? Every method of this family answers with a *projection* of $v$ onto
# that span, and the methods differ only in the direction from which they project. Two states are
# enough to see it: a value function is then a point of the plane, and one feature spans a line.
#
# *This is the first tutorial; 02 goes on from it. After these two, 03 and 05 are on stability, 04 and 11 on speed and noise, 09 on features,
# 07 and 10 on models and learners of your own, 06 on the paper's experiments, and 08 on claims. To run it yourself: in a clone,
# `pip install -e '.[tutorials]'`.*

# %%
import matplotlib.pyplot as plt
import sympy as sp

import obliquetd as otd
from obliquetd.plotting import mdp_graph, projections

problem = otd.domains.two_state(discount="1/2", reward=1)
fig, ax = plt.subplots(figsize=(7, 3.5))
ax = mdp_graph(problem, ax)
# %% [markdown]
# Two states, two actions that lead to the state of their name. The target policy $\pi$ always goes right,
# which pays 1; the behaviour $\mu$ tosses a coin. With discount 1/2 both states are worth
# $1 + \tfrac12 + \tfrac14 + \dots = 2$. The feature is 1 in the left state and 2 in the right one.

# %%
assert list(problem.v_pi) == [2, 2]
assert list(problem.Phi) == [1, 2]
problem.Phi

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
same = otd.oblique_projection(problem.Phi, 17 * X) == P
assert same
print("17 X gives the same projection:", same)

# %% [markdown]
# ## The orthogonal projection, and the others
#
# With $X = \Xi\Phi$, where $\Xi$ holds the state weights $\xi$, the projection is the orthogonal one in the
# $\Xi$-norm: the best that the features can do. What it leaves out is orthogonal to the features:

# %%
best = otd.oblique_projection(problem.Phi, problem.Xi * problem.Phi) * problem.v_pi
assert problem.Phi.T * problem.Xi * (problem.v_pi - best) == sp.zeros(1, 1)
assert best == problem.best
print(f"the best approximation of {list(problem.v_pi)} is {list(best)}")

# %% [markdown]
# The methods of this tutorial are TD; *emphatic* TD (ETD), which multiplies each step by a number that follows how the target would have come to the
# state; and the residual gradient method, which goes down the slope of the squared TD error. All of them take a value function $\hat v$ such that
#
# $$\hat v = \Pi_\Phi^X\, T\hat v, \qquad T v = r_\pi + \gamma P_\pi v .$$
#
# TD has $X = \Xi\Phi$ as well. So TD projects orthogonally, but it projects $T\hat v$ and not $v$. Solving for $\hat v$
# shows the direction from which it sees $v$ itself: it is $\Pi_\Phi^{L^\top X} v$ with $L = I - \gamma P_\pi$.

# %%
td = problem.fixed_point("td")
assert problem.Xi * problem.Phi == td.X
along = problem.L_pi.T * td.X
assert td.v_hat == otd.oblique_projection(problem.Phi, along) * problem.v_pi
assert td.v_hat == td.projection * (problem.r_pi + sp.Rational(1, 2) * problem.P_pi * td.v_hat)
print(f"TD says {list(td.v_hat)}; the best approximation is {list(problem.best)}")

# %% [markdown]
# ## The picture
#
# Axes are scaled by $\sqrt{\xi(s)}$, so that the $\Xi$-norm is the length you see and the orthogonal projection (black) is
# perpendicular. From the star, each line runs to the point a method calls $\hat v$: that is its oblique
# projection. A cross is $T\hat v$, and the dotted line from it is the projection by $X$.

# %%
fig, ax = plt.subplots(figsize=(6.5, 6))
ax = projections(problem, ["best", "td", "etd", "rg"], ax)
# %% [markdown]
# Along the line, the residual gradient method (`rg`) ends below the foot of the perpendicular, TD above it, and
# emphatic TD (`etd`) nearest to it.

# %%
theta = {name: problem.fixed_point(name).theta[0] for name in ("rg", "etd", "best", "td")}
assert theta["rg"] < theta["etd"] < theta["best"] < theta["td"]
assert min(("rg", "etd", "td"), key=lambda name: abs(theta[name] - theta["best"])) == "etd"
print({name: str(value) for name, value in theta.items()})

# %% [markdown]
# The matrix for which the fixed point is the best approximation is $X^* = L^{-\top}\Xi\Phi$. How far a method is from it
# can be told as the angle between $\mathrm{span}(X)$ and $\mathrm{span}(X^*)$, which here ranks the methods as their errors do:

# %%
print(otd.compare(problem, ["best", "etd", "td", "rg"], quantities=["angle", "rmse"]))

# %%
best = problem.fixed_point(X=problem.X_star)
assert best.v_hat == problem.best
errors = {name: problem.fixed_point(name).rmse for name in ("best", "etd", "td", "rg")}
angles = {name: problem.fixed_point(name).angle for name in errors}
assert sorted(errors, key=lambda n: float(errors[n])) == sorted(
    angles, key=lambda n: float(angles[n])
)
assert errors["best"] < errors["etd"] < min(errors["td"], errors["rg"])
print("by angle and by error alike:", " < ".join(sorted(errors, key=lambda n: float(errors[n]))))

# %% [markdown]
# It need not. The span of $X$ decides the fixed point, and its angle to $X^*$ is one number of it: with three states a
# span may turn by a little in a bad direction, or by more in a harmless one. Here the smaller angle has the larger error:

# %%
other = otd.domains.random_problem(3, 1, seed=16)
print(otd.compare(other, ["best", "etd", "td"], quantities=["angle", "rmse"]))
etd, td = other.fixed_point("etd"), other.fixed_point("td")
assert float(etd.angle) < float(td.angle)
assert float(etd.rmse) > float(td.rmse)

# %% [markdown]
# ## How bad can a direction be?
#
# By Pythagoras no projection beats the orthogonal one. And a direction nearly parallel to the line sends
# the point far away: towards discount 5/6 the error of TD grows without bound, and there its direction *is*
# parallel ($(L^\top X)^\top\Phi = 0$), so that there is no fixed point at all.

# %%
for discount in ("1/2", "4/5", "83/100"):
    point = otd.domains.two_state(discount, reward=1).fixed_point("td")
    print(f"discount {discount:>6}: theta = {point.theta[0]}, error {float(point.rmse):.3g}")

errors = [
    otd.domains.two_state(g, reward=1).fixed_point("td").rmse for g in ("1/2", "4/5", "83/100")
]
assert float(errors[0]) < float(errors[1]) < float(errors[2])
edge = otd.domains.two_state("5/6", reward=1)
assert (edge.L_pi.T * edge.Xi * edge.Phi).T * edge.Phi == sp.zeros(1, 1)
try:
    edge.fixed_point("td")
except otd.ObliqueTDError as error:
    print("discount    5/6:", error)
    missing = True
assert missing

# %% [markdown]
# The same on one page: move the slider, and watch TD's line turn until it is parallel at 5/6; the point flies off, and
# comes back from the other side. Every number beside the picture is exact. `obliquetd explore model.json` writes such
# a page for any small model, to be opened in a lecture.

# %%
page = otd.explore(problem, learners=[otd.TD(), otd.ETD()], title="Two states, one feature")
assert page.regions["TD"].told == "[0, 5/6)"
page

# %% [markdown]
# **What to take along.** A method is a span of $X$, and the span decides its fixed point; with the span of $X^*$ it is
# the best approximation. The angle to that span ranks methods in some problems and not in others, and the error itself
# is what to compare. The next tutorial does so for the paper's own example.
#
# ## Exercises
#
# 1. Which multiple of the feature vector does TD find at discount 0, and why is it the best approximation there?
# 2. For which $X$ is the projection of every $v$ read off the right state alone, so that $\hat v$ is right there?
# 3. Below which discount is TD's error smaller than twice the best one?
#
# ## Solutions
#
# *1.* At discount 0 the values are the expected rewards, $L = I$, and so TD's direction $L^\top\Xi\Phi$ is $\Xi\Phi$: the orthogonal one.

# %%
now = otd.domains.two_state(0, reward=1)
assert now.fixed_point("td").v_hat == now.best
print(f"values {list(now.v_pi)}, TD and the best: {list(now.best)}")

# %% [markdown]
# *2.* For $X = (0, 1)^\top$: what is removed is orthogonal to $X$, so it has no part in the right state.

# %%
right = otd.oblique_projection(problem.Phi, [0, 1])
v = sp.Matrix(sp.symbols("v_left v_right"))
assert (right * v)[1] == v[1]
print("v_hat =", list(right * v))

# %% [markdown]
# *3.* With the discount as a symbol both errors are formulas; their squares are compared.

# %%
free = otd.domains.two_state("gamma", reward=1)
gap = sp.factor(free.fixed_point("td").rmse ** 2 - 4 * free.fixed_point("best").rmse ** 2)
end = min(root for root in sp.solve(gap, sp.Symbol("gamma")) if 0 < root < 1)
for discount in ("64/100", "65/100"):
    at = otd.domains.two_state(discount, reward=1)
    smaller = float(at.fixed_point("td").rmse) < 2 * float(at.fixed_point("best").rmse)
    assert smaller == (sp.Rational(discount) < end)
print(f"up to discount {end}, which is {float(end):.4f}")
