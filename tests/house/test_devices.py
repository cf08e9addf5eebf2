"""Only ``device.py`` names a kind of accelerator; all other code runs on any."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "regard"
KINDS = re.compile(r"\b(cuda|mps|xpu)\b")
FILES = [file for file in sorted(SOURCE.rglob("*.py")) if file != SOURCE / "device.py"]


def kinds_named(source: str) -> list[str]:
    """Find kinds named in code: as an attribute, a name or a word of a string; docs may name them."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=word) | ast.Name(id=word) | ast.alias(name=word):
                found += KINDS.findall(word)
            case ast.Constant(value=str(word)) if id(node) not in documentation:
                found += KINDS.findall(word)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_other_file_names_a_kind_of_accelerator(file):
    assert kinds_named(file.read_text(encoding="utf-8")) == []


def test_device_py_itself_names_them():
    assert kinds_named((SOURCE / "device.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "line",
    [
        "x = x.cuda()",
        "torch.cuda.synchronize()",
        "import torch.mps",
        "from torch import xpu",
        'x.to("cuda:1")',
        'f"mps:{n}"',
        "def f():\n    'what f does'\n    return torch.zeros(2, device='xpu')",
    ],
)
def test_the_yardstick_catches_a_kind(line):
    assert kinds_named(line)


@pytest.mark.parametrize(
    "line", ["json.dumps(x)", '"""Runs on cuda."""', "class A:\n    x: str = 'auto'\n    'or cuda'"]
)
def test_the_yardstick_lets_documentation_and_other_words_pass(line):
    assert not kinds_named(line)
