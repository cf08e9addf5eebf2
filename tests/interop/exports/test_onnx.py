"""A graph in onnxruntime computes what the run computes, in padded batches of many lengths."""

import jaxtyping
import pytest

from regard.errors import UsageError
from regard.interop.export import export_run, find_target
from regard.interop.exports import onnx

pytest.importorskip("onnxruntime")


@pytest.fixture(autouse=True)
def lengths_may_be_tensors():
    """While a graph is traced a length is a tensor, which the types checked in tests forbid."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


BERT = (
    "model.norm='layer'",
    "model.norm_order='post'",
    "model.biases=true",
    "model.activation='gelu'",
    "model.position={kind='learned', positions=61}",
    "model.embedding={segments=2, norm=true}",
)
NORMED = ("model.mixer.normed=true",)
FITTING = {
    "classification, mean": ("classification", ("model.activation='swiglu'",)),
    "classification, BERT": ("classification", (*BERT, "model.head.pooling='cls'")),
    "sentence pair": ("sentence-pair", (*BERT, "model.head.pooling='max'")),
    "tagging, QK-norm": ("tagging", NORMED),
    "retrieval": ("retrieval", ()),
    "masked words": ("masked-pretraining", (*BERT, "model.head.transform=true")),
    "convolution": ("classification", ("model.mixer={kind='convolution'}",)),
}


@pytest.mark.parametrize("name", FITTING)
def test_a_graph_is_equal(name, random_run, tmp_path):
    task, sets = FITTING[name]
    run = random_run(task, *sets, double=False)
    equality = export_run(run, find_target("onnx"), tmp_path / "out").equality
    assert equality.same_tokens == equality.texts > onnx.AT_ONCE
    assert 0 < equality.largest < 1e-5


@pytest.mark.parametrize(
    ("setting", "task", "change"),
    [
        ("model.mixer.kind", "classification", "model.mixer={kind='recurrent'}"),
        ("model.position.kind", "tagging", "model.position={kind='relative'}"),
        (
            "model.position.kind",
            "tagging",
            "model.position={kind='rotary'}",
        ),
        ("model.mixer.window", "retrieval", "model.mixer.window=3"),
        ("model.head.pooling", "classification", "model.head.pooling='attention'"),
        ("model.embedding.ngrams", "classification", "model.embedding.ngrams=2"),
        ("task", "translation", "model.depth=1"),
        ("task", "tagging", "model.causal=true"),
    ],
)
def test_what_cannot_be_traced_is_refused_by_its_setting(
    setting, task, change, random_run, tmp_path
):
    run = random_run(task, change, double=False)
    with pytest.raises(UsageError, match=f"{setting} = "):
        export_run(run, find_target("onnx"), tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
