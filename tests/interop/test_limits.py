"""A hostile folder is refused in words, within 5 seconds and 500 MB, before anything is built."""

import json
import os
import struct

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.errors import DataError
from regard.interop.limits import check_sizes, read_header
from regard.interop.take import read

from ..reliability.bounds import OURS, within


@pytest.fixture
def folder(checkpoints, tmp_path):
    checkpoints.save_sentences(tmp_path / "hf")
    return tmp_path / "hf"


def change(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def write_header(file, header, size=0):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    with file.open("wb") as opened:
        opened.write(struct.pack("<Q", len(raw)) + raw)
        opened.truncate(8 + len(raw) + size)


def tensor(end=4, **changes):
    return {"dtype": "F32", "shape": [end // 4], "data_offsets": [0, end], **changes}


def set_size(name):
    return lambda folder: change(folder / "config.json", **{name: 10**9})


def write_many_tensors(folder):
    entry = '":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    header = "{" + ",".join(f'"{n}{entry}' for n in range(1_200_000)) + "}"
    write_header(folder / "model.safetensors", header.encode())


def write_short_tensors(folder):
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    write_header(folder / "model.safetensors", {f"{n:x}": entry for n in range(100_001)})


def write_vocabulary(size, line=b"word\n"):
    def write(folder):
        (folder / "tokenizer.json").unlink()
        (folder / "vocab.txt").write_bytes(line * (size // len(line)))

    return write


def write_json(raw):
    return lambda folder: (folder / "tokenizer.json").write_bytes(raw)


def leave_by(path):
    def leave(folder):
        modules = json.loads((folder / "modules.json").read_text())
        modules[1]["path"] = path
        (folder / "modules.json").write_text(json.dumps(modules))

    return leave


def link(name, to="/etc/passwd"):
    def make(folder):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(to)

    return make


def link_pooling(folder):
    (folder / "1_Pooling").rename(folder.parent / "pooling")
    (folder / "1_Pooling").symlink_to(folder.parent / "pooling")


def make_fifo(folder):
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")


def put_number(value):
    def put(folder):
        tensors = load_file(folder / "model.safetensors")
        next(iter(tensors.values())).view(-1)[0] = value
        save_file(tensors, folder / "model.safetensors")

    return put


HOSTILE = {
    "width": (set_size("hidden_size"), "would have over"),
    "depth": (set_size("num_hidden_layers"), "would have over"),
    "positions": (set_size("max_position_embeddings"), "would have over"),
    "feed_forward": (set_size("intermediate_size"), "would have over"),
    "segments": (set_size("type_vocab_size"), "would have over"),
    "1.2 million tensors": (write_many_tensors, "its header has"),
    "100,001 tensors": (write_short_tensors, "at most 100,000 tensors"),
    "a vocabulary of 300 MB": (write_vocabulary(300_000_000), "it has 300,000,000 bytes"),
    "a vocabulary of 6 million": (write_vocabulary(12_000_000, b"a\n"), "6,000,000 lines"),
    "deep JSON": (write_json(b"[" * 10_000_000), "nested more than 32 levels"),
    "JSON 33 levels deep": (
        write_json(b'{"a":' * 33 + b"1" + b"}" * 33),
        "nested more than 32 levels",
    ),
    "many small values": (write_json(b"[" + b"[]," * 8_000_000 + b"0]"), "values"),
    "many small lists": (write_json(b"[]" * 20_000_000), "values"),
    "open string": (write_json(b'"' + b"\\a" * 20_000_000), "not JSON"),
    "a JSON file of 300 MB": (write_json(b" " * 300_000_000), "bytes"),
    "a path upwards": (leave_by("../1_Pooling"), "leads out"),
    "an absolute path": (leave_by("/etc"), "leads out"),
    "a linked file": (link("config.json"), "is a link"),
    "linked weights": (link("model.safetensors", "/dev/zero"), "is a link"),
    "a linked vocabulary": (link("vocab.txt"), "is a link"),
    "a linked folder": (link_pooling, "is a link"),
    "a FIFO": (make_fifo, "neither a file nor a folder"),
    "NaN": (put_number(torch.nan), "NaN or infinite"),
    "infinite": (put_number(-torch.inf), "NaN or infinite"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_folder_is_refused_within_its_bounds(folder, name):
    make, word = HOSTILE[name]
    make(folder)
    ended = within(lambda: read(folder), seconds=5, megabytes=500)
    assert ended.code == OURS, ended.said
    assert word in ended.said
    assert ended.said.count("\n") == 1


def test_the_folder_is_otherwise_taken(folder):
    assert within(lambda: read(folder)).code == 0


@pytest.mark.parametrize(
    ("header", "size", "word"),
    [
        (b"[]", 0, "not a table"),
        ({"a": 1}, 0, "does not describe"),
        ({"a": tensor(dtype="X")}, 4, "has the type"),
        ({"a": tensor(shape=[-1])}, 4, "has the type"),
        ({"a": tensor(shape=[True])}, 4, "has the type"),
        ({"a": tensor(shape=[1] * 9)}, 4, "has the type"),
        ({"a": tensor(shape=[2])}, 4, "not those of its shape"),
        ({"a": tensor(data_offsets=[4, 8])}, 8, "not those of its shape"),
        ({"a": tensor(), "b": tensor()}, 4, "not those of its shape"),
        ({"a": tensor()}, 5, "its tensors have 4 bytes, not 5"),
        ({"a": tensor()}, 3, "its tensors have 4 bytes, not 3"),
    ],
)
def test_a_header_must_describe_the_file(tmp_path, header, size, word):
    write_header(tmp_path / "m", header, size)
    with pytest.raises(DataError, match=word):
        read_header(tmp_path / "m")


def test_a_header_must_be_there(tmp_path):
    for raw in (b"", b"\x01\x00\x00", struct.pack("<Q", 1 << 60) + b"{}"):
        (tmp_path / "m").write_bytes(raw)
        with pytest.raises(DataError, match="header"):
            read_header(tmp_path / "m")


def test_shapes_are_read(tmp_path):
    tensors = {"a": torch.ones(2, 3), "b": torch.ones(5, dtype=torch.bool), "c": torch.ones(())}
    save_file(tensors, tmp_path / "m", {"format": "pt"})
    assert read_header(tmp_path / "m") == {"a": (2, 3), "b": (5,), "c": ()}


def test_computed_positions_have_no_table(tmp_path):
    config = {"hidden_size": 4, "vocab_size": 10, "max_position_embeddings": 10**6}
    check_sizes({**config, "rope_theta": 1e4}, {"a": (10, 4)}, tmp_path)
    for more in ({}, {"rope_theta": 1e4, "model_type": "bert"}):
        with pytest.raises(DataError, match="would have over"):
            check_sizes({**config, **more}, {"a": (10, 4)}, tmp_path)
