"""NumPy's files, without NumPy."""
import pathlib
import struct


def write_npy(path, rows, kind="<f8", by_columns=False):
    """As NumPy writes it."""
    order = [list(column) for column in zip(*rows)] if by_columns else rows
    text = f"{{'descr': '{kind}', 'fortran_order': {by_columns}, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    letter = kind[0] + {"f8": "d", "f4": "f"}[kind[1:]]
    numbers = b"".join(struct.pack(letter[0] + str(len(row)) + letter[1], *row) for row in order)
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + numbers)


def read_npy(path):
    """The rows and the type."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", data[8:10])[0]
    assert (10 + length) % 64 == 0
    header = eval(data[10:10 + length].decode())  # a dictionary, as NumPy reads it
    assert sorted(header) == ["descr", "fortran_order", "shape"] and header["fortran_order"] is False
    rows, columns = header["shape"]
    letter = {"<f8": "d", "<f4": "f"}[header["descr"]]
    numbers = struct.unpack(f"<{rows * columns}{letter}", data[10 + length:])
    return [numbers[i * columns:(i + 1) * columns] for i in range(rows)], header["descr"]
