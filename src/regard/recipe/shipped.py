"""The recipes that come with regard, by name."""

from pathlib import Path

_PACKAGED = Path(__file__).parent / "shipped"
_SOURCE = Path(__file__).parents[3]


def folder() -> Path:
    """Return where the shipped recipes are: in the source tree, or where a wheel has put them."""
    at_home = (_SOURCE / "pyproject.toml").is_file() and (_SOURCE / "recipes").is_dir()
    return _SOURCE / "recipes" if at_home else _PACKAGED


def shipped() -> dict[str, Path]:
    """Return the file of every shipped recipe."""
    return {path.stem: path for path in sorted(folder().glob("*.toml"))}


def is_shipped(path: Path) -> bool:
    """Tell whether a file is one of the shipped recipes."""
    return path.resolve().parent == folder().resolve()


def about(path: Path) -> str:
    """Return the first comment of a recipe: what it is for, in a line."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ").strip() if first.startswith("#") else ""
