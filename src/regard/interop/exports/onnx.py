"""The target ``onnx``: an encoder with its pooling and head in one graph, for onnxruntime.

    input_ids, attention_mask [, token_type_ids]  "batch sequence"    ->    logits or vector

Both axes are dynamic. The graph is traced, so what depends on a length in Python would silently be
fixed: settings of that kind are refused, and the comparison runs padded batches of many lengths.
"""

import json
import warnings
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers
import torch
from torch import Tensor, nn

from regard.files import write_whole
from regard.interop.exports.hf.tokenizer import build_tokenizer
from regard.interop.exports.hf.tokenizer import find_obstacles as find_tokenizer_obstacles
from regard.interop.exports.target import Fit, Row, Target, Texts
from regard.run import Run
from regard.tasks.foreign import Export, Obstacle

GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
OPSET = 18
EXAMPLE = (2, 5)
"""Texts and tokens that the graph is traced with."""
AT_ONCE = 5  # compared texts per padded batch


class _Rule(NamedTuple):
    """The values of a setting that can be traced."""

    setting: str
    values: tuple[Any, ...]


RULES = (
    _Rule("model.mixer.kind", ("attention", "convolution")),
    _Rule("model.position.kind", ("sinusoidal", "learned", "none")),
    _Rule("model.embedding.ngrams", (1,)),
    _Rule("model.documents.read", ("whole",)),
    _Rule("model.head.pooling", ("cls", "first", "mean", "max", "mean-max")),
)
OF_ATTENTION = (
    _Rule("model.mixer.window", (None,)),
    _Rule("model.mixer.score", ("scaled-dot", "additive")),
    _Rule("model.mixer.select", ("softmax",)),
)


def fits(run: Run) -> Fit | list[Obstacle]:
    """Return how a run fits, or the settings in the way."""
    shape, recipe = run.task.export(), run.recipe
    if shape.kind != "encoder":
        reason = "only encoders are written as graphs, not models that generate or are causal"
        remedy = "Export a model that generates to ctranslate2, or leave model.causal out."
        return [Obstacle("task", recipe.task, reason, remedy)]
    attends = recipe.model.mixer.kind == "attention"
    obstacles = [
        _refuse(rule, attrgetter(rule.setting)(recipe))
        for rule in (*RULES, *(OF_ATTENTION if attends else ()))
        if attrgetter(rule.setting)(recipe) not in rule.values
    ]
    obstacles += find_tokenizer_obstacles(run.tokenizer, shape)
    return obstacles or Fit("an ONNX graph", ("padding follows a text; a batch is padded with 0",))


def _refuse(rule: _Rule, value: Any) -> Obstacle:  # noqa: ANN401 - as the setting has it
    able = " or ".join(json.dumps(one) for one in rule.values if one is not None)
    remedy = f"Set {rule.setting} to {able}." if able else f"Leave {rule.setting} out."
    return Obstacle(rule.setting, value, "its tracing would fix the length of a text", remedy)


class Graph(nn.Module):
    """What is traced.

    Args:
        model: The model of the run.
        shape: What the model is to other libraries.

    """

    def __init__(self, model: nn.Module, shape: Export) -> None:
        super().__init__()
        self.model, self.shape = model, shape

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Return the outputs in the order of :func:`list_outputs`."""
        model: Any = self.model
        lengths, segments = attention_mask.sum(dim=1), token_type_ids
        if self.shape.head == "tokens":
            visible = attention_mask[:, None, None, :] > 0
            states = model(input_ids, visible=visible, segments=segments)
            pairs = (model.pair_head(states, visible=visible),) if self.shape.pairs else ()
            return (model.head(states), *pairs)
        if segments is None:
            return (model(input_ids, lengths=lengths),)
        return (model(input_ids, lengths=lengths, segments=segments),)


def list_inputs(run: Run) -> list[str]:
    """Name the inputs of the graph."""
    reads_pairs = run.recipe.model.embedding.segments and run.task.export().pair_template
    return ["input_ids", "attention_mask", *(["token_type_ids"] if reads_pairs else [])]


def list_outputs(shape: Export) -> list[str]:
    """Name the outputs of the graph."""
    first = "vector" if shape.head == "vector" else "logits"
    return [first, "pair_logits"] if shape.pairs else [first]


def write(run: Run, _fit: Fit, folder: Path) -> None:
    """Trace the graph, and write it with ``tokenizer.json``."""
    shape, inputs = run.task.export(), list_inputs(run)
    outputs = list_outputs(shape)
    graph = Graph(run.model.cpu().float(), shape).eval()
    given = [torch.ones(EXAMPLE, dtype=torch.long) for _ in inputs]
    whole = torch.ones(1, run.recipe.text.max_length, dtype=torch.long)
    axes = {name: {0: "batch", 1: "sequence"} for name in inputs}
    axes |= {name: {0: "batch"} for name in outputs}
    if shape.head in ("tokens", "tags"):
        axes[outputs[0]] = {0: "batch", 1: "sequence"}
    with torch.no_grad():
        graph(*(whole for _ in inputs))  # tables of positions grow to their full length
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer, about Python values
        torch.onnx.export(
            graph,
            tuple(given),
            str(folder / GRAPH),
            input_names=inputs,
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
    found = build_tokenizer(run.tokenizer, shape)
    write_whole(folder / TOKENIZER, json.dumps(found, ensure_ascii=False))


def open_folder(run: Run, _fit: Fit, folder: Path) -> "OnnxSide":
    """Open the graph with onnxruntime."""
    return OnnxSide(run, folder)


class OnnxSide:
    """A graph as one of two sides.

    Args:
        run: The run, for the names of inputs and outputs.
        folder: The folder to open.

    """

    def __init__(self, run: Run, folder: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / GRAPH), options)
        self.inputs, self.shape = list_inputs(run), run.task.export()
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        self.tokenizer.encode_special_tokens = True

    def encode(self, texts: Sequence[Texts]) -> list[list[int]]:
        """Encode texts with the tokenizer of the folder."""
        return [self.tokenizer.encode(text[0], text[1] if text[1:] else None).ids for text in texts]

    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        """Return the outputs of each row, computed in padded batches of several lengths."""
        batches = (rows[begin : begin + AT_ONCE] for begin in range(0, len(rows), AT_ONCE))
        return [found for batch in batches for found in self._compute(batch)]

    def _compute(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        longest = max(len(row.ids) for row in rows)
        sides = {
            "input_ids": [row.ids for row in rows],
            "attention_mask": [[1] * len(row.ids) for row in rows],
            "token_type_ids": [list(row.segments) or [0] * len(row.ids) for row in rows],
        }
        given = {
            name: torch.tensor([side + [0] * (longest - len(side)) for side in sides[name]]).numpy()
            for name in self.inputs
        }
        names = list_outputs(self.shape)
        arrays = [torch.from_numpy(array) for array in self.session.run(names, given)]
        by_token = self.shape.head in ("tokens", "tags")
        return [
            {
                name: array[place, : len(row.ids)] if by_token and array.ndim == 3 else array[place]
                for name, array in zip(names, arrays, strict=True)
            }
            for place, row in enumerate(rows)
        ]

    def answer(self, texts: Sequence[Texts], *, most: int) -> list[str] | None:
        """Return nothing: encoders do not write."""
        return None


ONNX = Target(
    "onnx",
    "a graph for onnxruntime",
    ("onnx", "onnxruntime"),
    fits,
    write,
    open_folder,
    precision="regard computed in float64, onnxruntime in float32",
)
