"""A torch-free start: help, recipes and ``import regard`` never wait for torch."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


def python(code, **more):
    environment = {"PYTHONPATH": str(SOURCE), "PATH": ""}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, **more)


WITHOUT_TORCH = """
import sys
{code}
heavy = [name for name in ("torch", "transformers", "numpy", "tokenizers") if name in sys.modules]
sys.exit(f"imported {{heavy}}" if heavy else 0)
"""


@pytest.mark.parametrize(
    "code",
    [
        "import regard",
        "import regard; regard.Recipe",
        "import regard; regard.explain",
        "from regard.recipe.load import load; load('scenes')",
        "from regard.cli.main import main; main(['--help'])",
        "from regard.cli.main import main; main(['--version'])",
        "from regard.cli.main import main; main(['recipe', 'show', 'scenes'])",
        "from regard.cli.main import main; main(['recipe', 'explain'])",
        "from regard.cli.main import main; main(['nonsense'])",
    ],
)
def test_a_start_does_not_wait_for_torch(code):
    done = python(WITHOUT_TORCH.format(code=code))
    assert done.returncode == 0, done.stderr


def test_help_opens_no_verb_and_no_recipe():
    """What makes it come at once: a tenth of a second (bench/start.py) of nothing but the list."""
    code = """
import sys
from regard.cli.main import main
main(['--help'])
files = {name for name in sys.modules if name.startswith("regard.")}
rooms = {name.split(".")[1] for name in files} & {"recipe", "tasks", "run", "training", "account"}
sys.exit(f"opened {rooms}" if rooms else 0)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert "Commands" in done.stdout


@pytest.mark.parametrize("order", ["train load explain Recipe", "explain Recipe load train"])
def test_every_public_name_is_there_in_any_order(order):
    code = (
        f"import regard\nfor name in {order.split()}: assert callable(getattr(regard, name)), name"
    )
    done = python(code + "\nimport regard.explain.trace\nassert callable(regard.explain)")
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_not_public_is_refused_with_those_that_are():
    import regard

    with pytest.raises(AttributeError, match="Recipe, explain, load, train"):
        regard.trian  # noqa: B018


def test_the_version_is_written_once_more_only_where_packaging_needs_it():
    import tomllib

    import regard

    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == regard.__version__
