"""A corpus of broken files: one clear error each, never a traceback, never a hang."""

import io
import time
import zipfile

import numpy as np
import pytest

from obliquetd import load_model, save_model
from obliquetd.domains import two_state
from obliquetd.errors import ObliqueTDError


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


P, R = np.array([[[0.5, 0.5], [0, 1]]]), np.array([1.0, 0.0])


def huge_npz():
    """A header that announces a petabyte."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 100000, 1000), }"
    header += b" " * (118 - len(header)) + b"\n"
    body = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("P.npy", body)
        archive.writestr("R.npy", body)
    return file.getvalue()


GRAPH = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="p" for="edge" attr.name="probability" attr.type="{type}"/>'
    '<key id="r" for="edge" attr.name="reward" attr.type="string"/>'
    '<graph edgedefault="{edges}"><node id="s"/><edge source="s" target="{target}">{data}</edge></graph></graphml>'
)
FULL = '<data key="p">1</data><data key="r">0</data>'


def graphml(kind="string", edges="directed", target="s", data=FULL):
    return GRAPH.format(type=kind, edges=edges, target=target, data=data).encode()


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaaaaaaaaaaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 20}">' for k in range(12))
    + "]><graphml>&m;</graphml>"
).encode()

DRN = (
    "@type: MDP\n@parameters\n\n@reward_models\nr\n@nr_states\n2\n@nr_choices\n2\n@model\n"
    "state 0 [0] init\n\taction a [1]\n\t\t1 : 1\nstate 1 [0]\n\taction a [0]\n\t\t0 : 1\n"
)
TRA = "2 2 3\n0 0 0 1/2 a\n0 0 1 1/2 a\n1 0 0 1 b\n"
CSV = "state,action,next_state,reward\n0,a,1,1\n1,a,0,0\n"

CORPUS = {
    "empty.npz": b"",
    "text.npz": b"hello",
    "truncated.npz": npz(P=P, R=R)[:200],
    "no R.npz": npz(P=P),
    "unknown array.npz": npz(P=P, R=R, oops=R),
    "flat P.npz": npz(P=R, R=R),
    "ragged shapes.npz": npz(P=P, R=np.ones((3, 3))),
    "nan.npz": npz(P=np.where(P == 0.5, np.nan, P), R=R),
    "infinite reward.npz": npz(P=P, R=R / np.array([0.0, 1.0]) if False else np.array([np.inf, 0])),
    "objects.npz": npz(P=np.array([[["x", "y"], ["1", "2"]]], dtype="U3"), R=R),
    "pickle.npz": npz(P=np.array([[[1, object()]]], dtype=object), R=R),
    "policy shape.npz": npz(P=P, R=R, policy=np.ones((3, 3))),
    "policy index.npz": npz(P=P, R=R, policy=np.array([0, 7])),
    "rows.npz": npz(P=P * 2, R=R),
    "two names.npz": npz(P=P, R=R, gamma=0.5, discount=0.5),
    "discounts.npz": npz(P=P, R=R, gamma=np.array([0.5, 0.5])),
    "broken own.npz": npz(model="{", state=R),
    "own indices.npz": npz(
        model='{"states": ["s"], "actions": ["a"]}', state=[0], action=[0], next_state=[9],
        probability=[1.0], reward=[0.0], own_discount=[1.0],
    ),
    "petabyte.npz": huge_npz(),
    "empty.graphml": b"",
    "text.graphml": b"hello",
    "truncated.graphml": graphml()[:150],
    "undirected.graphml": graphml(edges="undirected"),
    "no probability.graphml": graphml(data='<data key="r">0</data>'),
    "wrong type.graphml": graphml(kind="double", data='<data key="p">x</data><data key="r">0</data>'),
    "nan.graphml": graphml(kind="double", data='<data key="p">NaN</data><data key="r">0</data>'),
    "unknown key.graphml": graphml(data='<data key="zz">0</data>'),
    "no graph.graphml": b"<graphml/>",
    "half.graphml": graphml(data='<data key="p">1/2</data><data key="r">0</data>'),
    "deep.graphml": b"<a>" * 50_000,
    "entities.graphml": BOMB,
    "html.graphml": b"<html><body/></html>",
    "empty.drn": b"",
    "no model.drn": DRN.split("@model")[0].encode(),
    "no type.drn": DRN.replace("@type: MDP", "@type: ").encode(),
    "continuous.drn": DRN.replace("MDP", "CTMC").encode(),
    "truncated.drn": DRN[: DRN.index("state 1")].encode(),
    "text first.drn": b"hello\n" + DRN.encode(),
    "gap.drn": DRN.replace("state 1", "state 2").encode(),
    "target.drn": DRN.replace("0 : 1", "7 : 1").encode(),
    "nan.drn": DRN.replace("0 : 1", "0 : nan").encode(),
    "zero division.drn": DRN.replace("0 : 1", "0 : 1/0").encode(),
    "sum.drn": DRN.replace("0 : 1", "0 : 1/2").encode(),
    "huge.drn": DRN.replace("0 : 1", "0 : 1e999999999").encode(),
    "power.drn": DRN.replace("0 : 1", "0 : 9**9**9**9").encode(),
    "two rewards.drn": DRN.replace("\nr\n", "\nr q\n").encode(),
    "two reward numbers.drn": DRN.replace("[1]", "[1, 2]").encode(),
    "no colon.drn": DRN.replace("0 : 1", "0 1").encode(),
    "action twice.drn": DRN.replace("\t\t0 : 1", "\t\t0 : 1\n\taction a [0]\n\t\t0 : 1").encode(),
    "target twice.drn": DRN.replace("\t\t0 : 1", "\t\t0 : 1\n\t\t0 : 1").encode(),
    "outcome first.drn": DRN.replace("state 0 [0] init\n", "").encode(),
    "names.drn": b"// obliquetd names: [1\n" + DRN.encode(),
    "binary.drn": b"\xff\xfe",
    "empty.tra": b"",
    "words.tra": b"a b c\n",
    "header.tra": b"1 2 3 4\n",
    "count.tra": TRA.replace("2 2 3", "2 2 4").encode(),
    "index.tra": TRA.replace("1 0 0 1 b", "1 0 5 1 b").encode(),
    "negative.tra": TRA.replace("1 0 0 1 b", "1 0 -1 1 b").encode(),
    "nan.tra": TRA.replace("1 0 0 1 b", "1 0 0 NaN b").encode(),
    "sum.tra": TRA.replace("0 0 1 1/2 a", "0 0 1 1/3 a").encode(),
    "fields.tra": TRA.replace("1 0 0 1 b", "1 0 0").encode(),
    "twice.tra": TRA.replace("0 0 1 1/2 a", "0 0 0 1/2 a").encode(),
    "names.tra": TRA.replace("0 0 1 1/2 a", "0 0 1 1/2 z").encode(),
    "states.tra": b"99999999999999 1 1\n0 0 0 1\n",
    "zero states.tra": b"0 0 0\n",
    "huge.tra": TRA.replace("1 0 0 1 b", "1 0 0 " + "9" * 200_000).encode(),
    "gap.tra": TRA.replace("1 0 0 1 b", "1 3 0 1 b").encode(),
    "comments.tra": b"# nothing\n# else\n",
    "storm empty.tra": b"dtmc\n",
    "storm words.tra": b"mdp\na b c 1\n",
    "storm short.tra": b"mdp\n0 0\n",
    "storm huge.tra": b"dtmc\n0 99999999999 1\n",
    "empty.csv": b"",
    "heading only.csv": b"state,action,next_state,reward\n",
    "no reward.csv": b"state,action,next_state\n0,a,1\n",
    "unknown column.csv": CSV.replace("reward", "reward,oops").encode(),
    "column twice.csv": b"state,action,next_state,reward,state\n0,a,1,1,0\n",
    "fields.csv": CSV.encode() + b"0,a\n",
    "reward.csv": CSV.replace("1,a,0,0", "1,a,0,nan").encode(),
    "done.csv": b"state,action,next_state,reward,done\n0,a,1,1,maybe\n",
    "never left.csv": b"state,action,next_state,reward\n0,a,1,1\n",
    "jump.csv": CSV.encode() + b"1,a,0,0\n",
    "quote.csv": b'state,action,next_state,reward\n"0,a,1,1\n',
    "binary.csv": b"state,action,next_state,reward\n\xff\xfe,a,1,1\n",
    "nul.csv": b"state,action,next_state,reward\n0,a,0,\x00\n",
    "list.json": b"[1, 2]",
    "deep.json": b"[" * 100_000,
    "duplicate.json": b'{"discount": 1, "discount": 1}',
    "unknown.json": b'{"oops": 1}',
    "nan.json": b'{"transitions": [["s", "a", "s", 1, NaN]]}',
    "huge.json": b'{"transitions": [["s", "a", "s", 1, "9**9**9**9"]]}',
    "types.json": b'{"transitions": [["s", "a", "s", {"p": 1}, 0]]}',
    "deep label.json": b'{"transitions": [[' + b"[" * 400 + b"]" * 400 + b', "a", "s", 1, 0]]}',
    "no ending": b"{}",
}  # fmt: skip


@pytest.mark.parametrize("name", CORPUS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_one_clear_error(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(CORPUS[name])
    start = time.monotonic()
    with pytest.raises(ObliqueTDError) as caught:
        load_model(path).v_pi  # noqa: B018
    assert time.monotonic() - start < 10
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 600


@pytest.mark.parametrize("name", ["x.srew", "x.trew", "x.lab", "x.sta"])
@pytest.mark.parametrize(
    "content", [b"", b"2 1\n", b"2 2 1\nhello\n", b"2 1\n9 9 9 9\n", b"2 1\n0 nan\n", b"2 1\n0 0 5 1\n", b"\xff\n"]
)  # fmt: skip
def test_companions(name, content, tmp_path):
    """Broken files beside a good .tra file; a heading alone says nothing, which is fine for rewards."""
    (tmp_path / "x.tra").write_text(TRA)
    (tmp_path / name).write_bytes(content)
    if content == b"2 1\n" and name != "x.lab":
        load_model(tmp_path / "x.tra", discount="1/2")
        return
    with pytest.raises(ObliqueTDError, match=name.replace(".", r"\.")):
        load_model(tmp_path / "x.tra", discount="1/2")


@pytest.mark.parametrize("content", [b"#DECLARATION\nx\n0 x\n", b"#DECLARATION\nx\n#END\n9 x\n"])
def test_labels_of_storm(content, tmp_path):
    (tmp_path / "x.tra").write_text(TRA)
    (tmp_path / "x.lab").write_bytes(content)
    with pytest.raises(ObliqueTDError, match=r"x\.lab"):
        load_model(tmp_path / "x.tra")


def test_the_good_ones_are_good(tmp_path):
    """The templates that the corpus breaks can be read when whole."""
    for name, content in (("g.graphml", graphml()), ("m.drn", DRN.encode()), ("m.tra", TRA.encode()),
                          ("m.csv", CSV.encode()), ("m.npz", npz(P=P, R=R))):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        load_model(tmp_path / name, discount="1/2")


@pytest.mark.parametrize("suffix", [".json", ".npz", ".graphml", ".tra", ".drn"])
def test_places_that_cannot_be_written(suffix, tmp_path):
    with pytest.raises(ObliqueTDError, match="cannot write"):
        save_model(two_state(), tmp_path / "no" / f"m{suffix}")
