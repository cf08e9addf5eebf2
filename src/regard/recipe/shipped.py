"""The shipped recipes, by name."""

from pathlib import Path

_PACKAGED = Path(__file__).parent / "shipped"
_SOURCE = Path(__file__).parents[3]


def find_folder() -> Path:
    """Return the folder of the shipped recipes: in the source tree, or inside the wheel."""
    at_home = (_SOURCE / "pyproject.toml").is_file() and (_SOURCE / "recipes").is_dir()
    return _SOURCE / "recipes" if at_home else _PACKAGED


def list_shipped() -> dict[str, Path]:
    """Return the file of every shipped recipe."""
    return {path.stem: path for path in sorted(find_folder().glob("*.toml"))}


def is_shipped(path: Path) -> bool:
    """Return whether a file is one of the shipped recipes."""
    return path.resolve().parent == find_folder().resolve()


def read_summary(path: Path) -> str:
    """Return the first comment of a recipe, its one-line summary."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ").strip() if first.startswith("#") else ""
