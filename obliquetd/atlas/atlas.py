"""Every problem of a family, judged exactly for every learner, and the questions that it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import exactify, serial_number
from obliquetd.atlas.decide import Part
from obliquetd.atlas.family import Family
from obliquetd.atlas.questions import Question, parse
from obliquetd.atlas.verdicts import VERDICTS
from obliquetd.dynamics import check_certificate, mean_dynamics
from obliquetd.errors import InputError, KindError, MathematicalError, ResultsError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.checks import parse_discount

__all__ = ["Atlas", "Found", "discount_text"]


@dataclass(frozen=True, eq=False)
class Found:
    """A problem of an atlas, judged again by the general route, with its proofs.

    Attributes
    ----------
    problem : PolicyEvaluation
    verdicts : dict of str to str
        By learner, for those that the question names; of all, where it names none.
    certificates : dict of str to dict
        For ``otd.check_certificate``, for each of them but where the verdict has none (eigenvalues on the
        imaginary axis other than 0, or nothing moves).
    problems : int
        How many problems are this one up to the names of the states, and the order and signs of the features.
    """

    problem: PolicyEvaluation
    verdicts: dict[str, str]
    certificates: dict[str, dict[str, Any]]
    problems: int

    def __str__(self) -> str:
        told = ", ".join(f"{name} {verdict}" for name, verdict in self.verdicts.items())
        return f"{told}: {self.problem!r}"


class Atlas:
    """The verdicts on a family; made by :mod:`obliquetd.atlas.build`.

    Attributes
    ----------
    family : Family
    learners : dict of str to Learner or None
        By the name that questions use; None where an atlas was loaded whose learner is not the package's.
    discounts : tuple of str
    """

    def __init__(
        self, family: Family, learners: Mapping[str, Learner | None], discounts: tuple[str, ...],
        parts: Iterable[Part],
    ) -> None:  # fmt: skip
        self.family, self.learners, self.discounts = family, dict(learners), discounts
        found = list(parts)
        self._chain = np.concatenate([np.full(len(p.codes), p.chain) for p in found])
        self._codes = np.concatenate([p.codes for p in found])
        self._problems = np.concatenate([p.problems for p in found])
        self._verdicts = {
            (name, gamma): np.concatenate([p.verdicts[name, gamma] for p in found])
            for name in learners
            for gamma in discounts
        }

    def __len__(self) -> int:
        """How many problems there are, at each discount."""
        return int(self._problems.sum())

    @property
    def members(self) -> int:
        """How many of them differ in more than symmetry."""
        return len(self._codes)

    def _discount(self, discount: Any) -> str:
        if discount is None:
            if len(self.discounts) == 1:
                return self.discounts[0]
            raise InputError(
                f"the atlas has the discounts {', '.join(self.discounts)}; say which, as in "
                f"discount={self.discounts[0]!r}"
            )
        found = discount_text(discount)
        if found not in self.discounts:
            raise InputError(f"discount is {found}; the atlas has {', '.join(self.discounts)}")
        return found

    def _holds(self, question: str | None, discount: str) -> tuple[Question, Any]:
        parsed = parse(question, list(self.learners))
        columns = {name: self._verdicts[name, discount] for name in parsed.learners}
        return parsed, parsed.holds(columns, self.members)

    def count(self, question: str | None = None, *, discount: Any = None) -> int:
        """How many problems are as a question says.

        Parameters
        ----------
        question : str, optional
            Such as ``"SETD unstable and not (TD stable or TD marginal)"``; see
            :mod:`obliquetd.atlas.questions`. All problems unless given.
        discount : number, optional
            Where the atlas has several.

        Examples
        --------
        >>> from obliquetd.atlas import build
        >>> from obliquetd.learners import SETD, TD
        >>> atlas = build(2, 1, learners=[TD(), SETD()], workers=1)
        >>> len(atlas), atlas.count("TD unstable"), atlas.count("TD unstable and SETD stable")
        (96, 4, 4)
        """
        _, holds = self._holds(question, self._discount(discount))
        return int(self._problems[holds].sum())

    def table(self, *, discount: Any = None) -> dict[str, dict[str, int]]:
        """For each learner how many problems have each verdict."""
        gamma = self._discount(discount)
        return {
            name: {
                word: int(self._problems[self._verdicts[name, gamma] == k].sum())
                for k, word in enumerate(VERDICTS)
            }
            for name in self.learners
        }

    def verdict(self, learner: str, member: int, *, discount: Any = None) -> str:
        """The verdict on one member, by its number from 0 to ``members - 1``."""
        return VERDICTS[self._verdicts[learner, self._discount(discount)][member]]

    def verdicts_on(
        self, chain: Sequence[Sequence[int]], features: Any, *, discount: Any = None
    ) -> dict[str, str]:
        """The verdict of each learner on any problem of the family, also one that another stands for.

        Parameters
        ----------
        chain : n rows of n int
            With how many k-ths each state follows each under the target; for k = 1, a 1 in each row.
        features : n rows of d int
        discount : number, optional

        Raises
        ------
        InputError
            For a problem that is not of the family.
        """
        gamma = self._discount(discount)
        number, code = self.family.representative(chain, features)
        at = np.flatnonzero((self._chain == number) & (self._codes == code))
        if len(at) != 1:
            raise InputError(
                f"the features {features} have dependent columns; the family has none such"
            )
        return {name: self.verdict(name, int(at[0]), discount=gamma) for name in self.learners}

    def problem(self, member: int, *, discount: Any = None) -> PolicyEvaluation:
        """One member as a problem, exact."""
        chain = self.family.chains[self._chain[member]][0]
        features = self.family.matrices(self._codes[member : member + 1])[0]
        return self.family.problem(chain, features, self._discount(discount))

    def example(self, question: str | None = None, *, discount: Any = None) -> Found:
        """The first problem that is as a question says, judged again by the general route.

        Raises
        ------
        MathematicalError
            Where no problem of the family is.

        Examples
        --------
        >>> from obliquetd.atlas import build
        >>> from obliquetd.learners import SETD, TD
        >>> atlas = build(2, 1, learners=[TD(), SETD()], workers=1)
        >>> found = atlas.example("TD unstable")
        >>> found.verdicts, found.problem.Phi.tolist(), check_certificate(found.certificates["TD"])
        ({'TD': 'unstable'}, [[-1], [-2]], True)
        """
        return self._found(question, discount, lambda at: at[:1])

    def smallest(self, question: str | None = None, *, discount: Any = None) -> Found:
        """The problem with the smallest features of those that are as a question says.

        The smallest is the one whose largest entry is least, then the one whose entries have the least
        sum of absolute values, then the first. Errors are those of :meth:`example`.
        """

        def least(at: Any) -> Any:
            entries = np.abs(self.family.matrices(self._codes[at])).reshape(len(at), -1)
            return at[np.lexsort((at, entries.sum(axis=1), entries.max(axis=1)))]

        return self._found(question, discount, least)

    def _found(self, question: str | None, discount: Any, order: Any) -> Found:
        gamma = self._discount(discount)
        parsed, holds = self._holds(question, gamma)
        at = np.flatnonzero(holds)
        if not len(at):
            raise MathematicalError(
                f"none of the {len(self):,} problems of the atlas is so: {question}"
            )
        member = int(order(at)[0])
        problem = self.problem(member, discount=gamma)
        verdicts, certificates = {}, {}
        for name in parsed.learners or list(self.learners):
            learner = self.learners[name]
            if learner is None:
                raise InputError(
                    f"{name} is no learner of the package, so that nothing here can judge the problem again; "
                    "build the atlas once more with the learner, and the same folder"
                )
            dynamics = mean_dynamics(problem, learner)
            verdicts[name] = dynamics.stability.verdict
            if verdicts[name] != self.verdict(name, member, discount=gamma):
                raise ResultsError(
                    f"the atlas says {self.verdict(name, member, discount=gamma)} of {name} where the general "
                    f"route says {verdicts[name]}; its files were changed, or this is a bug",
                    "atlas",
                )
            try:
                certificates[name] = dynamics.certificate()
            except MathematicalError:  # a marginal verdict without the eigenvalue 0 has none
                continue
            assert check_certificate(certificates[name], problem, learner)
        return Found(problem, verdicts, certificates, int(self._problems[member]))

    def __str__(self) -> str:
        lines = []
        for gamma in self.discounts:
            lines.append(f"{len(self):,} problems at discount {gamma}")
            for name, counts in self.table(discount=gamma).items():
                told = ", ".join(f"{n:,} {word}" for word, n in counts.items() if n)
                lines.append(f"  {name}: {told}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        f = self.family
        kind = "on-policy" if f.on_policy else "off-policy"
        return (
            f"Atlas({len(self):,} problems, {f.states} states, {f.features} features up to {f.largest}, "
            f"{kind}, discount {', '.join(self.discounts)}; {', '.join(self.learners)})"
        )


def discount_text(discount: Any) -> str:
    """The discount exactly."""
    gamma = exactify(parse_discount(discount))
    if isinstance(gamma, sp.Basic):
        raise KindError(f"the discount is {gamma}; an atlas needs a number, such as '9/10'")
    return str(serial_number(gamma))
