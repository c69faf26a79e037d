# %% [markdown]
# # A learner of your own
#
# You have an idea for an update rule. Does it converge, to what, and for which discounts? Here the rule is written once, as a plain
# function of some ten lines. All the rest follows from it: the mean update, the fixed point, the stability region, a certificate, and the simulation.
#
# *Read [03](03_off_policy_divergence.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*
#
# ## The idea
#
# TD moves its weights $\theta$ towards a target, $r + \gamma\,\theta^\top\phi'$, that moves with them. Off-policy it may chase that target for ever. Deep
# learning has a remedy, the *target network*: take the target from a slow copy $w$ of the weights.
#
# $$\delta = r + \gamma\, w^\top\phi' - \theta^\top\phi, \qquad \theta \leftarrow \theta + \alpha\rho\delta\phi, \qquad w \leftarrow w + \alpha\mu(\theta - w).$$
#
# The number $\mu$ says how fast the copy follows. Does it help?
#
# ## The rule
#
# A rule gets the weights `x`, a memory `m` that lasts for an episode (we need none), the transition `t`, the step size, and the learner's numbers `p`. It
# changes the weights in place. `phi(t, i)` is feature `i` of the state that is left, `phi_next(t, i)` of the one that is reached.

# %%
from dataclasses import dataclass
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import sympy as sp

import obliquetd as otd
from obliquetd.errors import LearnerError
from obliquetd.learners import Learner, Nothing, Theta, ThetaW, phi, phi_next, ratio
from obliquetd.plotting import learning_curves


class Mu(NamedTuple):
    mu: Any


def slow_target(x, m, t, alpha, p):
    delta = t.reward
    for i in range(len(x.theta)):
        delta += t.g * phi_next(t, i) * x.w[i] - phi(t, i) * x.theta[i]
    for i in range(len(x.theta)):
        x.w[i] += alpha * p.mu * (x.theta[i] - x.w[i])
        x.theta[i] += alpha * t.rho * delta * phi(t, i)
    return delta


@dataclass(frozen=True)
class SlowTarget(Learner):
    """TD whose target is a slow copy of the weights."""

    alpha: Any = None
    mu: Any = ratio(1, "how fast the copy follows, over the step size")

    key, name, color, mark = "slow-target", "SlowTarget", "#CC79A7", "D"
    source = "this tutorial"
    solves = "the TD fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Nothing, Mu, staticmethod(slow_target)


# %% [markdown]
# The class says what the rule keeps (`ThetaW` are the two vectors `theta` and `w`), what its numbers are, and how it is called and drawn. Nothing is
# registered anywhere. One question first: is the rule of the kind that has a mean update? `check` tries it on small fractions, and compiles it.

# %%
checked = otd.learners.check(SlowTarget())
assert checked.ok
print("the rule may be used:", checked.ok)

# %% [markdown]
# ## The mean update, in symbols
#
# The rule is run on fractions and symbols, transition by transition, to obtain $A$ and $b$ of $\mathbb E[\Delta] = \alpha(b - Ax)$. On the
# paper's two-state example, with discount and $\mu$ left open:

# %%
problem = otd.domains.two_state("gamma", reward=1)
dynamics = otd.mean_dynamics(problem, SlowTarget(mu="mu"))
gamma, mu = sp.symbols("gamma mu")
assert sp.Matrix([[sp.Rational(5, 2), -3 * gamma], [-mu, mu]]) == dynamics.A
dynamics

# %% [markdown]
# At rest $w = \theta$, and then the rule is TD's. So the fixed point is TD's:

# %%
mine, td = dynamics.fixed_point()[0], problem.fixed_point("td").theta[0]
assert sp.simplify(mine - td) == 0
print("both have theta =", td)

# %% [markdown]
# ## Does it help?
#
# On this example, not at all. The determinant of $A$ is $\mu(\tfrac52 - 3\gamma)$, so its sign changes at 5/6 for every $\mu$, exactly where TD's does:

# %%
assert sp.expand(dynamics.A.det() - mu * (sp.Rational(5, 2) - 3 * gamma)) == 0
for value in ("1/100", "1", "100"):
    region = otd.stability_region(problem, SlowTarget(mu=value), "gamma")
    assert region == otd.stability_region(problem, otd.TD(), "gamma")
    print(f"mu = {value}: stable for gamma in {region}")

# %% [markdown]
# Baird's star is the other famous example on which TD diverges. There it does help, if the copy is slow enough:

# %%
star = otd.domains.baird_star()
verdicts = {"TD": otd.mean_dynamics(star, otd.TD()).stability.verdict}
for value in ("1/10", "1", "10"):
    verdicts[f"SlowTarget, mu = {value}"] = otd.mean_dynamics(
        star, SlowTarget(mu=value)
    ).stability.verdict
assert list(verdicts.values()) == ["unstable", "stable", "stable", "unstable"]
for name, verdict in verdicts.items():
    print(f"{name:<22} {verdict}")

# %% [markdown]
# Each verdict has a certificate that anybody can check with fractions alone:

# %%
certificate = otd.mean_dynamics(star, SlowTarget(mu=1)).certificate()
assert certificate["claim"] == "stable"
assert otd.check_certificate(certificate)
print("a certificate of:", certificate["claim"])

# %% [markdown]
# ## And the simulation is of the same function
#
# The function that was run on symbols is compiled now. TD leaves for good. The learner with the slow copy goes astray, too, at first, and then comes back
# and arrives: stable says where a learner ends, and not that it gets better at each step.

# %%
floats = otd.domains.baird_star(discount=0.99)
learners = [otd.TD(0.02), SlowTarget(0.02, mu=1.0)]
start = [1] * 6 + [10, 1]
found = otd.simulate(floats, learners, steps=20_000, runs=10, seed=0, theta0=start, every=20)
fig, ax = plt.subplots(figsize=(6.5, 4))
ax = learning_curves(found, ax=ax)
curve = found["SlowTarget"].mean()
assert found["TD"].mean()[-1] > 1e6
assert curve.max() > 3 * curve[0] > 30 * curve[-1]
print(f"SlowTarget: error {curve[0]:.2f}, at most {curve.max():.1f}, at the end {curve[-1]:.2f}")

# %% [markdown]
# ## A rule that is refused
#
# A mean update $\alpha(b - Ax)$ exists where the rule is affine in the weights. This one clips the error, as is often done in practice. It is not
# affine, so it is refused by name, in place of a wrong answer:


# %%
def clipped(x, m, t, alpha, p):
    delta = t.reward
    for i in range(len(x.theta)):
        delta += (t.g * phi_next(t, i) - phi(t, i)) * x.theta[i]
    delta = min(max(delta, -1), 1)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * phi(t, i)
    return delta


class NoNumbers(NamedTuple):
    pass


@dataclass(frozen=True)
class ClippedTD(Learner):
    """TD with an error of at most 1."""

    alpha: Any = None

    key, name, color, mark = "clipped-td", "ClippedTD", "#000000", "x"
    source = "this tutorial"
    solves = "nothing known"
    weights, memory, numbers, rule = Theta, Nothing, NoNumbers, staticmethod(clipped)


refused = ""
try:
    otd.mean_dynamics(star, ClippedTD())
except LearnerError as error:
    refused = str(error)
    print(refused)
assert "ClippedTD" in refused

# %% [markdown]
# It can be simulated all the same, since a simulation needs no mean.
#
# ## At the command line
#
# Put the rule and its class into a file, `slow.py`. Every command takes it, and its numbers are options:
#
# ```sh
# obliquetd analyze model.json --learner slow.py:SlowTarget --mu 1/10
# obliquetd simulate model.json --learner slow.py:SlowTarget --learner td --alpha 1/100 -o curves.png
# obliquetd search slow.py:SlowTarget --states 3 --features 2
# ```
#
# ## Exercises
#
# 1. How slow does the copy have to be on the star? Leave $\mu$ a symbol, and ask for the region.
# 2. Write a learner whose error is TD's with a bonus `eta` in each step, as if every reward were larger by `eta`. What is its fixed point on the
#    two-state example at discount 9/10, for each `eta`?
# 3. Let a search find a problem of two states and one feature on which `SlowTarget` with $\mu = 1$ is unstable. Is TD unstable there, too?
#
# ## Solutions
#
# *1.* Hardly slower than the weights themselves: up to $\mu$ a little above 2. The end of the region is a root of a polynomial, known exactly.

# %%
region = otd.stability_region(star, SlowTarget(mu="mu"), "mu")
end = float(region.end)
assert 1 < end < 10
print(f"stable for mu from 0 up to {end:.4f}")

# %% [markdown]
# *2.* It is TD's fixed point on the problem whose rewards are larger by `eta`. Here each step of the target pays 1, so it pays $1 + \eta$ then, and the
# fixed point grows in proportion. (It is as wrong as TD's: the states are worth $10(1 + \eta)$.)


# %%
class Eta(NamedTuple):
    eta: Any


def bonus(x, m, t, alpha, p):
    delta = t.reward + p.eta
    for i in range(len(x.theta)):
        delta += (t.g * phi_next(t, i) - phi(t, i)) * x.theta[i]
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * phi(t, i)
    return delta


@dataclass(frozen=True)
class BonusTD(Learner):
    """TD with a bonus in each step."""

    alpha: Any = None
    eta: Any = otd.learners.number(0, "the bonus")

    key, name, color, mark = "bonus-td", "BonusTD", "#56B4E9", "v"
    source = "this tutorial"
    solves = "the TD fixed point for larger rewards"
    weights, memory, numbers, rule = Theta, Nothing, Eta, staticmethod(bonus)


at = otd.domains.two_state("9/10", reward=1)
theta = otd.mean_dynamics(at, BonusTD(eta="eta")).fixed_point()[0]
paid = otd.domains.two_state("9/10", reward="1 + eta")
assert sp.expand(theta - paid.fixed_point("td").theta[0]) == 0
print("theta =", sp.expand(theta))

# %% [markdown]
# *3.* Yes, and it must be. With one feature $\det A = \mu a$ with TD's number $a$, and the trace is $c + \mu$ with $c = \sum_s \xi(s)\phi(s)^2 > 0$. So both eigenvalues
# have positive real parts exactly where $a > 0$.

# %%
hunt = otd.find_unstable(SlowTarget(mu=1), states=2, features=1, seed=0)
assert hunt.problem is not None
both = [otd.mean_dynamics(hunt.problem, L).stability.verdict for L in (SlowTarget(mu=1), otd.TD())]
assert both == ["unstable", "unstable"]
print(hunt)
