"""Tensors in a file, and a disk that refuses them."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor


def write_tensors(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors to a file."""
    with refusals():
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, file)


def write_tensors_whole(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors so that they are there whole or not at all."""
    unfinished = file.with_name(f".{file.name}")
    write_tensors(unfinished, tensors)
    unfinished.replace(file)


@contextmanager
def refusals() -> Iterator[None]:
    """Let what the disk refuses be an OSError, though safetensors has an error of its own."""
    try:
        yield
    except SafetensorError as error:
        if refused := re.search(r"os error (\d+)", str(error)):
            number = int(refused[1])
            raise OSError(number, os.strerror(number)) from error
        raise
