"""A real browser, for the tests that look at pages: the fixture ``browser``, and how light its colours are."""

import os
import shutil

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run", "--disable-quic"]  # fmt: skip
LIGHTNESS = """element => {
  const of = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  return [of(getComputedStyle(element).color), of(getComputedStyle(element).backgroundColor)];
}"""


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        if "browser" in os.environ.get("OBLIQUETD_NEEDS", ""):
            pytest.fail("no Chromium is installed, and OBLIQUETD_NEEDS asks for it")
        pytest.skip("needs Chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
