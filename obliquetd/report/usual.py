"""Formulas in their usual form: signs, factors and roots as a person writes them."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.display import ShortLatex, latex_of

__all__ = ["LONGEST_FORMULA", "UsualLatex", "split_roots", "turned", "usual_latex"]

LONGEST_FORMULA = 80
"""Characters up to which a formula stands on a page as it is."""


class UsualLatex(ShortLatex):
    r"""Fractions without a minus that a factor can take: 1 - gamma below the line, never -(gamma - 1).

    Each factor has a positive constant term, and one that ends in a minus begins with its constant.

    Examples
    --------
    >>> p = sp.Symbol("p")
    >>> usual_latex(sp.factor(-(p + 1) / (p**2 + 4 * p - 7)))
    '\\frac{p + 1}{7 - 4 p - p^{2}}'
    >>> usual_latex(sp.factor(-(p + 2) / (2 * (p - 1))))
    '\\frac{p + 2}{2 \\left(1 - p\\right)}'
    """

    def _print_Mul(self, expr: Any) -> str:
        sign, factors = turned(expr)
        if factors is None:
            return str(super()._print_Mul(expr))
        coefficient, rest = factors
        shown = [] if abs(coefficient) == 1 and rest else [abs(coefficient)]
        product = (
            sp.Mul(*shown, *rest, evaluate=False) if len(shown + rest) > 1 else (*shown, *rest)[0]
        )
        text = (
            str(super()._print_Mul(product))
            if isinstance(product, sp.Mul)
            else self._print(product)
        )
        if sign * coefficient >= 0:
            return text
        return rf"- \left({text}\right)" if isinstance(product, sp.Add) else f"- {text}"

    def _print_acos(self, expr: Any) -> str:
        return rf"\operatorname{{arccos}}\left({self._print(expr.args[0])}\right)"

    def _print_ComplexRootOf(self, expr: Any) -> str:
        return str(self._print(sp.N(expr, 6)))

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        terms = self._as_ordered_terms(expr, order=order)
        if terms[0].could_extract_minus_sign() and not terms[-1].could_extract_minus_sign():
            terms = terms[::-1]
        text = ""
        for k, term in enumerate(terms):
            minus = term.could_extract_minus_sign()
            body = self._print(-term if minus else term)
            if self._needs_add_brackets(-term if minus else term):
                body = rf"\left({body}\right)"
            text += (" - " if k else "- ") * minus + (" + " if k and not minus else "") + body
        return text


def turned(expr: Any) -> tuple[int, Any]:
    """The sign that the factors give off as each takes a positive constant term; None where none does."""
    coefficient, rest = expr.as_coeff_mul()
    sign, factors, changed = 1, [], False
    for factor in rest:
        base, power = factor.as_base_exp()
        if base.is_Add and power.is_Integer and _ends_in_minus(base):
            base, changed = -base, True
            sign *= -1 if power % 2 else 1
            factors.append(base if power == 1 else sp.Pow(base, power, evaluate=False))
        else:
            factors.append(factor)
    if not (changed and coefficient.is_Rational):
        return 1, None
    return sign, (coefficient, factors)


def _ends_in_minus(base: sp.Add) -> bool:
    constant = base.as_coeff_Add()[0]
    term = constant if constant else base.as_ordered_terms()[-1]
    return bool(term.could_extract_minus_sign())


def usual_latex(value: Any) -> str:
    r"""LaTeX in the usual form.

    Examples
    --------
    >>> g = sp.Symbol("gamma")
    >>> usual_latex(sp.sqrt((g + 3) / (5 - 6 * g) ** 2) / 2)
    '\\frac{\\sqrt{\\gamma + 3}}{2 \\left|{5 - 6 \\gamma}\\right|}'
    """
    if isinstance(value, sp.MatrixBase):
        value = value.applyfunc(split_roots)
    elif isinstance(value, sp.Basic):
        value = split_roots(value)
        if not value.free_symbols and value.has(sp.ComplexRootOf):
            return _algebraic(value)
    return latex_of(value, UsualLatex)


def _algebraic(value: Any) -> str:
    """A number that is made of roots of polynomials: a letter for each, its decimal and its equation."""
    roots = sorted(value.atoms(sp.ComplexRootOf), key=sp.default_sort_key)
    letters = sp.symbols("x y z u v w")[: len(roots)]
    if len(roots) > len(letters):
        return latex_of(value, UsualLatex)
    told = []
    for root, letter in zip(roots, letters, strict=True):
        near = latex_of(sp.N(root, 6), UsualLatex)
        equation = latex_of(root.poly.as_expr().subs(root.poly.gen, letter), UsualLatex)
        if len(str(root.expr)) > LONGEST_FORMULA:
            told.append(rf"{letter} \approx {near}\ \text{{of degree {root.poly.degree()}}}")
        else:
            told.append(rf"{letter} \approx {near}\ \text{{and}}\ {equation} = 0")
    formula = latex_of(value.xreplace(dict(zip(roots, letters, strict=True))), UsualLatex)
    return rf"{formula}\ \text{{where}}\ " + r",\ ".join(told)


def split_roots(expression: Any) -> Any:
    """sqrt(a b^2) as |b| sqrt(a), since symbols are real, and sqrt(2/b) as sqrt(2)/sqrt(b); only shown."""
    if not expression.free_symbols:
        return expression
    return expression.replace(
        lambda e: e.is_Pow and abs(e.exp) == sp.Rational(1, 2) and bool(e.free_symbols), _split_root
    )


def _split_root(root: Any) -> Any:
    power = root.exp
    outside, above, below = sp.Integer(1), sp.Integer(1), sp.Integer(1)
    for factor in sp.Mul.make_args(root.base):
        base, k = factor.as_base_exp()
        if k.is_Integer and k % 2 == 0 and base.free_symbols:
            size = sp.Abs(-base if base.is_Add and _ends_in_minus(base) else base, evaluate=False)
            outside *= size ** (2 * power * (k // 2))
        elif k.is_negative:
            below *= 1 / factor
        else:
            above *= factor
    if above.free_symbols and below != 1:
        return outside * sp.Pow(above / below, power, evaluate=False)
    parts = [x**sign for x, sign in ((above, power), (below, -power)) if x != 1]
    return sp.Mul(outside, *parts)
