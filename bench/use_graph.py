"""Write registry/matching/data/use-graph.onnx: the layers of universal-sentence-encoder-multilingual 3 for one text.

    python bench/use_graph.py    (needs the package onnx, which the product does not)

The package multiplies with float32, although each of its tensors has 256 values at most. Here each product takes them
as 8 bits (DynamicQuantizeMatMul); use-graph-float.onnx multiplies with float32 as the package does, for processors on
which sums of products of 8 bits may saturate. The graphs have no weights: registry/matching/use_model.py gives them
those of the package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onnx import TensorProto, helper

DATA = Path(__file__).resolve().parent.parent / "registry" / "matching" / "data"
# N-gram order, and the first column of its window among those of the widest one.
ORDERS = {2: 2, 3: 1, 5: 0}
WIDTH = 256
SHAPES = {
    "proj": (512, 3 * WIDTH),
    **{f"{w}_{n}": (n * WIDTH, WIDTH) for n in ORDERS for w in ("w1", "w2")},
    "cnn_W": (1280, 512),
    "d0": (512, 320),
    "d1": (320, 320),
    "d2": (320, 512),
    "d3": (512, 512),
    "p1": (512, 320),
    "p3": (320, 512),
}
BIASES = {
    **{f"{b}_{n}": WIDTH for n in ORDERS for b in ("b1", "b2")},
    "proj_b": 3 * WIDTH,
    "ln_g_all": 3 * WIDTH,
    "ln_b_all": 3 * WIDTH,
    "ln_g": 1280,
    "ln_b": 1280,
    "cnn_b": 512,
}


class Graph:
    """Nodes, with a name for the output of each."""

    def __init__(self, *, is_float: bool) -> None:
        self.is_float = is_float
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def multiply(self, x: str, weights: str, bias: str = "") -> str:
        if self.is_float:
            product = self.add("MatMul", x, weights)
            return self.add("Add", product, bias) if bias else product
        inputs = (x, weights, f"{weights}_scale", "", *([bias] if bias else []))
        return self.add("DynamicQuantizeMatMul", *inputs, domain="com.microsoft")

    def numbers(self, name: str, values: list[int]) -> str:
        self.tensors.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name


def build(*, is_float: bool) -> Graph:
    """From `tokens` (T, 512), their `window` (T, 6) with T for what is outside, `shrink` T ** -0.5, `grow` T ** 0.5."""
    g = Graph(is_float=is_float)
    # A product takes 8 bits of the whole of its input: with the rows of one length that is as if of each row.
    length = g.add("ReduceMax", g.add("Abs", "tokens"), axes=[1], keepdims=1)
    x = g.add("Mul", g.multiply(g.add("Div", "tokens", length), "proj"), length)
    x = g.add("LayerNormalization", g.add("Add", x, "proj_b"), "ln_g_all", "ln_b_all", axis=-1, epsilon=1e-12)
    split = [f"x{n}" for n in ORDERS]
    g.nodes.append(helper.make_node("Split", [x, g.numbers("sizes", [WIDTH] * 3)], split, axis=1))
    found = [_branch(g, f"x{n}", n, at) for n, at in ORDERS.items()]
    features = g.add("Concat", "tokens", *found, axis=1)
    features = g.add("LayerNormalization", features, "ln_g", "ln_b", axis=-1, epsilon=1e-12)
    total = g.add("ReduceSum", features, g.numbers("rows", [0]), keepdims=1)
    mean = g.add("Add", g.add("Mul", g.multiply(total, "cnn_W"), "shrink"), g.add("Mul", "cnn_b", "grow"))
    first = g.add("Relu", g.multiply(mean, "d0"))
    second = g.add("Relu", g.add("Add", g.multiply(mean, "p1"), g.multiply(first, "d1")))
    third = g.add("Relu", g.multiply(second, "d2"))
    out = g.add("Tanh", g.add("Add", g.multiply(second, "p3"), g.multiply(third, "d3")))
    g.nodes.append(helper.make_node("LpNormalization", [out], ["vector"], axis=-1, p=2))
    return g


def _branch(g: Graph, x: str, order: int, at: int) -> str:
    start, end = g.numbers(f"from{order}", [at]), g.numbers(f"to{order}", [at + order])
    window = g.add("Slice", "window", start, end, g.numbers(f"axis{order}", [1]))
    shape = g.numbers(f"shape{order}", [-1, order * WIDTH])
    for step in (1, 2):
        padded = g.add("Concat", x, "outside", axis=0)
        joined = g.add("Reshape", g.add("Gather", padded, window, axis=0), shape)
        x = g.add("Add", g.add("Relu", g.multiply(joined, f"w{step}_{order}", f"b{step}_{order}")), x)
    return x


def main() -> None:
    for name, is_float in (("use-graph", False), ("use-graph-float", True)):
        (DATA / f"{name}.onnx").write_bytes(_model(build(is_float=is_float)).SerializeToString())


def _model(g: Graph) -> Any:
    for name, shape in SHAPES.items():
        g.tensors.append(_external(name, TensorProto.FLOAT if g.is_float else TensorProto.INT8, shape))
        if not g.is_float:
            g.tensors.append(_external(f"{name}_scale", TensorProto.FLOAT, (shape[1],)))
    g.tensors += [_external(name, TensorProto.FLOAT, (size,)) for name, size in BIASES.items()]
    g.tensors.append(helper.make_tensor("outside", TensorProto.FLOAT, [1, WIDTH], [0.0] * WIDTH))
    inputs = [("tokens", TensorProto.FLOAT, ["T", 512]), ("window", TensorProto.INT64, ["T", 6])]
    inputs += [("shrink", TensorProto.FLOAT, [1]), ("grow", TensorProto.FLOAT, [1])]
    graph = helper.make_graph(
        g.nodes,
        "use",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, 512])],
        g.tensors,
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def _external(name: str, kind: int, shape: tuple[int, ...]) -> Any:
    """A tensor without its values; where they would be is never read."""
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "weights"
    return tensor


if __name__ == "__main__":
    main()
