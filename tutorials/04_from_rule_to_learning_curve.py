# %% [markdown]
# # From an update rule to its exact learning curve
#
# A learning curve is usually an average over runs, with noise. For a learner without a trace and with a constant step
# size there is no need for that: the mean and the second moment of its weights obey linear equations that can be
# iterated, exactly. This tutorial goes from the rule to the line without noise.

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
# transition by transition, to obtain $\mathbb E[\theta_{t+1} - \theta_t] = \alpha(b - A\theta_t)$. Nothing is derived by hand, so nothing can be derived
# wrongly.

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
#
# ## Beside a simulation
#
# 200 simulated runs, and the root of the exact expected square error (dashed):

# %%
steps = 150
floats = otd.domains.two_state(discount=0.9, reward=1)
chosen = {"SETD": otd.SETD(0.02), "GTD2": otd.GTD2(0.1, 1)}
runs = otd.simulate(floats, chosen, steps, runs=200, seed=1)
moments = {name: otd.exact_moments(floats, L, steps) for name, L in chosen.items()}
lines = {name: np.sqrt(m.expected_mse) for name, m in moments.items()}
fig, ax = plt.subplots(figsize=(6.5, 4.2))
learning_curves(runs, ax=ax, exact=lines)
# %% [markdown]
# The picture shows a mean of roots under the root of a mean. For an honest comparison take squares: at every step the mean
# square of the runs is within five standard errors of the exact value. (GTD2 walks away from $v$: it heads for TD's fixed
# point, which is $-15/2$ here.)

# %%
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
square, mean

# %% [markdown]
# Between 1/4 and 1 the mean converges while the runs explode: rarely, but so far that the variance has no bound.

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
# **Where this ends.** A trace remembers all the past, and so does ETD's follow-on trace: then no finite set of moments is
# closed, and `exact_moments` says so instead of guessing.

# %%
try:
    otd.exact_moments(problem, otd.ETD("1/100"), 3)
except otd.ObliqueTDError as error:
    print(error)
    refused = True
assert refused
