"""A toy recipe of every task, and a watcher that remembers or stops a search."""

import random

import pytest

from regard.recipe.load import load
from regard.tasks.kinds import KINDS

NEEDS = {"document-vectors": ["model.depth=0", "training.optimizer={kind='sgd'}"]}
WORDS = [f"X{letter}" for letter in "abcdefghijklmnopqrstuvw"]


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Return a function that makes a small recipe of a task, with changes."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))

    def made(kind="classification", *sets):
        train, valid = (write_examples(kind, tmp_path / side, side) for side in ("train", "valid"))
        file = tmp_path / f"{kind}.toml"
        file.write_text(
            f'task = "{kind}"\ndata = {{ train = ["{train}"], valid = ["{valid}"] }}\n'
            "[text]\nvocabulary = 307\nmax_length = 23\n"
            "[model]\nwidth = 12\ndepth = 1\nfeed_forward = 17\nmixer = { heads = 2 }\n"
            "[training]\nbatch_tokens = 97\nbudget = '9 steps'\nevaluations = 2\nthreads = 1\n"
            + "[decoding]\nmax_length = 5\nbeam = 2\n"
            * KINDS[kind].task.writes
        )
        return load(file, [*NEEDS.get(kind, []), *sets])

    return made


def write_examples(kind, folder, side):
    """Write examples: texts and a label that one word tells, or documents."""
    rng, task = random.Random(side), KINDS[kind].task
    folder.mkdir(exist_ok=True)

    def text():
        return " ".join(rng.choices(WORDS, k=rng.randint(3, 9))) + "."

    if task.fields == 1:
        file = folder / "all.txt"
        file.write_text("\n\n".join(f"{text()} {text()} {text()}" for _ in range(31)) + "\n")
        return file
    if kind == "tagging":
        file = folder / "all.conll"
        lines = (
            f"{word} {'B-a' if word < 'Xh' else 'O'}\n"
            for _ in range(31)
            for word in text().split()
        )
        file.write_text("".join(line + "\n" * (n % 7 == 6) for n, line in enumerate(lines)))
        return file
    file = folder / "all.tsv"
    rows = [[text() for _ in range(task.texts)] for _ in range(41)]
    rows = [[*row, *["no" if "Xa" in row[0] else "yes"] * task.has_labels] for row in rows]
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    return file


class Watch:
    """Remembers records and messages; acts after some records, or after some steps."""

    def __init__(self, *, after=None, steps=None, act=None):
        self.records, self.standings, self.said = [], [], []
        self.after, self.steps, self.act = after, steps, act

    def say(self, text):
        self.said.append(text)

    def receive_standing(self, standing):
        self.standings.append(standing)
        if self.steps == len(self.standings):
            self.act()

    def receive_record(self, record, standing):
        self.records.append(record)
        self.standings.append(standing)
        if self.after == len(self.records):
            self.act()


@pytest.fixture
def watch():
    return Watch
