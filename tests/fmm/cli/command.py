"""Runs of yoke fmm, and what plain sums say of a few particles."""
import json
import math
import os
import pathlib
import subprocess

PROGRAM = os.environ["YOKE_PROGRAM"]
SKIP = 77
MACHINES = pathlib.Path(__file__).resolve().parents[3] / "examples/machines"


def run(*words, code=0, **more):
    done = subprocess.run([PROGRAM, "fmm", *map(str, words)], stdin=more.pop("stdin", subprocess.DEVNULL), capture_output=True, text=True, timeout=500,
                          check=False, **more)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {words}\n{done.stdout}\n{done.stderr}"
    return done


def record(*words, method=("--direct",), **more):
    run(*words, *method, "--json", "run.json", **more)
    return json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))


def rows(path, separator=None):
    head, *lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [dict(zip(head.split(separator), map(float, line.split(separator)))) for line in lines]


# x, y, z, q of a few particles, and what holds for them by plain sums here.
FEW = [(0, 0, 0, 1), (1, 0, 0, -2), (0, 2, 0, 3), (0.5, 0.25, -4, 0.125), (-1e3, 7, 1, 0)]


def write_few(path="few.txt"):
    pathlib.Path(path).write_text("".join(" ".join(map(repr, line)) + "\n" for line in FEW), encoding="utf-8")
    return path


def sums(i):
    potential, force = 0, [0, 0, 0]
    for j, other in enumerate(FEW):
        if j != i:
            r = math.dist(FEW[i][:3], other[:3])
            potential += other[3] / r
            for c in range(3):
                force[c] += FEW[i][3] * other[3] * (FEW[i][c] - other[c]) / r**3
    return potential, force


def check_few(found):
    assert len(found) == len(FEW)
    for i, row in enumerate(found):
        potential, force = sums(i)
        assert [row[name] for name in "xyzq"] == list(FEW[i])
        assert math.isclose(row["potential"], potential, rel_tol=1e-14)
        for name, value in zip(("fx", "fy", "fz"), force):
            assert math.isclose(row[name], value, rel_tol=1e-13, abs_tol=1e-15)
