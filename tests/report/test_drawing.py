"""Pictures of a report that depend on how many symbols its model has."""

from types import SimpleNamespace

from obliquetd.domains import two_state, w_to_2w
from obliquetd.learners import ETD, TD
from obliquetd.report.drawing import MAKERS


def regions(problem, *own):
    return MAKERS["regions"](SimpleNamespace(problem=problem, learners=()), own)


def test_a_model_in_two_symbols_has_its_plane():
    found = regions(w_to_2w("gamma", "epsilon"))
    assert found.heading == "Where TD is stable"
    assert "\\" not in found.about
    assert found.about.endswith("TD; boundary: 4 epsilon gamma - 6 gamma + 5 = 0.")
    wide = two_state("gamma").replace(features=[["a", 1], ["2*a", 0]])
    assert regions(wide, ETD()).heading == "Where ETD is stable"


def test_one_symbol_has_bars():
    assert "TD: [0, 5/6)" in regions(two_state("gamma"), TD(lam="1/2")).about


def test_a_symbol_in_the_rewards_leaves_the_bars():
    about = regions(two_state("gamma", reward="r")).about
    assert about.startswith("Stable, whatever r may be, for gamma in: TD: [0, 5/6)")
