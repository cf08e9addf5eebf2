"""Tiny runs of every kind, each trained once and only when a test asks for it."""

import pytest

from regard.recipe.load import make
from regard.training.train import train

GOOD, BAD = ("fine", "lovely", "great"), ("dull", "poor", "weak")
THINGS = ("book", "story", "hero", "plot", "scene")
MODEL = {"width": 12, "depth": 2, "feed_forward": 17, "mixer": {"kind": "attention", "heads": 3}}
GERMAN = {"eins": "one", "zwei": "two", "drei": "three", "vier": "four", "elf": "eleven"}
RECURRENT = {"mixer": {"kind": "recurrent"}, "position": {"kind": "none"}}
BY_SENTENCES = {"head": {"pooling": "attention"}, "documents": {"read": "sentences"}}
IN_CONTEXT = {"read": "sentences", "context": "both", "gated": True}
KINDS = {
    "label": ("classification", "a.tsv", {"position": {"kind": "sinusoidal"}}),
    "pool": ("classification", "a.tsv", {"head": {"pooling": "attention"}}),
    "recurrent": ("classification", "a.tsv", RECURRENT),
    "han": ("classification", "d.tsv", {**BY_SENTENCES, **RECURRENT}),
    "context": ("classification", "d.tsv", {**BY_SENTENCES, "documents": IN_CONTEXT}),
    "hops": ("classification", "d.tsv", {"head": {"pooling": "hops", "hops": {"hops": 3}}}),
    "language": ("language-modelling", "a.txt", {}),
    "masked": ("masked-pretraining", "a.txt", {"embedding": {"segments": 2, "norm": True}}),
    "pair": ("sentence-pair", "p.tsv", {"embedding": {"segments": 2}}),
    "translation": ("translation", "a.de", {"decoder_depth": 2}),
    "ensemble": ("classification", "a.tsv", {"position": {"kind": "sinusoidal"}}),
    "several": ("classification", "s.tsv", {}),
    "score": ("sentence-pair", "n.tsv", {"embedding": {"segments": 2}}),
    "tagging": ("tagging", "a.conll", {}),
    "denoising": ("denoising", "a.txt", {"decoder_depth": 2}),
}


def write(folder):
    every = [
        (f"the {a} and the {b} are {words[n % 3]}", label)
        for n, (a, b) in enumerate((a, b) for a in THINGS for b in THINGS)
        for words, label in ((GOOD, "good"), (BAD, "bad"))
    ]
    pairs = [(one, every[(n + 2 + n % 3) % len(every)]) for n, one in enumerate(every)]
    documents = [
        (f"We came late. I and my friends found {text}. It rained.", label) for text, label in every
    ]
    sides = [(f"{a} {b}", f"{GERMAN[b]} {GERMAN[a]}") for a in GERMAN for b in GERMAN]
    files = {
        "a.tsv": "".join(f"{text}\t{label}\n" for text, label in every),
        "d.tsv": "".join(f"{text}\t{label}\n" for text, label in documents),
        "a.txt": "\n\n".join(text for text, _ in every) + "\n",
        "p.tsv": "".join(
            f"{a}\t{b}\t{'same' if la == lb else 'other'}\n" for (a, la), (b, lb) in pairs
        ),
        "s.tsv": "".join(f"{text}\t{label}|{text.split()[1]}\n" for text, label in every),
        "n.tsv": "".join(f"{a}\t{b}\t{4 if la == lb else 1}\n" for (a, la), (b, lb) in pairs),
        "a.conll": "\n".join(
            "".join(f"{word} {'B-thing' if word in THINGS else 'O'}\n" for word in text.split())
            for text, _ in every
        ),
        "a.de": "".join(german + "\n" for german, _ in sides),
        "a.en": "".join(english + "\n" for _, english in sides),
    }
    for name, content in files.items():
        (folder / name).write_text(content)


@pytest.fixture(scope="package")
def explained(tmp_path_factory):
    """Return a function from the name of a kind to its run."""
    folder = tmp_path_factory.mktemp("explained")
    write(folder)
    runs = {}

    def run(kind):
        if kind in runs:
            return runs[kind]
        task, file, model = KINDS[kind]
        files = [folder / file, *([folder / "a.en"] if file == "a.de" else [])]
        recipe = {
            "task": task,
            "data": {"train": list(map(str, files)), "holdout": 0.3},
            "text": {"vocabulary": 290, "max_length": 61},
            "model": {**MODEL, **model},
            "training": {"budget": "23 steps", "threads": 1, "batch_tokens": 300}
            | {"evaluations": 1, "optimizer": {"kind": "adamw", "rate": 0.01}},
        }
        recipe["data"] |= {"several": {"label_separator": "|"}, "score": {"scores": True}}.get(
            kind, {}
        )
        if kind == "ensemble":
            recipe["decoding"] = {"baseline_weight": 0.5}
        if task in ("translation", "denoising", "language-modelling"):
            method = "beam" if kind == "translation" else "greedy"
            recipe["decoding"] = {"max_length": 5, "method": method}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("REGARD_CACHE", str(folder / "cache"))
            runs[kind] = train(make(recipe), folder / kind)
        return runs[kind]

    return run
