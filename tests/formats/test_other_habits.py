"""Files as other programs write them: each is refused with a way out, and the way out works."""

import json

import pytest

from obliquetd import load_model
from obliquetd.errors import ModelFileError
from obliquetd.formats import read_log

ROWS = [("A", "x", "B", 1), ("B", "x", "A", 2)]
HEAD = ("state", "action", "next_state", "reward")
V = {"A": 8 / 3, "B": 10 / 3}


def text(rows, parted=","):
    return "".join(parted.join(map(str, row)) + "\n" for row in rows)


def values(source):
    return {s: float(v) for s, v in load_model(source, discount="1/2").values.items()}


def told(path):
    with pytest.raises(ModelFileError) as caught:
        load_model(path, discount="1/2")
    return str(caught.value)


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_of_pandas(tmp_path, name):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "log.csv"
    frame = pandas.DataFrame(ROWS, columns=HEAD)
    frame.to_csv(path, index_label=name or None)
    assert "to_csv(file, index=False)" in told(path)
    frame.to_csv(path, index=False)
    assert values(path) == pytest.approx(V)


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_marks_between_fields(tmp_path, mark):
    path = tmp_path / "log.csv"
    path.write_text(text([HEAD, *ROWS], mark))
    assert f"columns that {mark!r} parts; write it with commas" in told(path)
    path.write_text(path.read_text().replace(mark, ","))
    assert values(path) == pytest.approx(V)


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".json"])
def test_json_a_line(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"log{ending}"
    path.write_text("".join(json.dumps(dict(zip(HEAD, row, strict=True))) + "\n" for row in ROWS))
    assert "obliquetd.formats.read_log(pandas.read_json(file, lines=True))" in told(path)
    assert values(read_log(pandas.read_json(path, lines=True))) == pytest.approx(V)


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_other_codings(tmp_path, coding):
    path = tmp_path / "log.csv"
    whole = text([HEAD, *ROWS]).replace("A", "Ä")
    mark = "" if coding in ("utf-16", "latin-1") else "\ufeff"
    path.write_bytes((mark + whole).encode(coding))
    assert ("UTF-8" if coding == "latin-1" else "is UTF-16 text; expected UTF-8") in told(path)
    path.write_text(path.read_text(coding).lstrip("\ufeff"), "utf-8")
    assert values(path) == pytest.approx({"Ä": V["A"], "B": V["B"]})
