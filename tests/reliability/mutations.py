"""Ways to damage a file, drawn at random: what disks, transfers, editors and attackers do."""

import random

PIECES = (
    *(b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b"\t", b'"', b",", b"\\"),
    *(b"{", b"}", b"[", b"]", b"null", b"NaN", b"1e999", b"-1", b"9" * 30, b"true", b'""', b"[]"),
    *(
        b"<",
        b"&",
        b"<!DOCTYPE a>",
        b"../",
        b"\x1b[2J",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
    ),
)


def mutate(raw: bytes, rng: random.Random) -> bytes:
    """Damage bytes in one to three places."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        raw = rng.choice((_flip, _cut, _insert, _replace, _remove, _repeat, _swap))(raw, rng)
    return raw


def _span(raw: bytes, rng: random.Random) -> tuple[int, int]:
    begin = rng.randrange(len(raw) + 1)
    return begin, min(len(raw), begin + rng.choice((1, 2, 5, 20, 200)))


def _flip(raw: bytes, rng: random.Random) -> bytes:
    if not raw:
        return raw
    changed = bytearray(raw)
    changed[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(raw: bytes, rng: random.Random) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def _insert(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice(PIECES) * rng.choice((1, 1, 3, 2000)) + raw[at:]


def _replace(raw: bytes, rng: random.Random) -> bytes:
    begin, end = _span(raw, rng)
    return raw[:begin] + rng.choice(PIECES) + raw[end:]


def _remove(raw: bytes, rng: random.Random) -> bytes:
    begin, end = _span(raw, rng)
    return raw[:begin] + raw[end:]


def _repeat(raw: bytes, rng: random.Random) -> bytes:
    begin, end = _span(raw, rng)
    return raw[:end] + raw[begin:end] * rng.choice((1, 50)) + raw[end:]


def _swap(raw: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
    return raw[b:] + raw[a:b] + raw[:a]
