"""Every kind of answer of the package on fixed problems, as one JSON file.

Run it in two checkouts, before and after a change that should change no answer, and compare::

    python tests/answers.py before.json
    python tests/answers.py after.json
    cmp before.json after.json

It uses public names only. Exact answers are text; floats are written with 12 digits, since
another order of summation may move the last ones.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd import domains
from obliquetd.errors import ObliqueTDError

RESIDUAL = (otd.ResidualGradient, otd.DoubleSampledResidualGradient)


def problems():
    """Exact problems of every sort: on- and off-policy, restarts, redundant features."""
    yield "two-state", domains.two_state(reward=1)
    yield "baird", domains.baird_star()
    yield "random walk", domains.random_walk()
    for seed in range(3):
        yield f"random {seed}", domains.random_problem(4, 2, seed=seed)


def learners():
    """Each learner with and without a trace."""
    yield from (otd.TD(), otd.SETD(), otd.ETD(), otd.GTD2(mu="1/2"), otd.TDC(mu=2))
    yield from (otd.TD(lam="1/2"), otd.SETD(lam="1/2"), otd.ETD(lam="1/2"), otd.TDC(lam="1/2"))
    yield from (otd.ResidualGradient(), otd.DoubleSampledResidualGradient())


def name_of(learner):
    """A name that does not depend on which other settings a learner has by now."""
    known = () if isinstance(learner, RESIDUAL) else ("lam", "mu")
    numbers = {k: getattr(learner, k) for k in known if hasattr(learner, k)}
    return f"{type(learner).__name__} {numbers}"


def text(value):
    """An answer as JSON data that does not depend on the process."""
    if isinstance(value, float | np.floating):
        return f"{float(value):.12g}"
    if isinstance(value, np.ndarray):
        return [text(x) for x in value.tolist()]
    if isinstance(value, sp.MatrixBase):
        return [str(x) for x in value]
    if isinstance(value, dict):
        return {str(k): text(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [text(x) for x in value]
    return value if isinstance(value, bool | int | type(None)) else str(value)


def attempt(function):
    """The answer, or the kind of error that there is none."""
    try:
        return text(function())
    except ObliqueTDError as error:
        return f"{type(error).__name__}"


def of_problem(problem):
    names = ("P_pi", "r_pi", "xi", "v_pi", "X_star", "L_pi", "C", "Omega_S", "Omega_E")
    found = {name: attempt(lambda name=name: getattr(problem, name)) for name in names}
    for name in ("td", "rg", "setd", "etd", "best"):
        found[name] = attempt(lambda name=name: problem.fixed_point(name).theta)
    table = otd.compare(problem)
    found["table"] = [[row.name, text(row.quantities)] for row in table]
    return found


def of_learner(problem, learner, small):
    dynamics = otd.mean_dynamics(problem, learner)
    found = {
        "A": attempt(lambda: dynamics.A),
        "b": attempt(lambda: dynamics.b),
        "theta": attempt(lambda: dynamics.fixed_point()),
        "verdict": attempt(lambda: dynamics.stability.verdict),
        "certificate": attempt(
            lambda: {k: v for k, v in dynamics.certificate().items() if k != "about"}
        ),
    }
    if small:
        if len(problem.states) == 2 or not isinstance(learner, RESIDUAL):  # else 0.1 hangs
            found["limit"] = attempt(lambda: otd.step_size_limit(problem, learner))
        import dataclasses

        fixed = dataclasses.replace(learner, alpha="1/50")
        moments = attempt(lambda: otd.exact_moments(problem, fixed, 3).second)
        found["moments"] = moments
    return found


def simulated(problem, learner):
    import dataclasses

    run = otd.simulate(
        problem, [dataclasses.replace(learner, alpha=0.01)], steps=2000, runs=2, seed=5
    )
    (curve,) = run.curves.values()
    return [text(curve.theta), curve.diverged]


def answers():
    out = {}
    for name, problem in problems():
        small = len(problem.states) <= 4
        out[name] = of_problem(problem)
        for learner in learners():
            key = name_of(learner)
            out[name][key] = of_learner(problem, learner, small)
            if not problem.mdp.terminal:
                out[name][f"{key} simulated"] = attempt(
                    lambda p=problem, x=learner: simulated(p, x)
                )
    for learner in (otd.TD(), otd.SETD(), otd.ETD(), otd.TD(lam="1/2"), otd.GTD2()):
        for name, problem in (
            ("two-state", domains.two_state("gamma")),
            ("random", domains.random_problem(3, 2, seed=1, discount="gamma")),
        ):
            region = attempt(lambda p=problem, x=learner: otd.stability_region(p, x, "gamma"))
            out[f"region {name} {name_of(learner)}"] = region
    out["claims"] = {r.id: r.verdict for r in otd.verify()}
    out["reproduced"] = reproduced()
    return out


def reproduced():
    """Digests of the CSV files of one reproduced experiment."""
    from obliquetd.reproduction import reproduce

    with tempfile.TemporaryDirectory() as folder:
        reproduce(["two-state"], folder, runs=20, workers=1)
        files = sorted(Path(folder).rglob("*.csv"))
        return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(answers(), indent=1, sort_keys=True))
