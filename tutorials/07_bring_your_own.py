# %% [markdown]
# # Bring your own MDP
#
# Your model may be a table, an array, a Gymnasium environment, a file of another tool, or a log. This tutorial brings
# one of each in, asks a question, and takes LaTeX out.
#
# *Read [01](01_oblique_projection.ipynb) before this one. To run it yourself: in a clone, `pip install -e '.[tutorials]'`.*

# %%
import tempfile
import warnings
from pathlib import Path

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd.plotting import mdp_graph

folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## Rows, with symbols where you like
#
# A machine works; with probability $p$ it breaks. Broken, it is repaired at a cost $c$. Text is read exactly: `"1/3"` is a third,
# `"p"` a symbol.

# %%
machine = otd.MDP.from_transitions(
    [
        ("works", "run", "works", "1 - p", 1),
        ("works", "run", "broken", "p", 1),
        ("broken", "repair", "works", 1, "-c"),
    ]
)
problem = otd.PolicyEvaluation(machine, target=otd.Policy.uniform(machine), discount="gamma")
fig, ax = plt.subplots(figsize=(6, 3))
ax = mdp_graph(problem, ax)

# %%
problem.v_pi

# %%
p, c, gamma = sp.symbols("p c gamma")
value = problem.values["works"]
# v = 1 + gamma ((1 - p) v + p (-c + gamma v))
assert sp.simplify(value - (1 + gamma * ((1 - p) * value + p * (gamma * value - c)))) == 0
at = problem.subs({"p": "1/10", "c": 5, "gamma": "9/10"})
assert at.values["works"] == sp.Rational(550, 109)
print(f"the machine works {at.xi[0]} of the time")

# %% [markdown]
# ## LaTeX for the paper
#
# In a notebook a fixed point shows itself as formulas; `to_latex()` is what you paste.

# %%
problem.fixed_point("td")

# %%
print(problem.fixed_point("td").to_latex())
assert r"\text{works}" in problem.to_latex()

# %% [markdown]
# ## Gymnasium
#
# Toy-text environments have their table inside. `done` becomes a restart of discount 0; floats such as 0.333... become 1/3 when
# you ask for exact arithmetic.

# %%
env = gymnasium.make("FrozenLake-v1", map_name="4x4")
lake_mdp = otd.MDP.from_gymnasium(env)
lake = otd.PolicyEvaluation(
    lake_mdp, target=otd.Policy.uniform(lake_mdp), discount="99/100", arithmetic="exact"
)
assert {row[3] for row in lake.mdp.transitions} == {1, sp.Rational(1, 3), sp.Rational(2, 3)}
start = lake.values[0]
assert isinstance(start, sp.Rational)
print(
    f"the walk at random is worth {float(start):.6f}, exactly a fraction with {len(str(start.q))} digits below"
)
values = np.array([float(lake.values[s]) for s in range(16)]).reshape(4, 4)
tiles = env.unwrapped.desc.astype(str)
fig, ax = plt.subplots(figsize=(4.4, 4))
picture = ax.imshow(values, cmap="viridis")
for (row, column), tile in np.ndenumerate(tiles):
    ax.text(
        column, row, {"S": "start\n", "G": "goal", "H": "hole", "F": ""}[tile] + (f"{values[row, column]:.3f}" if tile in "SF" else ""),
        ha="center", va="center", color="black" if values[row, column] > 0.2 else "white", fontsize="small",
    )  # fmt: skip
ax.set(xticks=[], yticks=[])
ax.set_title("what the walk at random is worth", fontsize="medium")
fig.colorbar(picture)
assert values.argmax() == 14  # beside the goal

# %% [markdown]
# ## Arrays
#
# `P[a, s, t]` and a reward in one of three shapes, dense or sparse, from numpy or from another toolbox.

# %%
P = np.array([[[0.9, 0.1], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0]]])
R = np.array([[1.0, 0.0], [0.0, 2.0]])
arrays = otd.MDP.from_arrays(P, R)
small = otd.PolicyEvaluation(arrays, target=otd.Policy.uniform(arrays), discount=0.9)
assert np.allclose(
    np.ravel(small.v_pi), np.linalg.solve(np.eye(2) - 0.9 * P.mean(axis=0), R.mean(axis=1))
)
small.mdp

# %% [markdown]
# ## Files
#
# `.json`, `.npz` and `.graphml` hold a whole problem, `.tra` (PRISM) and `.drn` (Storm) its MDP. What was a fraction comes back
# as one. What a format has no place for, here the discount, `save_model` names in a warning, and `load_model` takes it again.

# %%
for ending in (".json", ".npz", ".graphml"):
    otd.save_model(at, folder / f"machine{ending}")
    again = otd.load_model(folder / f"machine{ending}")
    assert again.v_pi == at.v_pi
with warnings.catch_warnings(record=True) as said:
    otd.save_model(at, folder / "machine.drn")
assert "the discount 9/10" in str(said[0].message)
assert otd.load_model(folder / "machine.drn", discount="9/10").v_pi == at.v_pi
print((folder / "machine.drn").read_text())

# %% [markdown]
# ## A log
#
# From logged transitions the model of relative frequencies is estimated, exactly; or the log feeds the learners as it is.

# %%
from obliquetd.formats import read_log

(folder / "log.csv").write_text(
    "state,action,next_state,reward,done\n"
    "0,go,1,1,0\n1,go,0,2,1\n0,go,0,0,0\n0,go,1,1,0\n1,go,0,2,1\n"
)
log = read_log(folder / "log.csv")
estimated = log.problem(discount="9/10")
assert estimated.P_pi == sp.Matrix([[sp.Rational(1, 3), sp.Rational(2, 3)], [1, 0]])
data = otd.LoggedData.from_log(log, {0: [1, 0], 1: [0, 1]}, discount=0.9)
learned = otd.simulate(None, [otd.TD(0.1)], steps=5, stream=data)
print(f"exact: {list(estimated.v_pi)}, TD after five steps: {learned['TD'].theta}")

# %% [markdown]
# ## When something is wrong
#
# Errors name the place, what came, what was expected, and the way out.

# %%
try:
    otd.MDP.from_transitions([("s", "a", "s", "1/3", 0), ("s", "a", "t", "1/3", 0)])
except otd.ObliqueTDError as error:
    print(error)
    told = str(error)
assert all(
    part in told for part in ("state 's', action 'a'", "2/3", "expected 1", "normalize=True")
)

# %% [markdown]
# ## Exercises
#
# 1. A repair of the machine fails half of the time, and then the machine stays broken, at the same cost. What is a working machine worth?
# 2. For which $p$ is the machine a model at all, and at which cost $c$ is a working one worth nothing at $p = 1/10$, $\gamma = 9/10$?
# 3. Read the log with the discount as a symbol. What are the values?
#
# ## Solutions
#
# *1.* One more row:

# %%
hard = otd.MDP.from_transitions(
    [
        ("works", "run", "works", "9/10", 1),
        ("works", "run", "broken", "1/10", 1),
        ("broken", "repair", "works", "1/2", -5),
        ("broken", "repair", "broken", "1/2", -5),
    ]
)
worse = otd.PolicyEvaluation(hard, target=otd.Policy.uniform(hard), discount="9/10")
assert worse.values["works"] < at.values["works"]
print(f"{worse.values['works']}, and before {at.values['works']}")

# %% [markdown]
# *2.* `valid_range` has the first, sympy the second:

# %%
assert problem.valid_range("p") == sp.Interval(0, 1)
cost = sp.solve(value.subs({p: sp.Rational(1, 10), gamma: sp.Rational(9, 10)}), c)[0]
assert problem.subs({"p": "1/10", "c": cost, "gamma": "9/10"}).values["works"] == 0
print(f"p in {problem.valid_range('p')}, worth nothing at c = {cost}")

# %% [markdown]
# *3.* Formulas in $\gamma$. The log ends in state 1 with `done`, so an episode ends there.

# %%
open_discount = log.problem(discount="gamma")
assert list(open_discount.subs({"gamma": "9/10"}).v_pi) == list(estimated.v_pi)
open_discount.v_pi
