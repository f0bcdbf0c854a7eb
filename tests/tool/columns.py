"""Each column of a table that a command prints is explained in its --help: the head without the names listed there is empty."""
import pathlib
import re
import sys

import tool

EXAMPLES = tool.SOURCE / "examples"
SKIP = 77


def columns(*command):
    """The names in the list of columns of a command's help; one line may name two."""
    done = tool.run(*command, "--help", code=None)
    if done.returncode:  # yoke was built without this program
        sys.exit(SKIP)
    listed = done.stdout.partition("\ncolumns:\n")[2].partition("\n\n")[0].splitlines()
    names = [re.split(r" {2,}", line[2:].rstrip())[0] if len(line) > 2 and line[2] != " " else "" for line in listed]
    assert all(names[0:1]), f"{command}: --help has no list of columns"
    return sorted({part for name in names if name for part in (name, *name.split(", "))}, key=len, reverse=True)


def unexplained(head, names):
    """What is left of the head of a table without these names."""
    left = f" {head.strip()} "
    for name in names:
        left = re.sub(rf" {re.escape(name)} ", "  ", left)
    return left.strip()


def check(heads, *command, words=(), names=None):
    """Runs the command; each line that begins with one of the heads' first words consists of explained names."""
    names = names or columns(*command)
    output = tool.run(*command, *words).stdout
    for first in heads:
        found = re.findall(rf"^ *{re.escape(first)}.*$", output, re.MULTILINE)
        assert found, f"{command}: no table begins with {first!r}:\n{output}"
        left = unexplained(found[0], names)
        assert not left, f"{command}: --help does not explain {left!r} of {found[0]!r}"


def test_the_check_sees_a_name_that_is_missing():
    assert unexplained("step elements  s/product", ["step", "elements", "s/product"]) == ""
    assert unexplained("step elements  s/product", ["step", "elements"]) == "s/product"
    assert unexplained("most ms  most", ["most"]) == "ms"


def test_plan():
    check(("device", "alternative", "time, s"), "plan", words=(EXAMPLES / "models/node-2024.json", "--pareto"))


def test_reproduce():
    check(("published",), "reproduce", words=("peach",))


def test_fem():
    case = (EXAMPLES / "fichera.yaml", "--set", "element=q1", "--set", "refine.steps=1")
    check(("step",), "fem", words=case)
    check(("step",), "fem", words=(*case, "--machine", EXAMPLES / "machines/node-2026.json", "--devices", "sim:cpu,sim:gpu"))
    check(("kernel",), "fem", words=(*case, "--machine", EXAMPLES / "machines/node-2026.json", "--devices", "sim:cpu,sim:gpu", "--objective", "energy", "--profile"))


def test_fmm():
    frames = pathlib.Path("frames.xyz")
    frames.write_text("1\n\nX 1 2 3 4\n1\n\nX 1 2 3 4\n", encoding="utf-8")
    check(("frame",), "fmm", words=(frames, "--direct", "--frames", "all"))
    devices = ("--machine", EXAMPLES / "machines/pairs-2026.json", "--devices", "sim:cpu,sim:gpu")
    check(("tree  ",), "fmm", words=("--generate", "grid", "--particles", "2000", "--order", "3", "--explain", "--store", "none", *devices))


def test_dense():
    check(("device",), "dense", "gemm", words=("-n", "8", "--devices", "openmp", "--store", "none"))
    check(("device",), "dense", "transpose", words=("-n", "8", "--devices", "openmp", "--store", "none"))
    check(("device",), "dense", "tsp", words=("-n", "8", "--restarts", "3", "--devices", "openmp", "--store", "none"))


def test_bench_adapt():
    check(("step",), "bench", "adapt", words=(EXAMPLES / "fichera.yaml", "--quick", "--set", "element=q1", "--set", "refine.steps=1"))


def test_bench_axmebe():
    check(("devices",), "bench", "axmebe", words=("--devices", "openmp", "--elements", "8", "--element", "q1", "--variants", "stored", "--seconds", "0"))


def test_bench_cg():
    check(("mesh",), "bench", "cg", words=("--elements", "8", "--element", "q1", "--threads", "1", "--seconds", "0"))


def test_bench_overhead():
    check(("step",), "bench", "overhead", words=(EXAMPLES / "fichera.yaml", "--steps", "0", "--pairs", "3", "--set", "element=q1"))


def test_bench_fem_reductions():
    words = (EXAMPLES / "fichera.yaml", "--quick", "--set", "element=q1", "--steps", "0", "--repeats", "1", "--threads", "1", "--ways", "chunks,owner")
    check(("way",), "bench", "fem-reductions", words=words)


def test_bench_balance():
    check(("family",), "bench", "balance", words=("--pairs", "2", "--noise", "1"))


def test_bench_plan():
    check(("problems",), "bench", "plan", words=("--problems", "1", "--objective", "time"))


def test_bench_profile():
    check(("sensor",), "bench", "profile", words=("--seeds", "1", "--sensor", "hopper-instant"))


def test_bench_calibrate():
    check(("predictions", "plans"), "bench", "calibrate", words=("--machines", "1"))


def test_bench_clarke():
    check(("N",), "bench", "clarke", words=("--nodes", "8", "--blocks", "40"))


def test_bench_scaling():
    check(("ranks",), "bench", "scaling", words=("--ranks", "10", "--simulated", "0"))


def test_bench_numa():
    check(("kernel",), "bench", "numa", words=("--pretend", "2", "--megabytes", "1", "--repeats", "2", "--seconds", "0.001"))


def test_bench_reduction():
    names = columns("bench", "reduction")
    check(("method",), "bench", "reduction", names=names, words=("--elements", "8", "--threads", "1", "--repeats", "1", "--seconds", "0.001"))
