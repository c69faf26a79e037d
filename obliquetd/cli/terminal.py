"""What people see in a terminal: tables of claims, of analyses, of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape as escape_markup
from rich.segment import Segment
from rich.table import Table

from obliquetd.algebra import number_text
from obliquetd.display import visible
from obliquetd.learners import parameters

if TYPE_CHECKING:
    from obliquetd.claims import ClaimResult, Pack

__all__ = [
    "MOST_STATES",
    "counted",
    "err",
    "escape",
    "out",
    "print_cells",
    "show_analysis",
    "show_claims",
    "show_reproduction",
]


def escape(text: Any) -> str:
    r"""Text of any kind as a terminal shows it, word for word: no markup, no control character.

    Examples
    --------
    >>> escape("[red]\x1b[31m")
    '\\[red]\\x1b[31m'
    """
    return escape_markup(visible(text))


class Terminal(Console):
    """A console that passes no control character on, and leaves a closed pipe to its caller."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Segments as rich makes them, with every control character of their text visible."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                lines = map(visible, segment.text.split("\n"))
                yield segment._replace(text="\n".join(lines))

    def on_broken_pipe(self) -> None:
        """Nothing: rich would exit with status 1, which means that a check failed."""
        raise BrokenPipeError


out, err = Terminal(emoji=False), Terminal(stderr=True, emoji=False)

COLORS = {
    "proved": "green",
    "verified": "green",
    "corrected": "yellow",
    "refuted": "red",
    "open": "cyan",
}
STABILITY = {"stable": "green", "unstable": "red", "marginal": "yellow"}
MOST_STATES = 24
BESIDE_IDS = 40
"""Columns beside those of the names of claims from which their places have a column of their own."""
VERDICTS = {
    "holds": "green",
    "does not hold": "red",
    "cannot be decided": "cyan",
    "cannot be decided from the paper": "magenta",
}


MARKS = {
    "holds": "",
    "does not hold": " [bold red]<- does not hold[/]",
    "cannot be decided": " [cyan]<- undecided[/]",
    "cannot be decided from the paper": "",
}
"""What stands behind a ratio that keeps its sentence from holding."""
MANY = {"holds": "hold", "does not hold": "do not hold"}
"""The verdict on several sentences, where it is another word."""


def counted(number: int, noun: str) -> str:
    """A number of things, one of them or many.

    Examples
    --------
    >>> counted(1, "claim"), counted(2, "class")
    ('1 claim', '2 classes')
    """
    many = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{many}"


def show_claims(results: list[ClaimResult], evidence: bool, pack: Pack, seconds: float) -> None:
    """A table of claims with their verdicts and assumptions, and a count of them, the paper's and ours apart."""
    from obliquetd.claims import tally
    from obliquetd.report.plain import plain_prose

    table = Table(show_lines=evidence, expand=evidence)
    table.add_column("verdict", no_wrap=True)
    widest: Any = max(len("claim"), *(len(r.id) for r in results))
    table.add_column("claim", width=widest, overflow="fold")
    apart = not evidence and out.width >= widest + BESIDE_IDS
    if evidence or apart:
        table.add_column("evidence" if evidence else "where", ratio=1, overflow="fold")
    for r in results:
        color = COLORS[r.verdict]
        where = escape(f"{r.claim.where}{'' if r.origin == 'paper' else ' (ours)'}")
        told = f"[bold]{escape(r.claim.title)}[/]\n{escape(plain_prose(r.evidence))}"
        if r.assumptions:
            told += f"\n[cyan]Assumes:[/] {escape(r.assumed())}"
        if r.outcome.correction:
            told += f"\n[yellow]Right is:[/] {escape(plain_prose(r.outcome.correction))}"
        if apart:
            table.add_row(f"[{color}]{r.verdict_text}[/]", escape(r.id), where)
            continue
        verdict = r.verdict_text.replace(" ", "\n")
        named = f"[bold]{escape(r.id)}[/]\n[dim]{where}[/]"
        table.add_row(f"[{color}]{verdict}[/]", named, *([told] if evidence else []))
    out.print(table)
    for origin, count in tally(results).items():
        if count:
            whose = pack.whose if origin == "paper" else "of ours"
            told = ", ".join(f"{n} [{COLORS[v]}]{v}[/]" for v, n in count.items())
            out.print(f"{counted(sum(count.values()), 'claim')} {whose}: {told}")
    kernel = sum(r.kernel is not None for r in results)
    if kernel:
        out.print(
            f"(kernel): Coq accepted the proof, as a file; {counted(kernel, 'claim')}. obliquetd prove writes the files"
        )
    out.print(f"{counted(len(results), 'claim')} in {seconds:.1f} s")
    _show_false(results, pack)


def _show_false(results: list[ClaimResult], pack: Pack) -> None:
    """What is refuted and what is corrected, last, since it is what a reader came for."""
    for verdict in ("refuted", "corrected"):
        for origin, whose in (("paper", pack.whose), ("ours", "ours")):
            names = [r.id for r in results if r.verdict == verdict and r.origin == origin]
            if names:
                told = escape(", ".join(names))
                out.print(f"[{COLORS[verdict]}]{verdict}[/], {whose} ({len(names)}): {told}")


def show_analysis(found: Any, most: int) -> None:
    """The chain, the states, the fixed points, the learners, and what does not exist."""
    from obliquetd.cli.tables import formula_lines, verdict_lines
    from obliquetd.report.analysis import introduction

    problem = found.problem
    out.print(f"[bold]{escape(introduction(problem))}[/]")
    for verdict, told in verdict_lines(found):
        out.print(f"[{STABILITY.get(verdict, 'cyan')}]{escape(told)}[/]", soft_wrap=True)
    classes = problem.chain.classes
    closed = [c for c in classes if c.closed]
    transient = problem.chain.transient
    out.print(
        f"behaviour chain: {counted(len(closed), 'recurrent class')} ("
        + ", ".join(f"{counted(len(c.states), 'state')}, period {c.period}" for c in closed[:6])
        + f"), {counted(len(transient), 'transient state')}"
        + (f": {escape(', '.join(map(str, transient[:10])))}" if transient else "")
        + (" ..." if len(transient) > 10 else "")
    )
    if problem.symbols:
        for line in formula_lines(found):
            out.print(escape(line), soft_wrap=True)
    else:
        _show_tables(found, most)
    for note in _notes(found):
        out.print(note)
    for remark in found.remarks:
        out.print(f"[bold]{escape(remark)}[/]")


def _show_tables(found: Any, most: int) -> None:
    from obliquetd.cli.tables import learner_cells, stability_cells, state_cells
    from obliquetd.problem.compare import LEGEND
    from obliquetd.report.noise import LEGEND as NOISE

    states = len(found.problem.states)
    print_cells(state_cells(found, most))
    if states > most:
        out.print(f"... {counted(states - most, 'more state')} (--all shows them, --json has them)")
    compared = found.comparison.cells(width=10)
    if len(compared[0]) > 1:
        print_cells(compared)
    if any("criterion" in row.quantities for row in found.comparison):
        out.print(f"[dim]{LEGEND}[/]")
    cells = learner_cells(found)
    if len(cells) > 1:
        out.print(
            f"learners, from their rules ({_numbers(found.learners)}); |v - Pi v| in the Xi-norm; "
            "--json has A and b"
        )
        print_cells(cells)
    verdicts = stability_cells(found)
    if len(verdicts) > 1:
        out.print(
            "whether they come to it: the expected update, and constant step sizes (mean square)"
        )
        print_cells(verdicts)
    if found.noise is not None:
        out.print("how noisy they are at their fixed points, and LSTD and LS-ETD beside them")
        print_cells(found.noise.cells())
        out.print(f"[dim]{escape(NOISE)}[/]")
        for crossing in found.noise.crossovers:
            out.print(escape(str(crossing)), soft_wrap=True)


def _numbers(rows: Any) -> str:
    """The numbers that the rules read, each with its values."""
    values: dict[str, dict[str, None]] = {}
    for row in rows:
        chosen = {p.name for p in parameters(type(row.dynamics.learner)) if p.choices}
        for name, value in row.dynamics.numbers.items():
            if name not in chosen:
                values.setdefault(name, {})[number_text(value)] = None
    told = (f"{name} = {' or '.join(texts)}" for name, texts in values.items())
    return ", ".join(told).replace("lam =", "lambda =") or "no numbers"


def _notes(found: Any) -> list[str]:
    """What does not exist or is open, each reason once with the methods that it concerns."""
    from obliquetd.report.plain import plain_prose

    notes: dict[str, list[str]] = {}
    failures = found.failures()
    for row in found.comparison:
        if row.undetermined:
            names = ", ".join(map(str, row.undetermined[:10]))
            more = " ..." if len(row.undetermined) > 10 else ""
            many = counted(len(row.undetermined), "unvisited state")
            why = f"the values of {many} are open: {names}{more}"
            notes.setdefault(why, []).append(row.name)
        for what, why in row.problems.items():
            if why not in failures:
                notes.setdefault(plain_prose(why), []).append(f"{row.name} ({what})")
    for learner in found.learners:
        if learner.error is not None and str(learner.error) not in failures:
            why = plain_prose(str(learner.error))
            notes.setdefault(why, []).append(f"{learner.name} (rule)")
        if learner.no_bound:
            why = plain_prose(learner.no_bound)
            notes.setdefault(why, []).append(f"{learner.name} (step sizes)")
    known = {} if found.noise is None else found.noise.notes
    for name, why in known.items():
        if plain_prose(why) not in notes and why not in failures:
            why = plain_prose(why)
            notes.setdefault(f"infinite noise: {why}" if "infinite" in why else why, []).append(
                name
            )
    for what, why in found.notes.items():
        notes.setdefault(why, []).append(what)
    return [f"[yellow]{escape(', '.join(of))}[/]: {escape(why)}" for why, of in notes.items()]


def print_cells(cells: list[list[str]], title: str | None = None) -> None:
    """A table of text, its first row the heading; columns that do not fit stand in a table below.

    Nothing is cut: where a single column is wider than the terminal, its text is folded.
    """
    widths = [
        max(max(map(len, cells[0][j].split()), default=0), *(len(row[j]) for row in cells[1:]), 1)
        for j in range(len(cells[0]))
    ]
    whole = [max(width, len(name)) for width, name in zip(widths, cells[0], strict=True)]
    for k, columns in enumerate(_that_fit(widths, out.width)):
        table = Table(title=(title and not k and escape(title)) or None)
        chosen = whole if _room_of(whole, columns) <= out.width else widths
        fits = _room_of(chosen, columns) <= out.width
        for j in columns:
            table.add_column(
                escape(cells[0][j]), justify="right" if j else "left", overflow="fold",
                width=chosen[j] if fits else None, min_width=min(widths[j], out.width // 2),
            )  # fmt: skip
        for row in cells[1:]:
            table.add_row(*(escape(row[j]) for j in columns))
        out.print(table)


def _room_of(widths: list[int], columns: list[int]) -> int:
    """How wide a table of some columns is, with its lines."""
    return sum(widths[j] + 3 for j in columns) + 1


def _that_fit(widths: list[int], room: int) -> list[list[int]]:
    """The columns in groups that fit a line, the first of all leading each.

    Examples
    --------
    >>> _that_fit([5, 10, 10, 10], 40), _that_fit([5, 100], 40)
    ([[0, 1, 2], [0, 3]], [[0, 1]])
    """
    groups = [[0]]
    for j in range(1, len(widths)):
        shown = [*groups[-1], j]
        if len(shown) > 2 and _room_of(widths, shown) > room:
            groups.append([0, j])
        else:
            groups[-1].append(j)
    return groups


def show_reproduction(found: Any, folder: Any) -> None:
    """The paper's sentences with what decides them, and the files that were written."""
    table = Table(show_lines=True, expand=True)
    table.add_column("the paper says", ratio=3)
    table.add_column("measured, with 99 % confidence", ratio=5)
    table.add_column("verdict", ratio=2)
    for sentence in found.sentences:
        lines = []
        for part in sentence.parts:
            inner = "; ".join(
                f"{escape(name)} = {i}{MARKS[decided]}"
                for (name, i), decided in zip(part.found.items(), part.decisions, strict=True)
            )
            color = VERDICTS[part.verdict]
            lines.append(
                f"[{color}]{escape(part.quantity)}[/], {part.side} {part.bound:g}?  {escape(inner)}"
            )
        lines += [f"[dim]{escape(t)}[/]" for t in (sentence.silent, sentence.remark) if t]
        verdict = f"[{VERDICTS[sentence.verdict]}]{sentence.verdict}[/]"
        if sentence.silent:
            color = VERDICTS[sentence.finding]
            verdict += f"\nmeasured here: [{color}]{sentence.finding}[/]"
        table.add_row(
            f"{escape(sentence.says)}\n[dim]{escape(sentence.where)}[/]", "\n".join(lines), verdict
        )
    out.print(table)
    if found.choices:
        out.print(_choices_table(found.choices))
    count = Counter(s.verdict for s in found.sentences)
    told = ", ".join(
        f"{count[v]} [{c}]{v if count[v] == 1 else MANY.get(v, v)}[/]"
        for v, c in VERDICTS.items()
        if count[v]
    )
    sentences, runs = counted(len(found.sentences), "sentence"), counted(found.runs, "run")
    out.print(f"{sentences}, {runs} for each of {counted(found.seeds, 'seed')}: {told}")
    pictures = [path.name for path in found.files if path.suffix == ".png"]
    shown = f", among them {', '.join(pictures)}" if pictures else ""
    out.print(
        f"{counted(len(found.files), 'file')} in {escape(str(folder))}{shown}", soft_wrap=True
    )


def _choices_table(choices: list[Any]) -> Table:
    """Step sizes of the paper beside the best found in its grid, and the rank of each learner."""
    table = Table(title="RMSE of the whole run: the paper's step sizes, and the best of Table II")
    for heading in ("case", "paper", "RMSE", "rank", "best of Table II", "RMSE", "rank"):
        table.add_column(heading, justify="right" if heading in ("RMSE", "rank") else "left")
    for c in choices:
        table.add_row(
            c.case, c.paper, f"{c.paper_rmse:.4g}", str(c.paper_rank), c.best, f"{c.best_rmse:.4g}",
            str(c.best_rank),
        )  # fmt: skip
    same = {
        case: all(c.paper_rank == c.best_rank for c in choices if c.case == case)
        for case in dict.fromkeys(c.case for c in choices)
    }
    table.caption = "; ".join(
        f"{case}: the ranking {'survives' if kept else 'changes'}" for case, kept in same.items()
    )
    return table
