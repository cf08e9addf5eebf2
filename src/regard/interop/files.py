"""The files of a foreign checkpoint, which are not trusted.

JSON and safetensors only. A pickle can run code when it is opened, so none ever is.
"""

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from regard.errors import DataError, UsageError
from regard.interop.limits import (
    check_plain_files,
    check_sizes,
    locate,
    make_broken,
    parse_json,
    read_header,
)

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PICKLES = ("pytorch_model.bin", "model.bin", "pytorch_model.pt", "model.pt", "model.pth")
SHARDED = "model.safetensors.index.json"


def check_folder(folder: Path) -> None:
    """Refuse what is not a checkpoint, before anything in it is opened."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder.",
            f"Name a folder with {CONFIG}, {WEIGHTS} and a tokenizer, as transformers saves it.",
        )
    check_plain_files(folder)
    if (folder / WEIGHTS).is_file():
        shapes = read_header(folder / WEIGHTS)
        check_sizes(read_optional_json(folder, CONFIG), shapes, folder / CONFIG)
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
                f"Get the model as {WEIGHTS}, or save it again with transformers in a "
                "sandbox: save_pretrained(DIR, safe_serialization=True).",
            )
    raise make_missing(folder, WEIGHTS)


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a file that must be there and hold a table."""
    file = locate(folder, name)
    if not file.is_file():
        raise make_missing(folder, name)
    found = parse_json(file)
    if not isinstance(found, dict):
        raise make_broken(file, "it does not hold a JSON object")
    return found


def read_optional_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a table that may be missing: then it is empty."""
    return read_json(folder, name) if locate(folder, name).is_file() else {}


def read_list(folder: Path, name: str) -> list[Any]:
    """Read a file that must hold a list."""
    found = parse_json(locate(folder, name))
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise make_broken(folder / name, "it does not hold a list of JSON objects")
    return found


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read every tensor by its name; refuse numbers that are not finite."""
    file = locate(folder, WEIGHTS)
    read_header(file)
    try:
        found = load_file(file)
    except (SafetensorError, OSError) as error:
        raise make_broken(file, f"{error}") from error
    for name, tensor in found.items():
        if tensor.is_floating_point() and not tensor.to(torch.float32).isfinite().all():
            raise make_broken(file, f"the tensor {name} holds NaN or infinite numbers")
    return found


def make_missing(folder: Path, name: str) -> DataError:
    """Return the error for a file that is missing."""
    return DataError(
        f"{folder} has no {name}.",
        "Get the whole folder: config.json, model.safetensors, and tokenizer.json or vocab.txt.",
    )
