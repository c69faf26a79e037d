# %% [markdown]
# # The paper's experiments, and what they show
#
# Section V of the paper compares SETD with TD, ETD, GTD2 and TDC on four problems. Its figures are averages over 20 runs,
# and the sentences under them speak of speed and variance. Here the experiments run again, with the paper's step sizes,
# and each sentence becomes a quantity with a confidence interval.
#
# On the command line the whole section is `obliquetd reproduce all`, about a minute. This tutorial takes Baird's star.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import obliquetd as otd
from obliquetd.experiments import grid, sweep
from obliquetd.plotting import learning_curves, sensitivity
from obliquetd.reproduction import reproduce
from obliquetd.reproduction.studies import STUDIES

folder = Path(tempfile.mkdtemp())
found = reproduce(["baird"], folder, runs=100, seed=0, workers=1)
sorted(path.name for path in found.files)

# %% [markdown]
# ## The figure
#
# Solid: the mean of all runs, with a band that holds 80 % of them. Dashed: the root of the *exact* expected square error.
# TDC's line settles early, and stays: in one direction of the weights it barely learns.

# %%
case = STUDIES["baird"].cases[0]
exact = case.exact(case.learners)
fig, axes = plt.subplots(1, 2, figsize=(12, 4.4))
for ax, error in zip(axes, ("rmse", "rmspbe"), strict=True):
    lines = {name: both[error] for name, both in exact.items()}
    learning_curves(found.found["baird"], error, ax, exact=lines)

# %% [markdown]
# ## The sentences
#
# A sentence is read as one or more ratios. It *holds* where all intervals lie on the right side of the bound, it *does not
# hold* where one lies on the wrong side, and else it *cannot be decided* with so many runs.

# %%
for sentence in found.sentences:
    print(f"{sentence.verdict.upper()}: {sentence.says}")
    for part in sentence.parts:
        for pair, interval in part.found.items():
            print(f"    {part.quantity}: {pair} = {interval}, wanted {part.side} {part.bound:g}")

# %%
verdicts = {sentence.says: sentence.verdict for sentence in found.sentences}
assert verdicts["SETD has a larger variance than GTD2."] == "holds"
assert verdicts["and the variance as well."] == "does not hold"

# %% [markdown]
# The paper says of the same figure that SETD's variance is larger than GTD2's, and that it is substantially reduced. Both
# cannot be, and the runs say which is right.
#
# ## Is the comparison fair?
#
# Every learner has its own best step size. A sweep finds it, on the same transitions for all:

# %%
swept = sweep(
    otd.domains.baird_star(discount=0.99),
    grid([otd.SETD, otd.GTD2, otd.TDC], alpha=[0.001, 0.002, 0.004, 0.006, 0.01, 0.02], mu=[1, 16]),
    steps=4000, runs=20, theta0=[1] * 6 + [10, 1], workers=1,
)  # fmt: skip
fig, ax = plt.subplots(figsize=(6.5, 4.4))
sensitivity(swept, ax=ax, marked={"SETD": 0.006, "GTD2": 0.005, "TDC": 0.006})
for kind in ("SETD", "GTD2", "TDC"):
    best = swept.best(kind, criterion="whole")
    print(f"{best.name:<24} mean RMSE {best.value:.3f} +- {best.standard_error:.3f}")

# %%
values = {kind: swept.best(kind, criterion="whole").value for kind in ("SETD", "GTD2", "TDC")}
paper = swept["SETD alpha=0.006"].rmse.mean()
assert values["SETD"] <= paper

# %% [markdown]
# `obliquetd reproduce baird --sweep` does this for all of the paper's Table II, with the ranking before and after. A sweep
# with `out=FOLDER` can be killed and goes on from what is finished; `backend="dask"` runs it on a cluster.
