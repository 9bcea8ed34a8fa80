"""Damage for the fuzzer: bytes, text, JSON, archives. One `random.Random` decides all of it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import pyarrow as pa

Mutate = Callable[[bytes, Random], bytes]

HOSTILE: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, -1e308, 5e-324, 0.1, -0.0),
    *("", "x", "a" * 70_000, "\x00", "\x1b]0;X\x07", "\x9b2J", "\u202egnp.exe", "=1+1", "@x", "../../x", "NaN"),
    *("\ufeff", [], {}, [[]], [None], {"": {}}, [1, "2", None, {}], {"a": [1]}, list(range(300)), "2024-02-30"),
]
RAW_JSON = [  # what json.dumps would not write
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, "9" * 5000, "1E400", r'"\ud800"', r'"\udc00x"'),
    *("[" * 150 + "]" * 150, "[" * 100_000, '{"a":' * 2000 + "1" + "}" * 2000, "01", "'x'", "{,}", "-", '"\x01"'),
]
MARK = "\x11raw\x11"
TOKENS = [
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b'"', b"'", b",", b";", b"\t", b"\\", b"|"),
    *(b"null", b"true", b"NaN", b"inf", b"-inf", b"1e999", b"{}", b"[]", b"{", b"}", b"[" * 200, b"::", b"\xc2\x9b31m"),
    *(b"\xed\xa0\x80", b"\xe2\x80\xae", b"0x10", b"1_000", b"1,5", b"1.234,5", b"12%", b"2024-13-45", b"\x1b[2J"),
    *(b"\xff" * 4, b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\x00" * 7, b"\x00" * 8, b"\x01\0\0\0", b"a" * 5000),
]


def damage_bytes(data: bytes, rng: Random) -> bytes:
    """One to eight small or large changes."""
    held = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, size = rng.randrange(len(held) + 1), rng.choice((1, 1, 2, 4, 8, 64, 1024))
        kind = rng.randrange(8)
        if kind == 0 and held:
            held[min(at, len(held) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            held[at : at + size] = rng.randbytes(min(size, 64))
        elif kind == 2:
            del held[at : at + size]
        elif kind == 3:
            held[at:at] = held[at : at + size] * rng.choice((1, 2, 50))
        elif kind == 4:
            token = rng.choice(TOKENS)
            held[at : at + rng.choice((0, len(token)))] = token
        elif kind == 5:
            held = held[:at] if rng.random() < 0.7 else held[at:]
        elif kind == 6:
            there = rng.randrange(len(held) + 1)
            held[at : at + size] = held[there : there + size]
        else:
            held[at : at + 8] = rng.choice((0, 1, 255, 2**31 - 1, 2**32 - 1, 2**63 - 1)).to_bytes(8, "little")
        if len(held) > 1 << 20:
            del held[1 << 20 :]
    return bytes(held)


def damage_cells(data: bytes, rng: Random) -> bytes:
    """A cell, a row or the mark between cells replaced, in text that has lines."""
    mark = max((b",", b";", b"\t", b"|"), key=data.count)
    lines = [line.split(mark) for line in data.split(b"\n")]
    for _ in range(rng.choice((1, 1, 2, 5))):
        line = rng.choice(lines)
        at = rng.randrange(len(line))
        kind = rng.randrange(5)
        if kind <= 1:
            line[at] = rng.choice((*TOKENS, str(rng.choice(HOSTILE)).encode(errors="replace")))
        elif kind == 2:
            line[at:at] = [line[at]] * rng.choice((1, 3, 200))
        elif kind == 3:
            del line[at:]
            line.append(b"")
        else:
            lines[rng.randrange(len(lines))] = list(line)
    mark = rng.choice((mark, mark, mark, mark, b";", b"|", b"\t"))
    return b"\n".join(mark.join(line) for line in lines)


def damage_json(data: bytes, rng: Random, seal: Callable[[Any], Any] = lambda content: content) -> bytes:
    """A value anywhere in JSON replaced, removed or repeated; then sealed anew, as a forger would."""
    content, raw = json.loads(data), list[str]()

    def hostile() -> Any:
        if rng.random() < 0.25:
            raw.append(rng.choice(RAW_JSON))
            return f"{MARK}{len(raw) - 1}"
        return deepcopy(rng.choice(HOSTILE))

    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        parent, keys = None, list[Any]()
        node = content
        while isinstance(node, dict | list) and node and (parent is None or rng.random() < 0.75):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            parent, key = node, rng.choice(keys)
            node = parent[key]
        if parent is None:
            content = hostile()
        elif (kind := rng.randrange(6)) <= 2:
            parent[key] = hostile()
        elif kind == 3:
            del parent[key]
        elif kind == 4:
            if isinstance(parent, list):
                parent += [deepcopy(node) for _ in range(rng.choice((1, 40)))]
            else:
                parent[str(rng.choice(HOSTILE))] = parent.pop(key)
        else:
            other = rng.choice(keys)
            parent[key], parent[other] = parent[other], parent[key]
    try:
        text = json.dumps(seal(content) if rng.random() < 0.9 else content, allow_nan=True)
    except (TypeError, ValueError, AttributeError, LookupError):  # what is no record can carry no seal
        text = json.dumps(content, allow_nan=True)
    for number, token in enumerate(raw):
        text = text.replace(json.dumps(f"{MARK}{number}"), token)
    return text.encode(errors="surrogatepass")


def damage_lines(data: bytes, rng: Random) -> bytes:
    """One of some JSON lines damaged."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    lines[at] = damage_json(lines[at] or b"{}", rng)
    return b"\n".join(lines)


def damage_zip(data: bytes, rng: Random) -> bytes:
    """A member of a zip damaged inside, with a checksum that fits; sometimes the zip itself."""
    if rng.random() < 0.3:
        return damage_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as stored:
        members = {name: stored.read(name) for name in stored.namelist()}
    at = rng.choice(list(members))
    if rng.random() < 0.1:
        del members[at]
    elif at == "header.npy" and rng.random() < 0.7:
        members[at] = _as_npy(damage_json(members[at][_end(members[at]) :], rng))
    elif at.endswith(".npy") and rng.random() < 0.6:
        members[at] = _other_header(members[at], rng)
    elif at.endswith((".xml", ".rels")) and rng.random() < 0.7:
        members[at] = _other_attribute(members[at], rng)
    else:
        members[at] = damage_bytes(members[at], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2))) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return packed.getvalue()


def _end(array: bytes) -> int:
    return 10 + int.from_bytes(array[8:10], "little")


def _as_npy(content: bytes) -> bytes:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(content)},), }}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def _other_header(array: bytes, rng: Random) -> bytes:
    header = array[10 : _end(array)]
    shapes = (b"(10000000000000, 10)", b"(-1,)", b"()", b"(1.5,)", b"(2,) * 99", b"((1,),)", b"('a',)", b"(0, 4)")
    kinds = (b"'|O'", b"'<f8, <f8'", b"[('a', '<f8')]", b"'<c16'", b"'<U9999999'", b"'<M8[s]'", b"'>f8'", b"None")
    header = rng.choice(
        (
            re.sub(rb"'shape': \([^)]*\)", b"'shape': " + rng.choice(shapes), header),
            re.sub(rb"'descr': '[^']*'", b"'descr': " + rng.choice(kinds), header),
            re.sub(rb"False", rng.choice((b"True", b"1", b"None")), header),
            b"(" * 300 + b")" * 300,
            damage_bytes(header, rng)[:60_000],
        )
    )
    version = rng.choice((b"\x01\x00", b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x09"))
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header + array[_end(array) :]


def _other_attribute(xml: bytes, rng: Random) -> bytes:
    places = list(re.finditer(rb'"[^"<>]*"|>[^<>]+<', xml))
    if not places:
        return damage_bytes(xml, rng)
    place = rng.choice(places)
    numbers = (b"-1", b"0", b"99999999999999999999", b"1e999", b"")
    values = (*numbers, b"XFD1048576", b"A0", b"s", b"d", b"b", b"e", b"&#55296;", b"_xD800_", b"a" * 9000)
    return xml[: place.start() + 1] + rng.choice(values) + xml[place.end() - 1 :]


def inside(pack: str, mutate: Mutate) -> Mutate:
    """The same damage to what is packed with gzip or zstd; sometimes to the packed bytes."""

    def damage(data: bytes, rng: Random) -> bytes:
        if rng.random() < 0.4:
            return damage_bytes(data, rng)
        if pack == "gzip":
            return gzip.compress(mutate(gzip.decompress(data), rng), mtime=0)
        plain = pa.CompressedInputStream(pa.BufferReader(data), pack).read()
        out = pa.BufferOutputStream()
        with pa.CompressedOutputStream(out, pack) as stream:
            stream.write(mutate(plain, rng))
        return out.getvalue().to_pybytes()

    return damage


def sealed_json(name: str, digest: Callable[[Any], str]) -> Mutate:
    """JSON that carries its own hash under a name; the hash fits again after the damage."""

    def seal(content: Any) -> Any:
        return {**content, name: digest(content)}

    return lambda data, rng: damage_json(data, rng, seal)


def proof_digest(content: Any) -> str:
    """As `check_proof` computes it."""
    body = json.dumps({name: value for name, value in content.items() if name != "sha256"}, separators=(",", ":"))
    return hashlib.sha256(body.encode()).hexdigest()


def either(*mutates: Mutate) -> Mutate:
    """One of several kinds of damage, evenly."""
    return lambda data, rng: rng.choice(mutates)(data, rng)
