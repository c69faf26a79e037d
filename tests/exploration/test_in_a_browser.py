"""The page in Chromium: sliders are moved, and what is shown is compared with exact numbers."""

import random
import re
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction

import pytest
import sympy as sp

from tests.browser import LIGHTNESS
from tests.exploration.conftest import exact_values, exploration
from tests.report.test_page import Checker

PLACES = 20
MOVE = """places => new Promise(done => {
  places.forEach((i, v) => {
    const slider = document.getElementById('slider-' + v);
    slider.value = i;
    slider.dispatchEvent(new Event('input', {bubbles: true}));
  });
  requestAnimationFrame(() => requestAnimationFrame(() => done(document.documentElement.dataset.at)));
})"""
READ = """() => [...document.querySelectorAll('.learner')].map(card => {
  const numbers = key => [...card.querySelectorAll(`[data-key="${key}"] .number`)].map(e => [e.dataset.exact, e.dataset.decimal]);
  return {name: card.querySelector('h3').firstChild.textContent.trim(), verdict: card.querySelector('.verdict').textContent,
          why: card.querySelector('.why').textContent, text: card.innerText,
          roots: numbers('roots'), theta: numbers('theta'), error: numbers('error'), projected: numbers('projected')};
})"""


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """Pages that are open, by name; each says nothing on the console and asks for nothing."""
    folder, pages = tmp_path_factory.mktemp("explore"), {}

    def page_of(name):
        if name not in pages:
            page = pages[name] = browser.new_page(viewport={"width": 1280, "height": 900})
            page.said, page.asked = [], []
            page.on("console", lambda message: page.said.append(message.text))
            page.on("pageerror", lambda error: page.said.append(str(error)))
            page.on("request", lambda request: page.asked.append(request.url))
            page.goto(exploration(name).save(folder / f"{name}.html").as_uri())
        return pages[name]

    yield page_of
    for page in pages.values():
        assert page.said == []
        assert all(url.startswith("file:") for url in page.asked)
        page.close()


def six_digits(number):
    """A real number to six digits, as the page writes it, from fifty digits of sympy."""
    if number.is_Rational:
        with localcontext(Context(prec=3000)):
            exact = Decimal(int(number.p)) / Decimal(int(number.q))
    else:
        exact = Decimal(str(sp.N(number, 50)))
    return Context(prec=6, rounding=ROUND_HALF_UP).create_decimal(exact)


def same(shown, number):
    """Whether what is shown, exactly and in decimals, is the number."""
    exact, decimal = shown
    assert Decimal(decimal) == six_digits(number), (shown, number)
    if re.fullmatch(r"-?\d+(/\d+)?", exact):
        assert number.is_Rational
        assert Fraction(exact) == Fraction(int(number.p), int(number.q))
    elif exact:
        assert sp.simplify(sp.sympify(exact, rational=True) - number) == 0
    return True


def roots_of(p):
    x = sp.Dummy("x")
    return (
        sp.Poly([sp.sympify(str(c)) for c in p], x).all_roots(multiple=True)
        if len(p) <= 3
        else None
    )


def check_place(page, found, places):
    """Every number of every learner at a place."""
    assert page.evaluate(MOVE, places) == ",".join(map(str, places))
    if not page.locator("#refused").is_hidden():
        return False
    expected, _ = exact_values(found, places)
    for card in page.evaluate(READ):
        row = expected[card["name"]]
        if "case distinction" in card["why"]:
            return False
        assert "contradict" not in card["why"]
        assert card["verdict"] == row["verdict"], (card, row)
        if row["theta"] is None:
            assert card["theta"] == []
            continue
        assert len(card["theta"]) == len(row["theta"])
        assert all(same(*pair) for pair in zip(card["theta"], row["theta"], strict=True))
        assert same(card["error"][0], row["error"])
        assert same(card["projected"][0], row["projected"])
        check_roots(card, row["p"])
    return True


def check_roots(card, p):
    roots = roots_of(p)
    if roots is None:
        near = sp.Poly([sp.sympify(str(c)) for c in p], sp.Dummy("x")).nroots(n=40, maxsteps=500)
        roots = [sp.re(z) if abs(sp.im(z)) < 1e-30 else z for z in near]
    shown = {Decimal(d) for _, d in card["roots"]}
    parts = {six_digits(sp.re(z)) for z in roots} | {
        abs(six_digits(sp.im(z))) for z in roots if sp.im(z) != 0
    }
    assert shown == parts


@pytest.mark.parametrize(
    "name",
    [
        "two",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("plane", "chance", "reward", "four")),
    ],
)
def test_numbers_are_exact_at_random_places(opened, name):
    found, page, numbers = exploration(name), opened(name), random.Random(name)
    shown = 0
    for _ in range(PLACES):
        shown += check_place(page, found, [numbers.randrange(len(s.places)) for s in found.sliders])
    assert shown > 0.8 * PLACES


def test_at_the_break_point_the_line_is_parallel_and_the_point_is_gone(opened):
    found, page = exploration("two"), opened("two")
    at = found.sliders[0].places.index(sp.Rational(5, 6))
    seen = []
    for place in (at - 12, at, at + 12):
        assert check_place(page, found, [place])
        lines = page.locator("#picture").evaluate(
            "e => [e.querySelector('.span').getAttribute('d'), e.querySelector('.projection').getAttribute('d'), e.querySelector('.away').textContent]"
        )
        slopes = []
        for path in lines[:2]:
            x0, y0, x1, y1 = map(float, re.findall(r"-?[\d.]+", path))
            slopes.append((y0 - y1) / (x1 - x0))
        seen.append((slopes[1] - slopes[0], lines[2]))
    (before, left), (parallel, there), (after, right) = seen
    assert before > 0.01 > abs(parallel)
    assert after < -0.01
    assert ("↗" in left, "parallel to the span" in there, "↙" in right) == (True, True, True)
    page.get_by_role("button", name="5/6, where TD changes").click()
    page.wait_for_function(f"document.documentElement.dataset.at === '{at}'")
    assert page.locator("#value-0").inner_text() == "5/6 ≈ 0.8333"


def test_sixty_frames_a_second(opened):
    """A redraw takes far less than the 16 ms between two frames."""
    page, count = opened("two"), len(exploration("two").sliders[0].places)
    times = []
    for k in range(40):
        page.evaluate(MOVE, [k * count // 40])
        times.append(float(page.evaluate("document.documentElement.dataset.redraw")))
    times.sort()
    print(f"a redraw takes {times[20]:.1f} ms, nine of ten at most {times[36]:.1f} ms")
    assert times[36] < 16, times[30:]


@pytest.mark.slow
def test_sliders_by_the_keyboard(opened):
    page = opened("plane")
    page.evaluate(MOVE, [500, 500])
    slider = page.get_by_role("slider", name="γ")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.documentElement.dataset.at === '501,500'")
    assert slider.get_attribute("aria-valuetext") == "gamma = 501/1000 = 0.501"
    page.wait_for_function(
        "document.getElementById('status').textContent.includes('gamma = 501/1000')"
    )
    page.get_by_label("ETD lam=l", exact=True).check()
    assert page.locator('[data-map="2"]').is_visible()
    assert page.locator('[data-map="0"]').is_hidden()


def test_the_map_and_the_verdict_agree(opened):
    """The colour of the map under the cross is the verdict of the card."""
    page, numbers = opened("plane"), random.Random(0)
    page.get_by_label("TD lam=l", exact=True).check()
    for _ in range(12):
        at = [numbers.randrange(1000), numbers.randrange(1000)]
        page.evaluate(MOVE, at)
        on = page.evaluate(
            """() => { const c = document.querySelector('[data-map="0"] .here'), svg = c.ownerSVGElement, p = svg.createSVGPoint();
            p.x = c.cx.baseVal.value; p.y = c.cy.baseVal.value;
            return [...svg.querySelectorAll('.stable, .unstable, .none')].filter(x => x.isPointInFill(p)).map(x => x.className.baseVal); }"""
        )
        verdict = page.evaluate(READ)[0]["verdict"]
        assert on in ([verdict], []) or len(on) == 2  # on a boundary


@pytest.mark.slow
def test_no_model_no_numbers(opened):
    """Beyond 1 the chance is none; and where a case distinction changes, a learner has no formula."""
    page, found = opened("beyond"), exploration("beyond")
    places = found.sliders[0].places
    for i in (0, 10, places.index(1), places.index(1) + 1, len(places) - 1):
        page.evaluate(MOVE, [i])
        refused = places[i] > 1
        assert page.locator("#refused").is_visible() == refused
        shown = "".join(page.locator(".learner dd").all_inner_texts())
        assert bool(re.search(r"\d", shown)) != refused
    two = opened("reward")
    half = [s.places.index(sp.Rational(1, 2)) for s in exploration("reward").sliders]
    two.evaluate(MOVE, half)
    cards = {card["name"]: card for card in two.evaluate(READ)}
    assert "case distinction" in cards["SETD"]["why"]
    assert cards["SETD"]["verdict"] == "undefined"
    assert cards["TD"]["theta"] == [["3/4", "0.75"]]


def rationals(count):
    numbers = random.Random(count)
    for _ in range(count):
        digits = numbers.choice([1, 3, 8, 40, 300])
        n, d = (
            numbers.randrange(-(10**digits), 10**digits),
            numbers.randrange(1, 10 ** numbers.choice([1, 3, 40, 320])),
        )
        yield Fraction(n, d)
    yield from (
        Fraction(0),
        Fraction(999999.5),
        Fraction(-9999995, 10),
        Fraction(1, 8),
        Fraction(10**9),
    )


def test_decimals_are_rounded_correctly(opened):
    page, all_ = opened("two"), list(rationals(200))
    shown = page.evaluate(
        "all => all.map(x => obliquetd.rounded(x))",
        [f"{x.numerator}/{x.denominator}" for x in all_],
    )
    for text, x in zip(shown, all_, strict=True):
        assert Decimal(text) == six_digits(sp.Rational(x.numerator, x.denominator)), x
    squares = [abs(x) for x in all_]
    roots = page.evaluate(
        "all => all.map(x => obliquetd.rootOf(x))",
        [f"{x.numerator}/{x.denominator}" for x in squares],
    )
    for text, x in zip(roots, squares, strict=True):
        true = sp.sqrt(sp.Rational(x.numerator, x.denominator), evaluate=False)
        if "/" in text:
            assert Fraction(text) ** 2 == x
        else:
            assert Decimal(text) == six_digits(true), x
    doubles = page.evaluate(
        "all => all.map(x => obliquetd.double(x))", [f"{x.numerator}/{x.denominator}" for x in all_]
    )
    for value, x in zip(doubles, all_, strict=True):
        if 1e-300 < abs(x) < 1e300:
            assert value == pytest.approx(float(x), rel=1e-15)


CASES = (
    [1, -2, 2, -1], [1, 0, 0, -2], [1, -6, 11, -6], [1, -3, 3, -1], [1, 0, 2, 0, 1], [1, 0, 0, 0], [1, -5, 6, 0],
    [1, "-2/3", "5/7", "-1/1000000", "3/11"], [1, 4, 6, 4, 1], [1, -10, "35.0001", -50, 24], [1, 0, 5, 0, 4],
    [1, -9, 33, -63, 66, -36, 8],
)  # fmt: skip
"""Simple roots, multiple ones, complex pairs, roots on the axis, zeros."""


@pytest.mark.parametrize("p", CASES, ids=str)
def test_digits_of_eigenvalues_are_proved(opened, p):
    """Each digit that is shown is right; where roots coincide fewer are shown, or the room around them."""
    exact = [sp.Rational(c) for c in p]
    shown = opened("two").evaluate("p => obliquetd.roots(p)", [str(c) for c in exact])
    factors = sp.Poly(exact, sp.Dummy("x")).factor_list()[1]
    roots = [complex(z) for f, times in factors for z in f.nroots(n=30) for _ in range(times)]
    assert len(shown) == len(roots)

    def near(text, value):
        middle, _, room = text.partition(" ± ")
        digits = len(re.sub(r"e.*|[-.]|^0+", "", middle).lstrip("0")) or 1
        slack = (
            float(room)
            if room
            else 0.5000001 * 10 ** -(digits - 1) * max(abs(float(middle)), 1e-30)
            if float(middle)
            else 1e-12
        )
        return abs(float(middle) - value) <= max(slack, 1e-12 if room else 0) + 1e-14

    for re_text, im_text in shown:
        assert any(near(re_text, z.real) and near(im_text, z.imag) for z in roots), (shown, roots)
    for z in roots:
        assert any(near(a, z.real) and near(b, z.imag) for a, b in shown), (shown, roots)


@pytest.mark.parametrize("p", CASES, ids=str)
def test_verdicts_of_polynomials(opened, p):
    from obliquetd.dynamics.stability import verdict_of

    exact = [sp.Rational(c) for c in p]
    found = opened("two").evaluate("p => obliquetd.verdict(p)", [str(c) for c in exact])
    true = verdict_of(exact)
    assert found == true or (found == "not stable" and true in ("marginal", "unstable"))


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (390, "dark"),
        *(
            pytest.param(w, s, marks=pytest.mark.slow)
            for w, s in ((390, "light"), (1280, "dark"), (1280, "light"))
        ),
    ],
)
def test_it_fits_and_follows_the_scheme(browser, tmp_path, width, scheme):
    for name in ("two", "plane"):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.goto(exploration(name).save(tmp_path / f"{name}.html").as_uri())
        page.wait_for_function("document.documentElement.dataset.sampled !== undefined")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        seen = "() => [...document.querySelectorAll('[hidden]')].filter(e => e.getClientRects().length).length"
        assert page.evaluate(seen) == 0  # what is not so is not said: "there is nothing to draw"
        ink, paper = page.locator("body").evaluate(LIGHTNESS)
        assert (ink > paper + 120) if scheme == "dark" else (paper > ink + 120)
        for slider in page.get_by_role("slider").all():
            box = slider.bounding_box()
            assert box["width"] > 200
            assert box["height"] >= 24
        page.close()


@pytest.mark.parametrize("name", ["two", "plane"])
def test_a_page_is_whole_accessible_and_alone(name):
    text = exploration(name).html
    head, _, rest = text.partition('<script type="application/json"')
    checker = Checker()
    checker.feed(head + rest[rest.rindex("</script>") + len("</script>") :])
    assert not checker.stack
    assert checker.headings[0] == 1
    assert checker.headings.count(1) == 1
    assert text.count('<input type="range"') == len(exploration(name).sliders)
    assert re.findall(r'<label for="slider-(\d)">', text) == [
        str(k) for k in range(len(exploration(name).sliders))
    ]
    assert "<b>states" not in text
    assert not re.search(r"(src|href)=\"(https?:)?//", text)
