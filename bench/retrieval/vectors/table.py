"""Writes the table of vectors in the format of `mcpaql-lexicon`'s `vectors`."""

import struct
from pathlib import Path

import numpy as np


def quantised(vectors, weights):
    """One signed byte for each dimension, and one byte for the scale of each vector."""
    rows = vectors * weights[:, None]
    scales = np.maximum(np.abs(rows).max(1), 1e-12) / 127
    # Scales are powers of two to a sixteenth, relative to the largest one.
    bytes_ = np.clip(np.ceil(255 + 16 * np.log2(scales / scales.max())), 0, 255)
    used = scales.max() * 2.0 ** ((bytes_ - 255) / 16)
    return np.clip(np.round(rows / used[:, None]), -127, 127).astype(np.int8), bytes_.astype(np.uint8)


def checksum(data):
    """FNV-1a, as the test of the table computes it."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def write(path, pieces, vectors, weights):
    starts = sorted((piece, at) for at, piece in enumerate(pieces) if not piece.startswith("##"))
    continuing = sorted((piece[2:], at) for at, piece in enumerate(pieces) if piece.startswith("##"))
    rows, scales = quantised(vectors, weights)
    names = [piece.encode() for piece, _ in starts + continuing]
    order = [at for _, at in starts + continuing]
    data = b"MQV1" + struct.pack("<III", len(starts), len(continuing), vectors.shape[1])
    data += bytes(len(name) for name in names) + scales[order].tobytes() + rows[order].tobytes() + b"".join(names)
    Path(path).write_bytes(data)
    Path(path).with_name("checksum").write_text(checksum(data) + "\n")
    return len(data)
