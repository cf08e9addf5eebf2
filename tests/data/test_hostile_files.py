"""Hostile files: each is refused in words, within 5 seconds of the processor and 500 MB."""

import gzip
import os
import zlib

import pytest
import zstandard

from regard.data.check import check

from ..reliability.bounds import within

ZEROS = b"\0" * (1 << 20)


def pack_gz(file, *parts):
    """Write parts, each ``(bytes, times)``, without holding what they become."""
    with gzip.GzipFile(file, "wb", compresslevel=1) as packed:
        for part, times in parts:
            for _ in range(times):
                packed.write(part)


def pack_zst(file, *parts):
    with file.open("wb") as raw, zstandard.ZstdCompressor(level=1).stream_writer(raw) as packed:
        for part, times in parts:
            for _ in range(times):
                packed.write(part)


TMX = b'<tmx version="1.4"><body><tu><tuv xml:lang="de"><seg>'
A = b"a" * (1 << 20)


def make_fifo(file):
    os.mkfifo(file)


def link(device):
    return lambda file: file.symlink_to(device)


def write_bomb(start, part, times):
    return lambda file: (pack_gz if file.suffix == ".gz" else pack_zst)(
        file, (start, 1), (part, times)
    )


def write_deep_attributes(file):
    pack_gz(file, (TMX + b'x</seg></tuv><tuv xml:lang="', 1), (A, 64))


HOSTILE = {
    "fifo.txt": (make_fifo, "device, a pipe"),
    "fifo.tsv": (make_fifo, "device, a pipe"),
    "fifo.tmx": (make_fifo, "device, a pipe"),
    "fifo.po": (make_fifo, "device, a pipe"),
    "fifo.parquet": (make_fifo, "device, a pipe"),
    "zero.txt": (link("/dev/zero"), "device, a pipe"),
    "zero.tsv.gz": (link("/dev/zero"), "device, a pipe"),
    "random.jsonl": (link("/dev/urandom"), "device, a pipe"),
    "line.txt.gz": (write_bomb(b"a", ZEROS, 1024), "a line has more than"),
    "line.txt.zst": (write_bomb(b"a", ZEROS, 4096), "a line has more than"),
    "line.csv.zst": (write_bomb(b"a,b\n1,", A, 1024), ""),
    "segment.tmx.gz": (write_bomb(TMX, A, 1024), "over 16,777,216 characters"),
    "segment.tmx.zst": (write_bomb(TMX, A, 2048), "over 16,777,216 characters"),
    "attribute.tmx.gz": (write_deep_attributes, "a tag has more than"),
    "deep.tmx.gz": (write_bomb(TMX, b"<b>" * 100_000, 200), "levels deep"),
    "units.tmx.gz": (write_bomb(TMX + b"x</seg>", b"<x/>" * 100_000, 200), "characters"),
    "deep.jsonl": (lambda file: file.write_bytes(b'{"a":' * 3_000_000), ""),
    "folder": (lambda file: file.mkdir(), "class"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_within_its_bounds(tmp_path, name):
    make, word = HOSTILE[name]
    make(tmp_path / name)

    def work():
        report = check({"train": [tmp_path / name]}, expected=1 if ".txt" in name else 2)
        said = " ".join(f"{found.problem} {found.remedy}" for found in report.findings)
        assert not report.ok and word in said, said

    ended = within(work, seconds=5, megabytes=500)
    assert ended.code == 0, ended.said


def test_zstandard_is_expanded_a_piece_at_a_time(tmp_path):
    """1.3 GB of one byte are 131 KB; reading the first line of them needs little."""
    from regard.data.compression import open_bytes

    pack_zst(tmp_path / "z.zst", (b"line\n", 1), (ZEROS, 1300))
    assert (tmp_path / "z.zst").stat().st_size < 200_000
    assert within(lambda: open_bytes(tmp_path / "z.zst").readline(), megabytes=60).code == 0


def test_compressed_files_come_back_whole(tmp_path):
    from regard.data.compression import open_bytes

    whole = zlib.compress(os.urandom(300_000)) * 3
    for name, pack in (("a.gz", pack_gz), ("a.zst", pack_zst)):
        pack(tmp_path / name, (whole, 2))
        with open_bytes(tmp_path / name) as file:
            assert file.read() == whole * 2
