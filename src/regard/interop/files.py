"""The files of a checkpoint, read with care: somebody else wrote them.

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
    """Refuse what is no checkpoint, before anything in it is opened."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is no folder.",
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
                f"{folder / name} is a pickle, which can run code when it is opened; it is not.",
                f"Get the model as {WEIGHTS}, or save it again with transformers on a machine that "
                "may be harmed: save_pretrained(DIR, safe_serialization=True).",
            )
    raise missing(folder, WEIGHTS)


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a file that must be there and hold a table."""
    found = _json(folder / name) if (folder / name).is_file() else None
    if found is None:
        raise missing(folder, name)
    if not isinstance(found, dict):
        raise _broken(folder / name, "it holds no table of names")
    return found


def read_json_if_there(folder: Path, name: str) -> dict[str, Any]:
    """Read a table that may be missing: then it is empty."""
    return read_json(folder, name) if (folder / name).is_file() else {}


def read_list(folder: Path, name: str) -> list[Any]:
    """Read a file that must hold a list."""
    found = _json(folder / name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _broken(folder / name, "it holds no list of tables")
    return found


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read every tensor by its name."""
    try:
        return load_file(folder / WEIGHTS)
    except (SafetensorError, OSError) as error:
        raise _broken(folder / WEIGHTS, f"{error}") from error


def missing(folder: Path, name: str) -> DataError:
    """Say that a file is not there."""
    return DataError(
        f"{folder} has no {name}.",
        "Get the whole folder: config.json, model.safetensors, and tokenizer.json or vocab.txt.",
    )


def _json(file: Path) -> object:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise _broken(file, f"it has {file.stat().st_size:,} bytes")
        return json.loads(file.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise _broken(file, f"it is no JSON ({why})") from None


def _broken(file: Path, why: str) -> DataError:
    return DataError(f"{file} cannot be read: {why}.", "Get this file again.")
