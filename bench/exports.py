"""Which export targets each shipped recipe fits, as the table in docs/export.md.

    python bench/exports.py [TARGET...]

Each recipe is made small (width, depth, vocabulary), given random weights and a tokenizer of a few
words, and exported to every target that fits. The targets verify themselves. A recipe that does not fit
is shown with the first setting in the way.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch

from regard import run as folders
from regard import run_files
from regard.interop.export import export_run, offer
from regard.interop.targets import TARGETS
from regard.recipe.load import load, override
from regard.recipe.recipe import Recipe
from regard.recipe.shipped import list_shipped
from regard.run import Run
from regard.tasks.kinds import make_task, task_class
from regard.text.train import train_tokenizer

WORDS = ["the", "a", "ship", "sails", "on", "sea", "cat", "café", "漢字", "house", "don't", "night"]
TEXTS = [" ".join(WORDS[(3 * n + k) % len(WORDS)] for k in range(3 + n % 9)) for n in range(90)]
ALWAYS = {"text.vocabulary", "text.max_length", "model.width", "data.train"}
"""Settings that have an effect on every task; others are changed where a recipe states them."""
MARKS = ("<!-- exports -->", "<!-- /exports -->")


def make_small(recipe: Recipe) -> Recipe:
    """Return the recipe with the same choices and small sizes."""
    heads = 2 if recipe.model.mixer.kind == "attention" else None
    changes: dict[str, object] = {
        "text.vocabulary": 600,
        "text.max_length": 64,
        "model.width": 16,
        "model.feed_forward": 23,
        "model.depth": min(recipe.model.depth, 2),
        "model.decoder_depth": min(recipe.model.decoder_depth, 2),
        "decoding.max_length": 40,
        "decoding.min_length": 0,
    }
    flat = recipe.flat()
    changes |= {"model.mixer.heads": heads} if heads else {}
    changes |= {"model.states": 16} if recipe.model.states else {}
    changes |= {"model.embedding.ngram_rows": 31} if recipe.model.embedding.ngrams > 1 else {}
    if "model.position.positions" in flat:
        changes["model.position.positions"] = 64
    if recipe.task == "retrieval":
        changes |= {"retrieval.document_length": [4, 16], "retrieval.query_length": [2, 8]}
    changes["data.train"] = ["nowhere.txt"]
    changes |= {f"data.{split}": [] for split in ("valid", "test")}
    stated = recipe.model_dump(exclude_unset=True)
    known = {
        name: value
        for name, value in changes.items()
        if name in ALWAYS or (name in flat and _is_stated(stated, name))
    }
    start = type(recipe.model.start)()
    model = recipe.model.model_copy(update={"start": start})
    return override(recipe.model_copy(update={"model": model}), known)


def _is_stated(tables: object, path: str) -> bool:
    for step in path.split("."):
        if not isinstance(tables, dict) or step not in tables:
            return False
        tables = tables[step]
    return True


def write_small_run(recipe: Recipe, folder: Path) -> Run:
    """Write a sealed run of the recipe with random weights."""
    small = task_class(recipe).complete_without_data(make_small(recipe))
    text = small.text
    tokenizer = train_tokenizer(
        TEXTS, kind=text.tokenizer, vocabulary=text.vocabulary, lowercase=text.lowercase
    )
    torch.manual_seed(3)
    model = make_task(small, tokenizer).build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    folders.create(folder)
    folders.write_recipe(folder, small)
    tokenizer.save(folder / run_files.TOKENIZER)
    folders.write_model(folder, model, tokenizer)
    (folder / run_files.METRICS).write_text(json.dumps({"training": {}, "valid": {}}))
    folders.seal(folder)
    return Run(folder)


def describe(run: Run, name: str, folder: Path) -> str:
    """Return a cell of the table: architecture, difference and size, or the setting in the way."""
    found = offer(run, TARGETS[name])
    if found.fit is None:
        first, *more = found.obstacles
        others = f" and {len(more)} more" if more else ""
        return f"no: `{first.setting}`{others}"
    made = export_run(run, TARGETS[name], folder / name)
    size = sum(file.stat().st_size for file in made.folder.rglob("*") if file.is_file())
    return f"`{made.fit.architecture}`, {made.equality.largest:.0e}, {size / 1000:.0f} kB"


def main() -> None:
    names = sys.argv[1:] or list(TARGETS)
    rows = ["| recipe | " + " | ".join(f"`{name}`" for name in names) + " |"]
    rows.append("|---" * (len(names) + 1) + "|")
    for name, file in list_shipped().items():
        with tempfile.TemporaryDirectory() as place:
            run = write_small_run(load(file), Path(place) / "run")
            cells = [describe(run, target, Path(place)) for target in names]
        rows.append(f"| `{name}` | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    page = Path(__file__).parents[1] / "docs" / "export.md"
    text = page.read_text(encoding="utf-8")
    before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
    table = "\n".join(rows)
    page.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
