"""Models that transformers made and saved compute the same here, or are refused by the field's name."""

import json

import pytest
import torch

from regard.cli.main import main
from regard.errors import RegardError
from regard.interop.export import find_target, offer
from regard.interop.exports.compare import largest_differences, make_rows
from regard.interop.exports.hf.side import TransformersSide
from regard.interop.exports.reference import Reference
from regard.interop.exports.samples import draw_samples
from regard.interop.exports.target import Fit
from regard.interop.take import import_folder, read
from regard.run import Run
from regard.tasks.kinds import make_task

from .kinds import KINDS

transformers = pytest.importorskip("transformers")
HF = find_target("hf")
TOKENS = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2}
BART = {
    **TOKENS,
    **{"d_model": 30, "encoder_layers": 2, "decoder_layers": 1, "forced_eos_token_id": None},
    **{"encoder_attention_heads": 3, "decoder_attention_heads": 3, "max_position_embeddings": 61},
    **{"encoder_ffn_dim": 37, "decoder_ffn_dim": 37, "dropout": 0.0},
}
LLAMA = {
    **{"hidden_size": 30, "intermediate_size": 37, "num_hidden_layers": 2, "bos_token_id": 3},
    **{"num_attention_heads": 3, "num_key_value_heads": 3, "head_dim": 10, "pad_token_id": 0},
    **{"max_position_embeddings": 61, "eos_token_id": 3},
}
T5 = {
    **{"d_model": 30, "d_kv": 10, "d_ff": 37, "num_layers": 2, "num_heads": 3},
    **{"decoder_start_token_id": 2, "pad_token_id": 0, "eos_token_id": 3},
}
BERT = {
    **{"hidden_size": 30, "num_hidden_layers": 2, "num_attention_heads": 3},
    **{"intermediate_size": 37, "max_position_embeddings": 61, "pad_token_id": 0},
}
GPT2 = {
    **{"n_embd": 30, "n_layer": 2, "n_head": 3, "n_positions": 61},
    **{"activation_function": "gelu", "bos_token_id": 3, "eos_token_id": 3, "pad_token_id": 0},
}
MODELS = {
    "MarianMTModel": ("marian", BART | {"activation_function": "relu", "scale_embedding": True}),
    "PegasusForConditionalGeneration": ("pegasus", BART | {"activation_function": "relu"}),
    "BartForConditionalGeneration": ("bart", BART | {"scale_embedding": True}),
    "MBartForConditionalGeneration": ("mbart", BART),
    "T5ForConditionalGeneration": ("t5", T5),
    "T5ForConditionalGeneration, unscaled": (
        "t5",
        T5 | {"feed_forward_proj": "gated-silu", "tie_word_embeddings": False},
    ),
    "LlamaForCausalLM": ("llama", LLAMA),
    "LlamaForCausalLM, tied": ("llama", LLAMA | {"tie_word_embeddings": True}),
    "ArceeForCausalLM": ("arcee", LLAMA | {"rope_theta": 100.0}),
    "Qwen3ForCausalLM": ("qwen3", LLAMA),
    "GPT2LMHeadModel": ("gpt2", GPT2),
    "BertForSequenceClassification": ("bert, labels", BERT),
    "BertForTokenClassification": ("bert, tags", BERT | {"num_labels": 5}),
    "BertForMaskedLM": ("bert, masks", BERT),
    "BertForPreTraining": ("bert, pairs", BERT),
    "MegatronBertForTokenClassification": ("megatron, tags", BERT | {"num_labels": 5}),
    "RobertaPreLayerNormForMaskedLM": ("roberta, masks", BERT),
}


@pytest.fixture
def saved(random_run, tmp_path):
    """Return a function that saves a random model of transformers with a tokenizer of ours."""

    def save(name, **changes):
        kind, settings = MODELS[name]
        task, sets, _ = KINDS[kind]
        run, folder = random_run(task, *sets), tmp_path / "hf"
        folder.mkdir()
        HF.write(run, offer(run, HF).fit, folder)
        made = getattr(transformers, name.partition(",")[0])
        config = made.config_class(vocab_size=run.tokenizer.size, **{**settings, **changes})
        torch.manual_seed(13)
        model = made(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.requires_grad:  # but for Marian's sinusoids
                    parameter.add_(torch.randn_like(parameter) * 0.2)
        model.save_pretrained(folder)
        return run, folder

    return save


@pytest.mark.parametrize("name", MODELS)
def test_random_models_are_equal(saved, exact_transformers, name):
    run, folder = saved(name)
    found = read(folder, task=run.recipe.task)
    assert found.facts["architecture"] == name.partition(",")[0]
    back = Run.__new__(Run)
    back.recipe, back.tokenizer, back.model = found.recipe, found.tokenizer, found.model
    back.task = make_task(found.recipe, found.tokenizer)
    shape = back.task.export()
    ours, theirs = Reference(back, shape), TransformersSide(shape, folder, Fit(name))
    texts = [text for text in draw_samples(run, shape).texts if len(ours.encode([text])[0]) < 60]
    assert ours.encode(texts) == theirs.encode(texts) and len(texts) > 20
    rows = make_rows(shape, ours.encode(texts))
    assert max(largest_differences(ours.outputs(rows), theirs.outputs(rows)).values()) <= 1e-6
    if shape.kind == "encoder-decoder":
        mine, others = (side.answer(texts[:3], most=9) for side in (ours, theirs))
        assert [len(one) > 0 for one in mine] == [True] * 3
        assert len(mine) == len(others)


REFUSED = {
    "activation": ("GPT2LMHeadModel", {"activation_function": "gelu_new"}, "activation_function"),
    "groups": ("LlamaForCausalLM", {"num_key_value_heads": 1}, "num_key_value_heads"),
    "rotation": (
        "LlamaForCausalLM",
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 100.0}},
        "rope_parameters",
    ),
    "biases": ("LlamaForCausalLM", {"mlp_bias": True}, "mlp_bias"),
    "gate": (
        "T5ForConditionalGeneration",
        {"feed_forward_proj": "gated-gelu"},
        "feed_forward_proj",
    ),
    "features": ("T5ForConditionalGeneration", {"d_kv": 7}, "d_kv"),
    "start": ("MarianMTModel", {"decoder_start_token_id": 0}, "decoder_start_token_id"),
    "swish": ("MarianMTModel", {"activation_function": "swish"}, "activation_function"),
    "scores": (
        "BertForSequenceClassification",
        {"problem_type": "regression", "num_labels": 1},
        "problem_type",
    ),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_cannot_be_equal_is_refused_by_its_field(saved, tmp_path, wrong):
    name, changes, field = REFUSED[wrong]
    run, folder = saved(name, **changes)
    with pytest.raises(RegardError, match=field) as error:
        import_folder(folder, tmp_path / "back", task=run.recipe.task)
    assert "config.json" in error.value.problem and error.value.remedy
    assert not (tmp_path / "back").exists()


def test_tensors_without_a_place_are_refused(saved, tmp_path):
    from safetensors.torch import load_file, save_file

    _, folder = saved("ArceeForCausalLM")
    tensors = load_file(folder / "model.safetensors")
    adapter = {"model.layers.0.lora": torch.zeros(3)}
    save_file({**tensors, **adapter}, folder / "model.safetensors")
    with pytest.raises(RegardError, match=r"model\.layers\.0\.lora"):
        import_folder(folder, tmp_path / "back")
    tensors.pop("model.norm.weight")
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(RegardError, match=r"no tensor model\.norm\.weight"):
        import_folder(folder, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_foreign_tokenizer_is_refused_by_its_parts(saved, tmp_path, capsys):
    _, folder = saved("ArceeForCausalLM")
    file = folder / "tokenizer.json"
    found = json.loads(file.read_text())
    found["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁"}
    file.write_text(json.dumps(found))
    assert main(["import", str(folder), str(tmp_path / "back")]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 2 and "Metaspace" in said[0]
    assert not (tmp_path / "back").exists()


def test_the_command_says_what_it_made(saved, tmp_path, capsys):
    _, folder = saved("ArceeForCausalLM")
    assert main(["import", str(folder), str(tmp_path / "back")]) == 0
    shown = capsys.readouterr().out
    assert "ArceeForCausalLM from hf" in shown and "a run of language-modelling" in shown
    run = Run(tmp_path / "back")
    assert run.task.answer(run.model, ["the ship"], quick=True)
    assert main(["import", str(folder), str(tmp_path / "more"), "--task", "translation"]) == 2
