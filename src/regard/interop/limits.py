"""What a foreign folder may hold, compared before anything is parsed, allocated or built.

path     below the folder, by plain names; no links, no devices
JSON     at most 50 MB, 5 million values, 32 levels
header   of the weights: at most 10 MB and 100,000 tensors, whose bytes are the file's
sizes    of config.json: no model of more than twice the parameters that are there
"""

import json
import math
import re
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from regard.errors import DataError

MOST_BYTES = 50_000_000
"""Of a JSON file or a vocabulary; more is something else."""
MOST_VALUES = 5_000_000
MOST_DEPTH = 32
MOST_HEADER = 10_000_000
MOST_TENSORS = 100_000
MOST_DIMENSIONS = 8

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_BITS = {"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "I16": 16, "U16": 16, "F16": 16}
_BITS |= {"BF16": 16, "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64}
_WIDTHS = ("hidden_size", "n_embd", "d_model", "dim")
_INNER = ("intermediate_size", "n_inner", "d_ff", "encoder_ffn_dim", "hidden_dim", "ffn_dim")
_LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers")
_ROWS = ("vocab_size", "type_vocab_size")
_POSITIONS = ("max_position_embeddings", "n_positions")
_COMPUTED = re.compile("rope|rotary|relative|alibi")
"""Settings of positions that have no table."""
_TABLES = ("bert", "gpt2")
"""Architectures whose positions are a table, whatever else their config says."""


def locate(folder: Path, name: str) -> Path:
    """Return the path of a file of the folder; refuse a name that leads out of it, and links."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or len(name) > 255:
        raise make_broken(folder, f"a file is named {name[:80]!r}, which leads out of it")
    for depth in range(len(parts)):
        if (found := folder.joinpath(*parts[: depth + 1])).is_symlink():
            raise DataError(
                f"{found} is a link, which is not followed in a folder that is imported.",
                "Copy the folder with its links resolved (cp -rL FOLDER COPY) and import the copy.",
            )
    return folder / name


def check_plain_files(folder: Path) -> None:
    """Refuse links and devices, and vocabularies that are too large."""
    for file in sorted(folder.iterdir()):
        mode = locate(folder, file.name).stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise make_broken(file, "it is neither a file nor a folder")
        if file.suffix == ".txt":
            check_lines(file)


def check_lines(file: Path) -> None:
    """Refuse a vocabulary of too many bytes or lines."""
    if (size := file.stat().st_size) > MOST_BYTES:
        raise make_broken(file, f"it has {size:,} bytes, the most is {MOST_BYTES:,}")
    if (count := file.read_bytes().count(b"\n")) > MOST_VALUES:
        raise make_broken(file, f"it has {count:,} lines, the most is {MOST_VALUES:,}")


def parse_json(file: Path) -> object:
    """Parse a JSON file within the limits."""
    if (size := file.stat().st_size) > MOST_BYTES:
        raise make_broken(file, f"it has {size:,} bytes, the most is {MOST_BYTES:,}")
    return _parse(file, file.read_bytes())


def _parse(file: Path, raw: bytes) -> object:
    brackets = _STRING.sub(b"", raw).translate(None, _NO_BRACKETS)
    if max(raw.count(b","), len(brackets) // 2) > MOST_VALUES:
        raise make_broken(file, f"it has more than {MOST_VALUES:,} values")
    if _is_deep(brackets):
        raise make_broken(file, f"it is nested more than {MOST_DEPTH} levels deep")
    try:
        return json.loads(raw.decode("utf-8"))
    except ValueError as error:
        raise make_broken(file, f"it is not JSON ({error})") from None


def _is_deep(brackets: bytes) -> bool:
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        if depth > MOST_DEPTH:
            return True
    return False


def read_header(file: Path) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor of a safetensors file; nothing of them is read."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if size < 8 or length > min(MOST_HEADER, size - 8):
            raise make_broken(
                file, f"its header has {length:,} bytes of {size:,}, the most is {MOST_HEADER:,}"
            )
        found = _parse(file, opened.read(length))
    if not isinstance(found, dict) or len(found) > MOST_TENSORS:
        raise make_broken(file, f"its header is not a table of at most {MOST_TENSORS:,} tensors")
    found.pop("__metadata__", None)
    end, shapes = 0, {}
    for name, entry in sorted(found.items(), key=_begin_of):
        shapes[name], end = _read_entry(file, name, entry, end)
    if end != size - 8 - length:
        raise make_broken(file, f"its tensors have {end:,} bytes, not {size - 8 - length:,}")
    return shapes


def _begin_of(item: tuple[str, Any]) -> int:
    match item[1]:
        case {"data_offsets": [int() as begin, int()]}:
            return begin
    return 0


def _read_entry(file: Path, name: str, entry: object, begin: int) -> tuple[tuple[int, ...], int]:
    """Return a tensor's shape and where its bytes end; they begin where the last one's end."""
    match entry:
        case {"dtype": str() as dtype, "shape": [*shape], "data_offsets": [first, end]}:
            bits = _BITS.get(dtype)
        case _:
            raise make_broken(file, f"its header does not describe the tensor {name[:80]!r}")
    whole = all(type(number) is int and number >= 0 for number in (*shape, first, end))
    if bits is None or not whole or len(shape) > MOST_DIMENSIONS:
        raise make_broken(
            file, f"the tensor {name[:80]!r} has the type {dtype[:20]}, shape {shape[:9]}"
        )
    if first != begin or (end - begin) * 8 != math.prod(shape) * bits:
        raise make_broken(file, f"the bytes of the tensor {name[:80]!r} are not those of its shape")
    return tuple(shape), end


def check_sizes(
    config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], file: Path
) -> None:
    """Refuse a config whose model would be far larger than the weights are."""
    width, inner, layers = (_largest(config, names) for names in (_WIDTHS, _INNER, _LAYERS))
    rows = sum(_largest(config, (name,)) for name in _ROWS)
    computed = any(_COMPUTED.search(name) for name in config)
    if not computed or config.get("model_type") in _TABLES:
        rows += _largest(config, _POSITIONS)
    there = sum(math.prod(shape) for shape in shapes.values())
    wanted = width * (rows + 2 * layers * (width + inner))
    if layers > len(shapes) or wanted > 2 * there:
        raise make_broken(
            file, f"its model would have over {wanted:,} parameters; the weights are {there:,}"
        )


def _largest(config: Mapping[str, Any], names: tuple[str, ...]) -> int:
    found = [config[name] for name in names if type(config.get(name)) is int]
    return max(found, default=0)


def make_broken(file: Path, why: str) -> DataError:
    """Return the error for a file that is not what it should be."""
    return DataError(f"{file} cannot be read: {why}.", "Get this file again.")
