"""The files of a foreign checkpoint, which are not trusted.

JSON and safetensors only. A pickle can run code when it is opened, so none ever is.
"""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from regard.errors import DataError, UsageError

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PICKLES = ("pytorch_model.bin", "model.bin", "pytorch_model.pt", "model.pt", "model.pth")
SHARDED = "model.safetensors.index.json"
MOST_BYTES = 100_000_000
"""Of a JSON file; more is something else."""


def check_folder(folder: Path) -> None:
    """Refuse what is not a checkpoint, before anything in it is opened."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder.",
            f"Name a folder with {CONFIG}, {WEIGHTS} and a tokenizer, as transformers saves it.",
        )
    if (folder / WEIGHTS).is_file():
        return
    if (folder / SHARDED).is_file():
        raise DataError(
            f"weights must be one file, {WEIGHTS}; {folder} has them in several ({SHARDED}).",
            "Save the model again with transformers: save_pretrained(DIR, max_shard_size='50GB').",
        )
    for name in PICKLES:
        if (folder / name).is_file():
            raise DataError(
                f"{folder / name} is a pickle, which can run code when it is loaded.",
                f"Get the model as {WEIGHTS}, or save it again with transformers on a machine that "
                "may be harmed: save_pretrained(DIR, safe_serialization=True).",
            )
    raise make_missing(folder, WEIGHTS)


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a file that must be there and hold a table."""
    found = _load(folder / name) if (folder / name).is_file() else None
    if found is None:
        raise make_missing(folder, name)
    if not isinstance(found, dict):
        raise _make_broken(folder / name, "it does not hold a JSON object")
    return found


def read_optional_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a table that may be missing: then it is empty."""
    return read_json(folder, name) if (folder / name).is_file() else {}


def read_list(folder: Path, name: str) -> list[Any]:
    """Read a file that must hold a list."""
    found = _load(folder / name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _make_broken(folder / name, "it does not hold a list of JSON objects")
    return found


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read every tensor by its name."""
    try:
        return load_file(folder / WEIGHTS)
    except (SafetensorError, OSError) as error:
        raise _make_broken(folder / WEIGHTS, f"{error}") from error


def make_missing(folder: Path, name: str) -> DataError:
    """Return the error for a file that is missing."""
    return DataError(
        f"{folder} has no {name}.",
        "Get the whole folder: config.json, model.safetensors, and tokenizer.json or vocab.txt.",
    )


def _load(file: Path) -> object:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise _make_broken(file, f"it has {file.stat().st_size:,} bytes")
        return json.loads(file.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise _make_broken(file, f"it is not JSON ({why})") from None


def _make_broken(file: Path, why: str) -> DataError:
    return DataError(f"{file} cannot be read: {why}.", "Get this file again.")
