"""Proof that a refactoring changed nothing: every shipped recipe at toy size, before and after.

    python bench/refactoring.py record DATA OUT      # with the code that is imported
    python bench/refactoring.py compare BEFORE AFTER

``record`` trains each shipped recipe for 21 steps on the first lines of the real corpora in DATA
and writes, per recipe, losses, gradient norms, scores and a hash of the parameters, and the output of
`predict` and `explain` with ``--json``. ``compare`` requires losses, scores and parameters equal to
the bit, and lists where the JSON differs. To record older code, put its ``src`` first on
PYTHONPATH and run this file from its tree.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from hashlib import sha256
from itertools import islice
from pathlib import Path

LINES = 400
STANDINS = {  # corpora that DATA lacks: the beginning of one that it has
    "data/books.txt": "gutenberg/Frankenstein.txt.gz",
    "data/wiki.txt": "wikitext2/wiki.test.raw.gz",
    "data/wiki.valid.raw.gz": "wikitext2/wiki.valid.raw.gz",
    "data/wiki.test.raw.gz": "wikitext2/wiki.test.raw.gz",
    "data/lab/train.txt": "wikitext2/wiki.valid.raw.gz",
    "data/wmt14/train.de.gz": "multi30k/train.de.gz",
    "data/wmt14/train.en.gz": "multi30k/train.en.gz",
    "data/wmt14/newstest2013.de.gz": "multi30k/val.de.gz",
    "data/wmt14/newstest2013.en.gz": "multi30k/val.en.gz",
    "data/wmt14/newstest2014.de.gz": "multi30k/test_2016_flickr.de.gz",
    "data/wmt14/newstest2014.en.gz": "multi30k/test_2016_flickr.en.gz",
}
ASK = {"sentence-pair": "A man is eating.\tSomeone eats.", "masked-pretraining": "a [MASK] dog"}
SAME = ("losses", "gradients", "metrics", "parameters")


def first_lines(source, target):
    """Copy the beginning of a compressed file, compressed or not as the target's name says."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        text = "".join(islice(lines, LINES if target.suffix == ".gz" else 4 * LINES))
    data = text.encode()
    target.write_bytes(gzip.compress(data) if target.suffix == ".gz" else data)


def lay_out(data, files):
    for name in files:
        if name.startswith("world:") or Path(name).exists():
            continue
        source = data / STANDINS.get(name, name.removeprefix("data/"))
        if source.is_dir():
            Path(name).symlink_to(source)
        else:
            first_lines(source, Path(name))


def toy(tables):
    """Name the overrides that make a recipe small; its mechanisms stay."""
    model, text = tables["model"], tables.get("text", {})
    wide = model["width"] > 200
    sets = {
        "training.budget": "21 steps",
        "training.batch_tokens": 600,
        "training.evaluations": 1,
        "training.threads": 1,
    }
    if text.get("tokenizer", "bpe") != "characters" and "start" not in model:
        sets["text.vocabulary"] = 600
    if isinstance(model.get("start"), dict) and "run" not in model["start"]:
        sets["text.vocabulary"] = 600
    if wide or model.get("depth", 0) > 4:
        sets |= {"model.width": 96, "model.feed_forward": 96, "model.depth": min(model["depth"], 2)}
        if "decoder_depth" in model:
            sets["model.decoder_depth"] = 2
    for name in ("max_length", "longest"):  # "longest" is its name before 0.1.0
        if text.get(name, 0) > 128:
            sets[f"text.{name}"] = 128
    return [f"{name}={json.dumps(value)}" for name, value in sets.items()]


def call(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "regard", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "REGARD_CACHE": "cache"},
    )
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr[-600:]}


def parameters(file):
    """Hash the contents of the tensors, regardless of their names."""
    from safetensors.numpy import load_file

    held = sorted((v.shape, v.tobytes()) for v in load_file(file).values())
    return sha256(repr([(shape, sha256(b).hexdigest()) for shape, b in held]).encode()).hexdigest()


def record_recipe(data, name, tables):
    lists = (tables["data"].get(split, []) for split in ("train", "valid", "test", "labelled"))
    lay_out(data, [file for files in lists for file in files])
    sets = [word for one in toy(tables) for word in ("--set", one)]
    run = f"runs/{name}"
    trained = call("train", name, "--run", run, *sets)
    if "failed" in trained:
        return trained
    journal = [json.loads(line) for line in Path(run, "journal.jsonl").read_text().splitlines()]
    steps = [line for line in journal if line["event"] == "step"]
    text = ASK.get(tables["task"], "A brown dog is running in the snow. It is cold.")
    return {
        "losses": [line["loss"].hex() for line in steps],
        "gradients": [line["gradient"].hex() for line in steps],
        "metrics": trained["metrics"],
        "parameters": parameters(Path(run, "model.safetensors")),
        "predict": call("predict", run, text),
        "explain": call("explain", run, text),
    }


def record(data, out):
    tree = Path(__file__).resolve().parents[1]
    tables = {
        f.stem: tomllib.loads(f.read_text()) for f in sorted((tree / "recipes").glob("*.toml"))
    }

    def after(name):  # runs that others start from come first
        start = tables[name]["model"].get("start", {})
        return "run" in start, name

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("data").mkdir()
        for name in sorted(tables, key=after):
            found[name] = record_recipe(data, name, tables[name])
            print(name, found[name].get("failed", found[name].get("losses")), flush=True)
    out.write_text(json.dumps(found, indent=1))


def compare(before, after):
    """Print where two records differ; return how many recipes differ in what must be equal."""
    one, other = (json.loads(file.read_text()) for file in (before, after))
    wrong = 0
    for name in sorted(one.keys() | other.keys()):
        if name not in one or name not in other:
            print(f"{name}: only {'before' if name in one else 'after'}")
            continue
        differs = [part for part in SAME if one[name].get(part) != other[name].get(part)]
        answers = [p for p in ("predict", "explain") if one[name].get(p) != other[name].get(p)]
        wrong += bool(differs)
        result = (
            f"DIFFERS in {', '.join(differs)}" if differs else "same losses, scores, parameters"
        )
        print(f"{name}: {result}{'; other JSON: ' + ', '.join(answers) if answers else ''}")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=["record", "compare"])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    asked = parser.parse_args()
    if asked.do == "record":
        record(asked.first.resolve(), asked.second.resolve())
    else:
        sys.exit(compare(asked.first, asked.second) > 0)
