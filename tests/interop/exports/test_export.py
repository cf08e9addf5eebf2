"""An export is whole, or there is none; and its tokens, answers and pipelines are the run's own."""

import json
import os
from pathlib import Path

import pytest
import torch

from regard.cli.main import main
from regard.errors import RegardError, UsageError
from regard.interop.export import export_run, find_target, list_offers, offer
from regard.interop.exports import compare
from regard.interop.exports.hf import hf
from regard.interop.exports.reference import Reference
from regard.interop.exports.samples import draw_samples
from regard.tasks.kinds import KINDS

transformers = pytest.importorskip("transformers")
HF = find_target("hf")
PEGASUS = ("translation", "model.norm='layer'")
BERT = (
    *("model.norm='layer'", "model.norm_order='post'", "model.embedding.norm=true"),
    *("model.activation='gelu'", "text.tokenizer='wordpiece'"),
)
LABELS = ("classification", *BERT, "model.head.pooling='cls'")
MASKS = ("masked-pretraining", *BERT, "model.head.transform=true")
ARCEE = ("language-modelling", "model.position={kind='rotary', base=100.0}")


@pytest.fixture(autouse=True)
def few_answers(monkeypatch):
    monkeypatch.setattr(compare, "ANSWERED", 2)
    monkeypatch.setattr(compare, "LONGEST_ANSWER", 11)


def test_what_was_compared_stands_in_the_folder(random_run, tmp_path):
    run = random_run(*PEGASUS, double=False)
    made = export_run(run, HF, tmp_path / "out" / "hf")
    record = json.loads((tmp_path / "out" / "hf" / "equality.json").read_text())
    assert record == made.record and record["equal"]
    assert record["same_tokens"] == record["texts"] == 29
    assert record["same_answers"] == record["answers"] == 2
    assert 0 < record["largest_difference"]["logits"] < 1e-6
    assert record["weights"] == run.facts["files"]["model.safetensors"]
    assert record["versions"]["transformers"] == transformers.__version__
    assert record["command"] == "regard export run --to hf DIR"
    assert "not there" in record["scores"]["none"]
    card = (tmp_path / "out" / "hf" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: transformers\npipeline_tag: translation\n")
    assert "length^p" in card
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["hf"]


def test_an_export_that_is_not_equal_leaves_nothing(random_run, tmp_path, monkeypatch):
    run = random_run(*PEGASUS)

    def spoil(run, fit, folder):
        HF.write(run, fit, folder)
        config = json.loads((folder / "config.json").read_text())
        config["activation_function"] = "gelu"
        (folder / "config.json").write_text(json.dumps(config))

    with pytest.raises(RegardError, match="is not equal to the run") as error:
        export_run(run, HF._replace(write=spoil), tmp_path / "out" / "hf")
    assert error.value.exit_code == 1
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(("task", "sets"), [(PEGASUS[0], PEGASUS[1:]), (ARCEE[0], ARCEE[1:])])
def test_tokens_outside_the_output_vocabulary_are_never_written(random_run, tmp_path, task, sets):
    run = random_run(task, *sets, unwritten=17)
    made = export_run(run, HF._replace(tolerance=1e-5), tmp_path / "hf")
    side = HF.open(run, made.fit, tmp_path / "hf")
    for text in side.answer([("the ship",), ("a cat",)], most=23):
        assert all(id < run.tokenizer.size - 17 for id in run.tokenizer.encode(text)) or "�" in text
    if task == "translation":
        bias = side.model.final_logits_bias[0]
        assert (bias[-17:] == -1e4).all() and (bias[:-17] == 0).all()
    else:
        assert {*range(run.tokenizer.size - 17, run.tokenizer.size)} <= {
            *side.model.generation_config.suppress_tokens
        }


def test_a_recipe_that_does_not_fit_is_told_what_to_set(random_run, tmp_path, capsys):
    run = random_run("translation", "model.position={kind='rotary'}", "model.copying=true")
    found = offer(run, HF)
    assert {one.setting for one in found.obstacles} >= {"model.position.kind", "model.copying"}
    assert main(["export", str(run.folder), "--to"]) == 0
    shown = capsys.readouterr().out
    assert "hf: does not fit" in shown and "Set model.copying to false." in shown
    assert main(["export", str(run.folder), "--to", "hf", str(tmp_path / "hf")]) == 2
    said = capsys.readouterr().err
    assert "does not fit the target hf" in said and len(said.strip().splitlines()) == 2
    assert not (tmp_path / "hf").exists()
    assert main(["export", str(run.folder), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["targets"]
    (row,) = [row for row in rows if row["target"] == "hf"]
    assert (
        not row["fits"] and {"setting", "value", "reason", "remedy"} == row["obstacles"][0].keys()
    )


def test_the_command_writes_and_reports(random_run, tmp_path, capsys):
    run = random_run(*LABELS, double=False)
    assert main(["export", str(run.folder), "--to", "hf", str(tmp_path / "hf")]) == 0
    shown = capsys.readouterr().out
    assert "BertForSequenceClassification" in shown and "tokens of 29 of 29 texts" in shown
    assert main(["export", str(run.folder), "--to", "hf", str(tmp_path / "hf")]) == 2
    assert "must be new" in capsys.readouterr().err
    assert main(["export", str(run.folder), "--to", "tensorflow", str(tmp_path / "x")]) == 2
    assert "is exported to hf" in capsys.readouterr().err
    assert main(["export", str(run.folder), "--to", "hf"]) == 2
    assert "needs a folder" in capsys.readouterr().err


def test_a_missing_package_is_named_with_its_command(random_run, tmp_path):
    run = random_run(*LABELS)
    with pytest.raises(UsageError, match="not installed") as error:
        export_run(run, HF._replace(needs=("no-such-package",)), tmp_path / "hf")
    assert error.value.remedy == "Install it: pip install no-such-package"
    assert not (tmp_path / "hf").exists()


def test_an_ensemble_with_the_baseline_is_refused(random_run):
    run = random_run(*LABELS, "decoding.baseline_weight=0.5")
    assert [one.setting for one in offer(run, HF).obstacles] == ["decoding.baseline_weight"]


def test_every_refusal_names_a_setting_of_the_recipe(random_run):
    run = random_run("tagging", "model.mixer={kind='recurrent'}", "model.position={kind='none'}")
    for found in list_offers(run):
        for one in found.obstacles:
            assert one.setting == "task" or one.setting in run.recipe.flat()
            assert one.reason and one.remedy.endswith(".")


SHAPES = {
    "translation": ("model.norm='layer'",),
    "summarization": ("model.norm='layer'",),
    "denoising": ("model.norm='layer'",),
    "language-modelling": (),
    "masked-pretraining": BERT,
    "classification": (),
    "sentence-pair": (),
    "tagging": (),
    "retrieval": (),
}


@pytest.mark.parametrize("task", SHAPES)
def test_what_an_export_encodes_is_what_the_model_reads(random_run, task):
    """The ids that reach the embeddings of the run's own model while it answers."""
    run = random_run(task, *SHAPES[task], double=False)
    texts = [text for text in draw_samples(run, run.task.export()).texts if len(text[0]) < 50][:7]
    reading = getattr(run.model, "reading", None) or run.model.body.reading
    read = []
    hook = reading.register_forward_hook(lambda _module, given, _states: read.append(given[0]))
    for example in texts:
        read.clear()
        run.task.answer(run.model, ["\t".join(example)], quick=True)
        assert read[0][0].tolist() == Reference(run, run.task.export()).encode([example])[0]
    hook.remove()


def test_every_task_says_what_it_is_to_other_libraries(random_run, tmp_path):
    assert {*SHAPES, "document-pretraining", "document-vectors"} == {*KINDS}


PIPELINES = {
    "text-classification": (LABELS, "a ship sails", lambda got: got[0]["label"]),
    "token-classification": (
        ("tagging", *BERT),
        "the ship sails on",
        lambda got: [(one["entity"], one["start"], one["end"]) for one in got],
    ),
    "fill-mask": (MASKS, "the [MASK] sails on.", lambda got: got[0]["token_str"]),
    "text-generation": (
        (*ARCEE, "decoding={method='greedy', max_length=7}"),
        "the ship",
        lambda got: got[0]["generated_text"],
    ),
    "feature-extraction": (
        ("document-pretraining", *BERT),
        "the ship",
        lambda got: torch.tensor(got[0]).shape[1],
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_load_the_folder(random_run, tmp_path, name):
    (task, *sets), text, take = PIPELINES[name]
    run = random_run(task, *sets, double=False)
    export_run(run, HF, tmp_path / "hf")
    pipe = transformers.pipeline(name, model=str(tmp_path / "hf"))
    got = take(pipe(text))
    if name == "text-classification":
        assert got == run.task.answer(run.model, [text])[0].text
    if name == "fill-mask":
        (best,) = run.task.answer(run.model, [text])
        assert got.strip() == max(best.probabilities, key=best.probabilities.get)
    if name == "text-generation":
        assert got == text + run.task.answer(run.model, [text], quick=True)[0].text
    if name == "feature-extraction":
        assert got == 30
    if name == "token-classification":
        assert got and all(label in run.task.tags for label, _, _ in got)
        assert all(text[begin:end].strip() for _, begin, end in got)


def test_no_file_of_an_export_holds_code(random_run, tmp_path):
    export_run(random_run(*LABELS), HF, tmp_path / "hf")
    names = {file.name for file in Path(tmp_path / "hf").iterdir()}
    assert names == {
        *("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"),
        *("README.md", "equality.json"),
    }
    assert "auto_map" not in (tmp_path / "hf" / "config.json").read_text()
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    settings = json.loads((tmp_path / "hf" / "tokenizer_config.json").read_text())
    assert settings["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert settings["split_special_tokens"] is True


def test_every_architecture_is_reached_by_a_class_of_transformers():
    for one in hf.ARCHITECTURES:
        assert all(hasattr(transformers, name) for name in one.classes.values())
