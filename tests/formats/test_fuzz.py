"""Two thousand mutated files: each is read rightly or is one error of ours; none hangs."""

import contextlib
import io
import multiprocessing
import os
import random
import re
import resource
import sys
import tempfile
import time
import warnings
import zipfile
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.domains import baird_star, two_state
from obliquetd.errors import ObliqueTDError
from obliquetd.formats import model_from_dict, model_to_dict
from obliquetd.formats.prism import write_prism

FILES, LIMIT, WORKERS, MEMORY = 2_000, 10.0, 2, 6 << 30

TOKENS = [
    b"NaN", b"inf", b"-inf", b"1e999", b"1e-999", b"1e99999999999", b"9" * 400, b"1/0", b"0/0", b"-1", b"0", b"2", b"1",
    b"1/2", b"0.5", b"-0", b"01", b"1e0000000000000999999999", b"9**9**9", b"((x+1)**64)**64", b"x", b"p", b"p/q", b"I",
    b"pi", b"E", b"oo", b"None", b"null", b"true", b"NA", b"__import__('os')", b"\x00", b"\xff", b"\xef\xbb\xbf",
    "é".encode(), "\u2028".encode(), b"\r\n", b"\n", b"\t", b" ", b",", b":", b"[", b"]", b"{", b"}", b'"', b"'", b"<", b">",
    b"&", b"#", b"//", b"@model", b"@type: DTMC", b"@type: MDP", b"$0", b"state 0", b"action a", b"#END", b"[[[[[[[[",
    b"\\u0000", b"\\ud800", b'"gamma"', b'"states"', b'"normalize"', b"a" * 300,
]  # fmt: skip


def seeds(folder):
    """A few small files of every format, as their bytes; a set of PRISM's files is one."""
    warnings.simplefilter("ignore")
    rows = [
        ("s", "a", "t", "1/3", 1),
        ("s", "a", "s", "2/3", 0),
        ("s", "b", "s", 1, "1/2"),
        ("t", "a", "s", 1, -1),
    ]
    plain = MDP.from_transitions(rows)
    ends = MDP.from_transitions([(0, "a", 1, 1, 2), (0, "b", 0, 0.5, 1), (0, "b", 1, 0.5, 1)])
    problems = [
        two_state("gamma", reward="r"), two_state(0.9), baird_star(),
        PolicyEvaluation(plain, target=Policy.uniform(plain), discount="9/10", xi=[1, 2]),
        PolicyEvaluation(ends, target=Policy.uniform(ends)),
    ]  # fmt: skip
    found = []
    for k, problem in enumerate(problems):
        for ending in (".json", ".npz", ".graphml", ".tra", ".drn"):
            path = folder / f"seed{k}{ending}"
            with contextlib.suppress(ObliqueTDError):  # what a format cannot hold
                save_model(problem, path)
                companions = sorted(folder.glob(f"seed{k}.*")) if ending == ".tra" else [path]
                keep = (".tra", ".trew", ".lab", ".sta")
                found.append(
                    {p.suffix: p.read_bytes() for p in companions if p.suffix in keep or p == path}
                )
    P, R = np.array([[["1/2", "1/2"], ["0", "1"]]]), np.array(["1", "0"])
    for arrays in (
        {"P": P, "R": R, "gamma": "1/2"},
        {"Q": np.eye(2)[None].transpose(1, 0, 2), "R": np.ones((2, 1))},
    ):
        file = io.BytesIO()
        np.savez(file, **arrays)
        found.append({".npz": file.getvalue()})
    found += [
        {".csv": b"state,action,next_state,reward,done,target,behavior\n0,a,1,1/2,0,1,1\n1,a,0,2,1,1,1\n0,a,0,0,0,1,1\n"},
        {".csv": b"state,action,next_state,reward\nx,go,y,1\ny,go,x,0.5\nx,stay,x,-1e-3\n"},
        {".drn": b"@type: DTMC\n@parameters\np\n@placeholders\n$0 : p^2\n@reward_models\nr\n@nr_states\n2\n@nr_choices\n2\n"
                 b"@model\nstate 0 [1] init\n\taction 0 [0]\n\t\t0 : $0\n\t\t1 : 1-p^2\nstate 1 [0]\n\taction 0 [$0]\n\t\t0 : 1\n"},
        {".tra": b"2 3\n0 0 0.5\n0 1 0.5\n1 0 1\n", ".srew": b'# Reward structure "r"\n2 1\n0 1\n', ".lab": b'0="init"\n0: 0\n'},
        {".tra": b"mdp\n0 0 1 1\n0 1 0 1\n1 0 0 1\n", ".lab": b"#DECLARATION\ninit\n#END\n0 init\n"},
    ]  # fmt: skip
    assert {e for seed in found for e in seed} >= {
        ".json",
        ".npz",
        ".graphml",
        ".tra",
        ".drn",
        ".csv",
        ".trew",
        ".sta",
    }
    return found


def mutated(content, rng):
    """A few random edits: bytes, tokens, lines, cuts."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        match rng.randrange(8):
            case 0 if data:
                data[at % len(data)] = rng.randrange(256)
            case 1:
                data[at:at] = rng.choice(TOKENS)
            case 2:
                del data[at : min(to, at + rng.choice([1, 3, 20, 10**6]))]
            case 3:
                data[at:at] = data[at : min(to, at + 200)]
            case 4:
                del data[at:]
            case 5 | 6:  # a word for a word
                words = [m.span() for m in re.finditer(rb"[\w./+-]+", data)]
                if words:
                    begin, end = rng.choice(words)
                    data[begin:end] = rng.choice(TOKENS)
            case 7:
                lines = bytes(data).split(b"\n")
                k, j = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[k], lines[j] = lines[j], lines[k]
                data = bytearray(b"\n".join(lines))
    return bytes(data)


def repacked(content, rng):
    """A numpy archive whose members are mutated, and packed anew so that their checksums hold."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, mutated(data, rng) if rng.random() < 0.5 else data)
    return out.getvalue()


def case(seed, number):
    """The files of one case; the same for the same number."""
    rng = random.Random(number)
    files = dict(seed)
    victim = rng.choice(list(files))
    if victim == ".npz" and rng.random() < 0.7:
        files[victim] = repacked(files[victim], rng)
    else:
        files[victim] = mutated(files[victim], rng)
    return files


def verdict(files):
    """'read', 'refused', or what went wrong."""
    main = next(e for e in (".json", ".npz", ".graphml", ".tra", ".drn", ".csv") if e in files)
    with tempfile.TemporaryDirectory() as folder:
        for ending, content in files.items():
            (Path(folder) / f"m{ending}").write_bytes(content)
        try:
            problem = load_model(Path(folder) / f"m{main}")
        except ObliqueTDError as error:
            text = str(error)
            return (
                "refused" if text and len(text) < 5_000 else f"a message of {len(text)} characters"
            )
        again = model_from_dict(model_to_dict(problem))
        if again.mdp != problem.mdp or again.target != problem.target:
            return "another model after saving it as JSON"
        for s, a in {(r.state, r.action) for r in problem.mdp.transitions}:
            total = sum(r.probability for r in problem.mdp.transitions if r[:2] == (s, a))
            if abs(sp.cancel(total - 1)) > 1e-9:
                return f"a row that sums to {total}"
        try:
            write_prism(problem.mdp, Path(folder) / "again.tra")
        except ObliqueTDError:
            return "read"
        if load_model(Path(folder) / "again.tra").mdp != problem.mdp:
            return "another model after saving it as .tra"
        return "read"


def work(pipe):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    while (task := pipe.recv()) is not None:
        number, files = task
        try:
            found = verdict(files)
        except BaseException as error:
            found = f"{type(error).__name__}: {str(error)[:200]}"
        pipe.send((number, found))


class Worker:
    """A forked process that answers, or is killed."""

    def __init__(self):
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(other,), daemon=True)
        with warnings.catch_warnings(action="ignore"):  # forking beside numpy's threads is meant
            self.process.start()
        other.close()
        self.task, self.deadline = None, 0.0

    def give(self, number, files):
        self.task, self.deadline = number, time.monotonic() + LIMIT
        self.pipe.send((number, files))

    def end(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


def verdicts(cases):
    """The verdict of each case, from a pool whose members are killed and replaced where they hang."""
    waiting, found = list(reversed(cases)), {}
    pool = [Worker() for _ in range(WORKERS)]
    try:
        while waiting or any(w.task is not None for w in pool):
            for k, worker in enumerate(pool):
                if worker.task is None and waiting:
                    worker.give(*waiting.pop())
                elif worker.task is not None and time.monotonic() > worker.deadline:
                    found[worker.task] = "hangs"
                    worker.end()
                    pool[k] = Worker()
            busy = {w.pipe: w for w in pool if w.task is not None}
            for pipe in wait(list(busy), timeout=0.2):
                worker = busy[pipe]
                try:
                    number, answer = pipe.recv()
                    found[number] = answer
                    worker.task = None
                except EOFError:
                    found[worker.task] = "the worker died"
                    worker.end()
                    pool[pool.index(worker)] = Worker()
    finally:
        for worker in pool:
            worker.end()
    return found


def test_the_pool_notices_what_hangs_and_what_dies(monkeypatch):
    """A negative control of the harness itself."""
    here = sys.modules[__name__]
    monkeypatch.setattr(here, "LIMIT", 0.5)
    answers = {
        "good": lambda: "read",
        "slow": lambda: time.sleep(60),
        "dead": lambda: os._exit(1),
        "bare": lambda: 1 // 0,
    }
    monkeypatch.setattr(here, "verdict", lambda files: answers[files]())
    found = verdicts([(name, name) for name in answers])
    assert found == {
        "good": "read", "slow": "hangs", "dead": "the worker died",
        "bare": "ZeroDivisionError: integer division or modulo by zero",
    }  # fmt: skip


@pytest.mark.slow
def test_two_thousand_mutated_files(tmp_path):
    start = seeds(tmp_path)
    cases = [(k, case(start[k % len(start)], k)) for k in range(FILES)]
    found = verdicts(cases)
    assert len(found) == FILES
    wrong = {k: v for k, v in found.items() if v not in ("read", "refused")}
    assert not wrong, f"{len(wrong)} files; the first: {dict(list(wrong.items())[:10])}"
    assert list(found.values()).count("read") > FILES // 50
