"""GraphML through networkx: the graph of an MDP, for graph editors and for other graph tools.

Nodes are states, edges are outcomes with the attributes ``action``, ``probability``, ``reward``
and ``discount`` (1 where it is missing). A graph written here carries the rest of the model, as JSON text, in the
graph's attribute ``model``.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obliquetd.display import visible
from obliquetd.errors import ModelFileError
from obliquetd.formats.disk import fresh_file, read_bytes
from obliquetd.formats.explicit import check_read_back, label_text, text_label
from obliquetd.formats.format import WHOLE, Contents, Format, Reading
from obliquetd.formats.model import contents_from_dict, model_to_dict
from obliquetd.formats.strict_json import parse_json
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["FORMAT", "read_graphml", "write_graphml"]


def read_graphml(path: str | Path, reading: Reading) -> Contents:
    """What a GraphML file holds.

    Raises
    ------
    ModelFileError
        Where the file is no GraphML, or an edge lacks an attribute.
    """
    file, content = Path(path), read_bytes(path)
    try:
        import networkx as nx

        graph = nx.read_graphml(io.BytesIO(content), force_multigraph=True)
    except Exception as error:  # networkx and expat raise a dozen kinds for broken files
        raise ModelFileError(f"{file} is no GraphML: {str(error)[:200]!r}") from None
    if not graph.is_directed():
        raise ModelFileError(f"{file} is an undirected graph; expected edgedefault='directed'")
    names = {node: _name(node, data) for node, data in graph.nodes(data=True)}
    rows = []
    for s, t, key, data in graph.edges(keys=True, data=True):
        for needed in ("probability", "reward"):
            if needed not in data:
                raise ModelFileError(f"{file}: the edge {s!r} -> {t!r} has no attribute {needed!r}")
        numbers = [data["probability"], data["reward"], data.get("discount", 1)]
        action = _json(text_label(str(data.get("action", key))))
        rows.append([names[s], action, names[t], *numbers])
    model: dict[str, Any] = {"states": list(names.values())}
    if "model" in graph.graph:
        model = parse_json(str(graph.graph["model"]), f"{file}: its attribute 'model'")
        if not isinstance(model, dict):
            raise ModelFileError(f"{file}: its attribute 'model' is no JSON object")
    return contents_from_dict({**model, "transitions": rows}, reading)


def _name(node: Any, data: dict[str, Any]) -> Any:
    return _json(text_label(str(data.get("state", node))))


def _json(label: Any) -> Any:
    """A label the way JSON has it: tuples as lists."""
    return [_json(x) for x in label] if isinstance(label, tuple) else label


def write_graphml(problem: PolicyEvaluation, path: str | Path) -> list[Path]:
    """Write the graph with the rest of the model; exact numbers are text and come back exact.

    Raises
    ------
    InputError
        Where the file cannot be written, or a label would not be read back.
    """
    data = model_to_dict(problem)
    check_read_back(problem.mdp.states, "states", "a GraphML file")
    check_read_back(problem.mdp.actions, "actions", "a GraphML file")
    import networkx as nx  # late: it is slow to load, and most uses of the package do without it

    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    index = {json.dumps(s): f"s{i}" for i, s in enumerate(data["states"])}
    for s, node in zip(data["states"], index.values(), strict=True):
        graph.add_node(node, state=label_text(s), label=visible(s))
    for s, a, t, p, r, d in data.pop("transitions"):
        graph.add_edge(
            index[json.dumps(s)], index[json.dumps(t)], action=label_text(a), probability=p,
            reward=r, discount=d, label=f"{visible(a)}: {p}",
        )  # fmt: skip
    graph.graph["model"] = json.dumps(data)
    with fresh_file(path) as file:
        nx.write_graphml(graph, file)
    return [Path(path)]


FORMAT = Format(
    ".graphml",
    "a graph of outcomes, for graph editors",
    read=read_graphml,
    write=write_graphml,
    holds=WHOLE,
)
