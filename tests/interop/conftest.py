"""Tiny checkpoints as transformers saves them, with a vocabulary whose special tokens stand anywhere."""

import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
import torch

WORDS = "the a ship sails ##s sail on sea cat ##aux café cafe naive 漢 字 ! . , ' - # ## über uber"
LETTERS = "abcdefghijklmnopqrstuvwxyzäéßA0123456789"


def vocabulary():
    """Return tokens in an order of their own: [UNK] 0, [MASK] 7, [PAD] 13, [SEP] last but one."""
    tokens = [*WORDS.split(), *LETTERS, *(f"##{letter}" for letter in LETTERS), "[unused1]"]
    tokens = list(dict.fromkeys(tokens))
    for place, token in ((0, "[UNK]"), (7, "[MASK]"), (13, "[PAD]"), (29, "[CLS]")):
        tokens.insert(place, token)
    tokens.insert(len(tokens) - 1, "[SEP]")
    return tokens


POOLED = {
    "mean": "pooling_mode_mean_tokens",
    "first": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
}


class Checkpoints:
    """Writes checkpoints; sizes are primes but for width, which heads must divide."""

    def __init__(self, transformers):
        self.transformers = transformers

    def config(self, **changes):
        usual = {
            "vocab_size": len(vocabulary()),
            "hidden_size": 21,
            "num_hidden_layers": 2,
            "num_attention_heads": 3,
            "intermediate_size": 37,
            "max_position_embeddings": 29,
            "type_vocab_size": 2,
            "hidden_act": "gelu",
        }
        return self.transformers.BertConfig(**{**usual, **changes})

    def model(self, kind="BertForPreTraining", **changes):
        torch.manual_seed(11)
        model = getattr(self.transformers, kind)(self.config(**changes)).eval()
        with torch.no_grad():
            for parameter in model.parameters():  # theirs begin with biases of zero
                parameter.copy_(torch.randn_like(parameter) * 0.3)
        return model

    def tokenizer(self, **changes):
        ids = {token: id for id, token in enumerate(vocabulary())}
        return self.transformers.BertTokenizer(vocab=ids, **changes)

    def save(self, folder, kind="BertForPreTraining", *, tokenizer=None, **changes):
        """Write a checkpoint and return its model."""
        model = self.model(kind, **changes)
        model.save_pretrained(folder)
        self.tokenizer(**(tokenizer or {})).save_pretrained(folder)
        return model

    def save_sentences(self, folder, pooling="mean", *, longest=17, **changes):
        """Write a sentence encoder and return its model."""
        model = self.save(folder, "BertModel", **changes)
        kinds = ["Transformer", "Pooling", "Normalize"]
        paths = ["", "1_Pooling", "2_Normalize"]
        modules = [
            {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for n, (kind, path) in enumerate(zip(kinds, paths, strict=True))
        ]
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "1_Pooling").mkdir()
        chosen = {name: way == pooling for way, name in POOLED.items()}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(chosen))
        read = {"max_seq_length": longest, "do_lower_case": False}
        (folder / "sentence_bert_config.json").write_text(json.dumps(read))
        return model


@pytest.fixture(scope="session")
def checkpoints():
    transformers = pytest.importorskip("transformers")
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return Checkpoints(transformers)
