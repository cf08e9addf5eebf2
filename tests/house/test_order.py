"""Order in the house: names that say something, files that fit in a head, nothing dangerous."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "regard"
FILES = sorted(SOURCE.rglob("*.py"))

MEANINGLESS = {"utils", "util", "common", "helpers", "helper", "base", "core", "misc", "tools"}
LONGER_THAN_300 = {
    "src/regard/data/check.py": "one report: every check, by kind of data",
    "src/regard/run.py": "the run folder: its files, its seal, its reader",
    "src/regard/layers/attention.py": "one equation: its scores, its selections, its layer",
    "src/regard/recipe/model.py": "one table of the recipe",
    "src/regard/tasks/pretraining/masked_pretraining.py": "one task, its interface included",
    "src/regard/tasks/task.py": "the whole interface of a task, on one page",
    "src/regard/tasks/labelling/labelled.py": "one task, its interface included",
    "src/regard/tasks/language/language_modelling.py": "one task, its interface included",
}
"""Files of 301 to 500 lines, each with the reason it is not two files."""
NEVER_IMPORTED = {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
CALLS_HOME = {"requests", "httpx", "aiohttp", "urllib.request", "http.client"}
NEVER_CALLED = {"eval", "exec", "compile", "__import__", "torch.load", "torch.save"}


def name(file):
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", FILES, ids=name)
def test_no_file_or_folder_has_a_name_that_says_nothing(file):
    words = {part.strip("_").removesuffix(".py") for part in file.relative_to(SOURCE).parts}
    assert not words & MEANINGLESS


def test_only_longer_files_are_listed_as_such():
    lengths = {
        file: (ROOT / file).read_text(encoding="utf-8").count("\n") for file in LONGER_THAN_300
    }
    assert [file for file, length in lengths.items() if length <= 300] == []


@pytest.mark.parametrize("file", [*FILES, *sorted((ROOT / "tests").rglob("*.py"))], ids=name)
def test_a_file_fits_in_a_head(file):
    length = len(file.read_text(encoding="utf-8").splitlines())
    assert length <= (500 if name(file) in LONGER_THAN_300 or "tests" in file.parts else 300)


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def dangers(source):
    """Yield what in the source could run code from a file, or call home."""
    tree = ast.parse(source)
    for module in imported(tree):
        if module.split(".")[0] in NEVER_IMPORTED or module in CALLS_HOME | NEVER_CALLED:
            yield f"imports {module}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if ast.unparse(node.func) in NEVER_CALLED:
                yield f"line {node.lineno} calls {ast.unparse(node.func)}"
            for word in node.keywords:
                trusting = word.arg in ("allow_pickle", "trust_remote_code")
                if trusting and ast.unparse(word.value) != "False":
                    yield f"line {node.lineno} sets {word.arg}"


@pytest.mark.parametrize("file", FILES, ids=name)
def test_nothing_runs_code_from_a_file_or_calls_home(file):
    assert list(dangers(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from yaml import load",
        "import torch\ntorch.load('x')",
        "from torch import load",
        "eval('1')",
        "np.load(f, allow_pickle=True)",
        "import urllib.request",
        "from urllib import request",
        "AutoModel.from_pretrained(x, trust_remote_code=yes)",
    ],
)
def test_the_yardstick_catches_every_danger(line):
    assert list(dangers(line))


@pytest.mark.parametrize("line", ["model.eval()", "re.compile('x')", "np.load(f, mmap_mode='r')"])
def test_the_yardstick_lets_harmless_lines_pass(line):
    assert not list(dangers(line))


def papers():
    kept = ["src", "tests", "recipes", "docs", "bench", ".ci"]
    yield from (file for folder in kept for file in (ROOT / folder).rglob("*"))
    yield from (file for file in ROOT.glob("*") if file.name != ".git")  # a file in a worktree


@pytest.mark.parametrize(
    "file",
    [
        f
        for f in sorted(set(papers()))
        if f.suffix in (".py", ".toml", ".md", ".html", ".svg", "")
        and f.is_file()
        and f.resolve() != Path(__file__).resolve()
    ],
    ids=name,
)
def test_no_paper_names_a_folder_of_somebodys_machine(file):
    text = file.read_text(encoding="utf-8", errors="replace")
    assert not re.search(r"/(work|home|root|Users)/\w|/tmp/(venv|plan)|[A-Z]:\\Users", text)
