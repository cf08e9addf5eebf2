"""A folder becomes a whole run, or is refused and leaves nothing behind."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.errors import RecipeError, RegardError, UsageError
from regard.files import hash_file
from regard.interop import take
from regard.interop.take import import_folder
from regard.recipe.load import make
from regard.run import VERIFIED, Run


@pytest.fixture
def folder(checkpoints, tmp_path):
    checkpoints.save_sentences(tmp_path / "hf")
    return tmp_path / "hf"


def change(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_run_is_whole_and_says_where_it_comes_from(folder, tmp_path):
    import_folder(folder, tmp_path / "run")
    run = Run(tmp_path / "run")
    assert {*VERIFIED, "README.md", "journal.jsonl"} <= run.facts["files"].keys()
    weights = hash_file(folder / "model.safetensors")
    facts = run.metrics["imported"]
    assert (facts["from"], facts["architecture"], facts["weights"]) == ("hf", "BertModel", weights)
    assert facts["left_out"] == ["pooler.dense"]
    assert facts["parameters"] == sum(p.numel() for p in run.model.parameters())
    card = (tmp_path / "run" / "README.md").read_text()
    assert "Imported from the folder hf (BertModel)" in card and weights in card
    assert "pipeline_tag: sentence-similarity" in card and "`pooler.dense`" in card
    assert [line["event"] for line in run.journal] == ["imported"]
    assert run.recipe.model.start.imported == "hf" and run.recipe.data.train == ()
    assert (run.recipe.text.max_length, run.recipe.text.overlong) == (17, "head")


def test_a_text_may_be_no_longer_than_there_are_positions(folder, tmp_path):
    change(folder / "sentence_bert_config.json", max_seq_length=10_000)
    assert import_folder(folder, tmp_path / "run").recipe.text.max_length == 29


def test_what_was_never_measured_has_no_summary(folder, tmp_path):
    with pytest.raises(UsageError, match="it has no scores"):
        _ = import_folder(folder, tmp_path / "run").summary


def test_the_task_follows_from_the_folder_unless_it_is_asked_for(checkpoints, tmp_path):
    checkpoints.save(tmp_path / "words", "BertForMaskedLM")
    checkpoints.save(tmp_path / "plain", "BertModel")
    words, plain = tmp_path / "words", tmp_path / "plain"
    assert import_folder(words, tmp_path / "a").recipe.task == "masked-pretraining"
    asked = import_folder(words, tmp_path / "b", task="retrieval")
    assert asked.recipe.task == "retrieval" and asked.recipe.model.head.pooling == "mean"
    assert "cls.predictions.transform.dense" in asked.metrics["imported"]["left_out"]
    assert import_folder(plain, tmp_path / "c", task="retrieval").recipe.text.max_length == 29
    for wrong, task, words_said in (
        (plain, None, "has neither a pooling"),
        (plain, "masked-pretraining", "no head for masked words"),
        (words, "translation", "Got 'translation'"),
    ):
        with pytest.raises(UsageError, match=words_said):
            import_folder(wrong, tmp_path / "d", task=task)


def test_nothing_is_overwritten(folder, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("dear")
    with pytest.raises(UsageError, match="must be new"):
        import_folder(folder, tmp_path / "run")
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["mine.txt"]


def test_a_failure_while_writing_leaves_nothing(folder, tmp_path, monkeypatch):
    def full(folder):
        raise OSError("no space left")

    monkeypatch.setattr(take.folders, "seal", full)
    with pytest.raises(OSError, match="no space left"):
        import_folder(folder, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_failure_while_reporting_leaves_nothing(folder, tmp_path):
    with pytest.raises(ZeroDivisionError):
        import_folder(folder, tmp_path / "run", report=lambda run: 1 / 0)
    assert not (tmp_path / "run").exists()


def test_importing_does_not_disturb_what_is_drawn_at_random(folder, tmp_path):
    torch.manual_seed(3)
    expected = torch.rand(5)
    torch.manual_seed(3)
    import_folder(folder, tmp_path / "run")
    assert torch.equal(torch.rand(5), expected)


def config(**values):
    return lambda folder: change(folder / "config.json", **values)


def modules(*kinds):
    table = [
        {"type": f"x.{kind}", "path": "" if n == 0 else f"{n}_{kind}"}
        for n, kind in enumerate(kinds)
    ]
    return lambda folder: (folder / "modules.json").write_text(json.dumps(table))


def weights(change_them):
    def rewrite(folder):
        file = folder / "model.safetensors"
        save_file(change_them(load_file(file)), file)

    return rewrite


def only_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def sharded(folder):
    (folder / "model.safetensors").rename(folder / "model.safetensors.index.json")


def pooled(**modes):
    named = {f"pooling_mode_{name}": on for name, on in modes.items()}
    return lambda folder: (folder / "1_Pooling" / "config.json").write_text(json.dumps(named))


def written(name, text):
    return lambda folder: (folder / name).write_text(text)


TABLE = "embeddings.word_embeddings.weight"
REFUSED = {
    "another architecture": (
        config(model_type="xlnet", architectures=["XLNetLMHeadModel"]),
        "XLNetLMHeadModel ('xlnet')",
    ),
    "no type": (config(model_type=None, architectures=None), "a model without a name"),
    "relative positions": (
        config(position_embedding_type="relative_key"),
        "position_embedding_type must be 'absolute'. Got 'relative_key'",
    ),
    "another bend": (config(hidden_act="gelu_new"), "hidden_act must be 'gelu' or 'relu'"),
    "a decoder": (config(is_decoder=True), "is_decoder must be False"),
    "no width": (config(hidden_size="21"), "hidden_size must be a whole number"),
    "a strange dropout": (config(hidden_dropout_prob=1.5), "hidden_dropout_prob must be"),
    "heads that do not divide": (config(num_attention_heads=2), "heads must divide model.width"),
    "a shape": (
        config(intermediate_size=31),
        "intermediate.dense.weight in",
    ),
    "more blocks than said": (config(num_hidden_layers=1), "encoder.layer.1."),
    "fewer blocks than said": (config(num_hidden_layers=3), "has no tensor encoder.layer.2."),
    "too few rows": (weights(lambda t: {**t, TABLE: t[TABLE][:50].clone()}), "has 50 rows"),
    "whole numbers": (weights(lambda t: {**t, TABLE: t[TABLE].to(torch.int8)}), "torch.int8"),
    "a pickle": (only_pickle, "pytorch_model.bin is a pickle"),
    "several files": (sharded, "has them in several"),
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        "has no model.safetensors",
    ),
    "no config": (lambda folder: (folder / "config.json").unlink(), "has no config.json"),
    "no tokenizer": (
        lambda folder: (folder / "tokenizer.json").unlink(),
        "has no tokenizer.json or vocab.txt",
    ),
    "broken JSON": (written("config.json", '{"a": '), "config.json cannot be read: it is not JSON"),
    "a list": (written("config.json", "[1]"), "it does not hold a JSON object"),
    "deep JSON": (written("config.json", "[" * 99_999), "config.json cannot be read"),
    "broken weights": (written("model.safetensors", "x" * 99), "model.safetensors cannot be read"),
    "broken modules": (written("modules.json", '{"a": 1}'), "it does not hold a list"),
    "a further layer": (
        modules("Transformer", "Pooling", "Dense"),
        "Got Transformer, Pooling, Dense",
    ),
    "no pooling": (
        lambda folder: (folder / "1_Pooling" / "config.json").unlink(),
        "has no 1_Pooling",
    ),
    "two poolings": (pooled(mean_tokens=True, cls_token=True), "pooled in one way"),
    "a strange pooling": (pooled(lasttoken=True), "Got pooling_mode_lasttoken"),
    "no length": (written("sentence_bert_config.json", '{"max_seq_length": 2}'), "Got 2"),
    "a prompt": (
        written("config_sentence_transformers.json", '{"default_prompt_name": "query"}'),
        "prefixed with the prompt 'query'",
    ),
    "another likeness": (
        written("config_sentence_transformers.json", '{"similarity_fn_name": "euclidean"}'),
        "by euclidean there",
    ),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_cannot_be_repeated_is_refused_before_anything_is_written(folder, tmp_path, wrong):
    spoil, words = REFUSED[wrong]
    spoil(folder)
    with pytest.raises(RegardError) as error:
        import_folder(folder, tmp_path / "run")
    assert words in error.value.problem
    assert error.value.remedy
    assert not (tmp_path / "run").exists()


def test_capitals_folded_by_one_of_two_only_are_refused(checkpoints, tmp_path):
    checkpoints.save_sentences(tmp_path / "hf", tokenizer={"do_lower_case": False})
    change(tmp_path / "hf" / "sentence_bert_config.json", do_lower_case=True)
    with pytest.raises(RegardError, match="lowercases before the tokenizer"):
        import_folder(tmp_path / "hf", tmp_path / "run")


def test_a_head_for_masked_words_is_refused_unless_gelu(checkpoints, tmp_path):
    checkpoints.save(tmp_path / "hf", "BertForMaskedLM", hidden_act="relu")
    with pytest.raises(RegardError, match="is gelu here"):
        import_folder(tmp_path / "hf", tmp_path / "run")
    assert import_folder(tmp_path / "hf", tmp_path / "run", task="retrieval")


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        import_folder(tmp_path / "nowhere", tmp_path / "run")


def test_only_what_was_imported_may_name_no_file():
    tables = {"task": "retrieval", "data": {"train": []}}
    assert make({**tables, "model": {"start": {"imported": "hf"}}}).data.train == ()
    with pytest.raises(RecipeError, match="names no file"):
        make(tables)
