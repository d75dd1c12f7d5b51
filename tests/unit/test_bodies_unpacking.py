"""Undoing the encoding of a body: whole, cut, damaged, followed by more, and bombs."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from formats.unpacking import (
    Malformed,
    TooLarge,
    UnknownEncoding,
    known_encoding,
    unpack,
)

TEXT = b"".join(b"line %d\n" % n for n in range(300))
PACK = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}


def unpacked(data: bytes, encoding: str, *, step: int = 7, most: int = 10**6) -> bytes:
    blocks = [data[at : at + step] for at in range(0, len(data), step)]
    return b"".join(unpack(blocks, encoding, most=most))


@pytest.mark.parametrize("encoding", PACK)
@pytest.mark.parametrize("step", [1, 2, 7, 100_000])
def test_a_body_is_unpacked_however_it_is_cut(encoding: str, step: int):
    assert unpacked(PACK[encoding](TEXT), encoding, step=step) == TEXT


@pytest.mark.parametrize("encoding", PACK)
def test_several_members_are_one_body(encoding: str):
    data = PACK[encoding](TEXT) + PACK[encoding](b"") + PACK[encoding](b"end")
    assert unpacked(data, encoding) == TEXT + b"end"


@given(
    data=st.binary(max_size=2_000),
    step=st.integers(1, 500),
    encoding=st.sampled_from(sorted(PACK)),
)
def test_what_was_packed_comes_back(data: bytes, step: int, encoding: str):
    assert unpacked(PACK[encoding](data), encoding, step=step) == data


@pytest.mark.parametrize("encoding", PACK)
def test_a_body_cut_anywhere_is_malformed(encoding: str):
    data = PACK[encoding](TEXT)
    for end in range(len(data)):
        with pytest.raises(Malformed):
            unpacked(data[:end], encoding)


@pytest.mark.parametrize("encoding", PACK)
def test_a_second_member_cut_anywhere_is_malformed(encoding: str):
    first, second = PACK[encoding](b"first"), PACK[encoding](b"second")
    for end in range(1, len(second)):
        with pytest.raises(Malformed):
            unpacked(first + second[:end], encoding)


@pytest.mark.parametrize("encoding", PACK)
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_garbage_behind_the_data_is_malformed(encoding: str, step: int):
    with pytest.raises(Malformed):
        unpacked(PACK[encoding](TEXT) + b"garbage", encoding, step=step)


@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_zeros_behind_gzip_are_padding(step: int):
    data = gzip.compress(TEXT)
    assert unpacked(data + bytes(50), "gzip", step=step) == TEXT
    with pytest.raises(Malformed):
        unpacked(data + bytes(50) + gzip.compress(TEXT), "gzip", step=step)


@pytest.mark.parametrize("encoding", PACK)
def test_a_flipped_bit_never_passes_as_another_text(encoding: str):
    data = PACK[encoding](TEXT)
    choose = random.Random(5)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
        try:
            # Some bits of a header say nothing about the text.
            assert unpacked(bytes(damaged), encoding) == TEXT
        except (Malformed, TooLarge):
            pass


def test_raw_deflate_is_not_gzip():
    with pytest.raises(Malformed):
        unpacked(zlib.compress(TEXT), "gzip")


def test_a_window_beyond_what_http_allows_is_refused():
    wide = zstandard.ZstdCompressionParameters(window_log=24, write_content_size=0)
    data = zstandard.ZstdCompressor(compression_params=wide).compress(bytes(17 * 2**20))
    with pytest.raises(Malformed):
        unpacked(data, "zstd", most=2**30, step=4096)


def test_the_cap_is_the_last_byte_that_passes():
    assert unpacked(gzip.compress(b"x" * 100), "gzip", most=100) == b"x" * 100
    assert unpacked(b"x" * 100, "", most=100) == b"x" * 100
    for encoding in ("gzip", "zstd"):
        with pytest.raises(TooLarge):
            unpacked(PACK[encoding](b"x" * 101), encoding, most=100)
    with pytest.raises(TooLarge):
        unpacked(b"x" * 101, "", most=100)


@pytest.mark.parametrize("encoding", PACK)
def test_a_bomb_is_stopped_in_flat_memory(encoding: str):
    bomb = PACK[encoding](bytes(200 * 2**20))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            for _ in unpack([bomb], encoding, most=150 * 2**20):
                pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("", ""),
        ("identity", ""),
        ("gzip", "gzip"),
        (" GZip ", "gzip"),
        ("x-gzip", "gzip"),
        ("zstd", "zstd"),
    ],
)
def test_known_encodings(header: str, name: str):
    assert known_encoding(header) == name


@pytest.mark.parametrize("header", ["br", "deflate", "gzip, gzip", "gzip;q=1", "*"])
def test_any_other_encoding_is_unknown(header: str):
    with pytest.raises(UnknownEncoding) as caught:
        known_encoding(header)
    assert caught.value.status == 415
