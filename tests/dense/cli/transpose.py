"""yoke dense transpose: files, records, and which devices it is worth the way for."""
import json
import os
import pathlib
import struct
import subprocess

from npy import read_npy, write_npy

PROGRAM = os.environ["YOKE_PROGRAM"]


def run(*words, code=0):
    if "--machine" not in words:
        words += ("--devices", "openmp")
    done = subprocess.run([PROGRAM, "dense", "transpose", *map(str, words), "--store", "none"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=500, check=False)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {words}\n{done.stdout}\n{done.stderr}"
    return done


def test_a_file_is_transposed_in_its_type():
    for kind, by_columns, written in (("<f8", False, "<f8"), (">f8", True, "<f8"), ("<f4", False, "<f4"), (">f4", True, "<f4")):
        rows = [[i + j / 8 for j in range(7)] for i in range(5)]
        rows[2][3] = float("inf")  # nothing is computed: any number will do
        write_npy("a.npy", rows, kind, by_columns)
        run("a.npy", "--output", "b.npy", "--check")
        found, got = read_npy("b.npy")
        assert got == written and found == [tuple(column) for column in zip(*rows)]


def test_a_raw_file_is_transposed():
    pathlib.Path("a.raw").write_bytes(struct.pack("<6f", *range(6)))
    run("a.raw", "-n", 3, "-m", 2, "--precision", "single", "--output", "b.bin", "--check")
    assert struct.unpack("<6f", pathlib.Path("b.bin").read_bytes()) == (0, 3, 1, 4, 2, 5)
    assert "a.raw has 24 bytes of numbers" in run("a.raw", "-n", 3, "-m", 2, code=2).stderr


def test_the_record():
    run("-n", 70, "-m", 130, "--check", "--ceiling", "--json", "run.json")
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    assert got["operation"] == "transpose" and (got["m"], got["n"], got["block"], got["precision"]) == (130, 70, 64, "double")
    assert got["check"] == {"kind": "entries", "passed": True} and got["ceiling"]["bytes_per_s"] > 0 and got["bytes_per_s"] > 0
    assert sum(one["units"] for one in got["parts"]) == 3


def test_a_card_behind_a_slow_bus_is_left_out_for_energy():
    """A unit of 4 rows of 8 doubles goes over the bus in 0.0512 s, and the CPU takes 0.002 s for it."""
    pathlib.Path("m.json").write_text(json.dumps({"name": "m", "devices": [
        {"name": "cpu", "class": "cpu", "seconds_per_unit": 2e-3, "power": {"idle_w": 10, "busy_w": 60}},
        {"name": "gpu", "class": "gpu", "seconds_per_unit": 1e-4, "copy": {"latency_s": 0, "bytes_per_s": 1e4}, "power": {"idle_w": 20, "busy_w": 300, "copy_w": 40}}]}),
        encoding="utf-8")
    run("-n", 8, "-m", 8000, "-b", 4, "--machine", "m.json", "--objective", "energy", "--json", "run.json", "--check")
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    cpu, gpu = got["parts"]
    assert gpu["units"] <= 20 and cpu["units"] + gpu["units"] == 2000, got["parts"]
    assert got["rounds"][-1]["imbalance"] == 0  # one device
