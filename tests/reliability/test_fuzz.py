"""Damaged files of any kind: an error for the user, or the answer; never a traceback, never a hang."""

import gzip
import json
import random
import shutil
import traceback
from pathlib import Path

import pytest
import zstandard

from regard.data.check import check
from regard.data.source import read
from regard.errors import RegardError
from regard.inference.predictor import Predictor
from regard.recipe.load import load
from regard.recipe.shipped import list_shipped
from regard.run import Run

from .mutations import mutate

KEEPSAKES = sorted((Path(__file__).parents[1] / "keepsakes").glob("*/*/regard.json"))
ROWS = [
    ("das ist gut", "this is good"),
    ("Häuser, alt", 'hou"ses, old'),
    ("", "x"),
    ("a;b", "c"),
] * 3
TSV = "\n".join("\t".join(row) for row in ROWS).encode()
CSV = b"text,label\n" + b"".join(f'"{a}",{n % 3}\n'.encode() for n, (a, _) in enumerate(ROWS))
JSONL = b"".join(
    json.dumps({"text": a, "label": b, "more": {"n": 1}}).encode() + b"\n" for a, b in ROWS
)
PO = b'msgid ""\nmsgstr ""\n\n' + b"".join(
    b'msgid "m%d"\nmsgstr "t%d"\n\n' % (n, n) for n in range(5)
)
UNIT = '<tu><tuv xml:lang="de"><seg>ä <ph/></seg></tuv><tuv xml:lang="en"><seg>a</seg></tuv></tu>'
TMX = f'<?xml version="1.0"?><tmx version="1.4"><body>{UNIT * 4}</body></tmx>'.encode()
SEEDS = {
    "a.tsv": TSV,
    "a.csv": CSV,
    "a.jsonl": JSONL,
    "a.po": PO,
    "a.tmx": TMX,
    "a.ft": b"".join(b"__label__%d text\n" % (n % 2) for n in range(9)),
    "a.txt": TSV,
    "u.csv": CSV.decode().encode("utf-16"),
    "a.csv.gz": gzip.compress(CSV),
    "a.tsv.zst": zstandard.compress(TSV),
}
TIMES = [40, pytest.param(10_000, marks=pytest.mark.slow)]


def untyped(work):
    """Return the traceback of anything but an error for the user."""
    try:
        work()
    except RegardError:
        pass
    except Exception:
        return traceback.format_exc()
    return ""


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_data_is_read_or_refused(tmp_path, name, times, figure):
    rng, file = random.Random(f"{name}{times}"), tmp_path / name

    def work():
        check({"train": [file]}, expected=2, labelled=True)
        list(read([file], expected=2, on_bad_line="skip"))

    for _ in range(times):
        file.write_bytes(mutate(SEEDS[name], rng))
        assert not untyped(work), file.read_bytes()[:500]
    figure("data", times)


@pytest.mark.parametrize("times", TIMES)
def test_a_bare_carriage_return_is_a_fault_of_its_row(tmp_path, times):
    file = tmp_path / "a.csv"
    for at in range(min(times, len(CSV))):
        file.write_bytes(CSV[:at] + b"\r" + CSV[at:])
        assert not untyped(lambda: list(read([file], expected=2)))


@pytest.mark.parametrize("times", TIMES)
def test_a_damaged_recipe_is_read_or_refused(tmp_path, times, figure):
    rng, file = random.Random(times), tmp_path / "recipe.toml"
    recipes = [path.read_bytes() for path in list_shipped().values()]
    for _ in range(times):
        file.write_bytes(mutate(rng.choice(recipes), rng))
        assert not untyped(lambda: load(file)), file.read_bytes()
    figure("recipes", times)


@pytest.mark.parametrize(
    "deep", ["a" + ".a" * 300_000 + " = 1", "[a" + ".a" * 99 + "]", "x = {" * 99]
)
def test_deep_keys_are_refused(tmp_path, deep):
    (tmp_path / "r.toml").write_text(f'task = "translation"\n{deep}\n')
    with pytest.raises(RegardError):
        load(tmp_path / "r.toml")
    with pytest.raises(RegardError):
        load("scenes", ["a" + ".a" * 50_000 + "=1"])


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("forged", [False, True], ids=["as it is", "sealed again"])
def test_a_damaged_run_answers_as_before_or_is_refused(tmp_path, times, forged, figure):
    """Of two kinds: the disk's, which the seal finds, and a forger's, who writes the seal as well."""
    rng, folder = random.Random(times + forged), tmp_path / "run"
    before = {run.parent: answer(Run(run.parent)) for run in KEEPSAKES}
    for _ in range(times):
        run = rng.choice(KEEPSAKES).parent
        shutil.copytree(run, folder)
        file = folder / rng.choice(sorted(path.name for path in folder.iterdir()))
        file.write_bytes(mutate(file.read_bytes(), rng))
        if forged and file.name != "regard.json":
            reseal(folder, file)
        said = []
        assert not untyped(lambda folder=folder, said=said: said.append(answer(Run(folder)))), file
        if said and not forged:
            assert said[0] == before[run], file
        shutil.rmtree(folder)
    figure("forged" if forged else "runs", times)


def answer(run):
    predicted = [(one.text, one.log_probability) for one in Predictor(run).predict(["a b c"])]
    return predicted, run.answers, run.journal, run.metrics, run.summary | {"run": ""}


def reseal(folder, file):
    from regard.files import hash_file

    seal = json.loads((folder / "regard.json").read_text())
    seal["files"][file.name] = hash_file(file)
    (folder / "regard.json").write_text(json.dumps(seal))
