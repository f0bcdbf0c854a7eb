"""yoke dense gemm under mpirun: the product on 1 to 4 ranks, its partition, and errors of one rank."""
import csv
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

from npy import read_npy, write_npy

PROGRAM = os.environ["YOKE_PROGRAM"]
MPIRUN = ["mpirun", "--oversubscribe"]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def need_mpi():
    # Started so, Open MPI leaves memory in more libraries than leaks-of-others.txt names.
    if shutil.which("mpirun") is None or os.environ.get("YOKE_SANITIZED"):
        raise SystemExit(77)


def command(*words):
    devices = () if "--machine" in words or "--devices" in words else ("--devices", "openmp")
    return [PROGRAM, "dense", "gemm", *map(str, words), *devices, "--store", "none"]


def finish(words, code):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False, env=ENVIRONMENT)
    done.stdout, done.stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {words}\n{done.stdout}\n{done.stderr}"
    return done


def run(ranks, *words, code=0):
    return finish([*MPIRUN, "-n", str(ranks), *command(*words)], code)


def run_each(commands, code=0):
    """A command line for each rank."""
    words = [word for one in commands for word in (":", "-n", "1", *one)]
    return finish([*MPIRUN, *words[1:]], code)


def record(name="run.json"):
    return json.loads(pathlib.Path(name).read_text(encoding="utf-8"))


def errors(done):
    return [line for line in done.stderr.splitlines() if line.startswith("yoke dense gemm: error: ")]


def matrix(rows, columns, seed):
    numbers = random.Random(seed)
    return [[numbers.uniform(-2, 2) for _ in range(columns)] for _ in range(rows)]


def test_the_product_of_two_files_on_any_number_of_ranks():
    need_mpi()
    a, b = matrix(43, 29, 1), matrix(29, 37, 2)
    expected = [[math.fsum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
    for ranks, kind, by_columns, partition in ((1, "<f8", False, "fpm"), (2, ">f8", True, "even"), (3, "<f8", True, "fpm"), (4, ">f8", False, "cpm-multi")):
        write_npy("a.npy", a, kind, by_columns)
        write_npy("b.npy", b, "<f8", not by_columns)
        run(ranks, "a.npy", "b.npy", "--output", "c.npy", "-b", 3, "--check", "--partition", partition)
        found, written = read_npy("c.npy")
        assert written == "<f8" and len(found) == 43
        for got, right in zip(found, expected):
            assert len(got) == 37 and all(abs(x - y) <= 29 * 29 * 4 * 2.0**-53 for x, y in zip(got, right)), f"{ranks} ranks"


def test_random_matrices_are_the_same_on_any_number_of_ranks():
    need_mpi()
    finish(command("-n", 150, "-m", 90, "-k", 70, "--precision", "single", "--output", "one.npy"), 0)
    run(3, "-n", 150, "-m", 90, "-k", 70, "--precision", "single", "--output", "three.npy", "-b", 16)
    one, three = read_npy("one.npy"), read_npy("three.npy")
    assert one[1] == three[1] == "<f4" and len(one[0]) == len(three[0]) == 90
    assert all(abs(x - y) <= 70 * 70 * 2.0**-23 for a, b in zip(one[0], three[0]) for x, y in zip(a, b))


def test_the_record_has_the_parts_of_all_ranks():
    need_mpi()
    done = run(4, "-n", 130, "-m", 100, "-k", 110, "-b", 10, "--check", "--json", "run.json", "--partition", "even")
    got = record()
    assert (got["ranks"], got["m"], got["n"], got["k"], got["block"], got["partition"], got["repartitions"]) == (4, 100, 130, 110, 10, "even", 0)
    assert [one["rank"] for one in got["parts"]] == [0, 1, 2, 3] and all(one["device"] == "openmp" and one["seconds"] > 0 for one in got["parts"])
    assert math.isclose(sum(one["share"] for one in got["parts"]), 1)
    assert sum(one["rectangle"]["rows"] * one["rectangle"]["columns"] for one in got["parts"]) == 100 * 130
    assert len(got["rounds"]) == 11 and got["imbalance"] == got["rounds"][-1]["imbalance"] >= 0
    # each step a rank gets the pivots of its rows and columns, of which it has some itself
    high = sum(one["rectangle"]["rows"] + one["rectangle"]["columns"] for one in got["parts"])
    assert 0 < sum(one["bytes"] for one in got["rounds"]) < 8 * 110 * high
    assert got["check"]["passed"] is True and got["measured"]["energy_j"] is None and got["measured"]["time_s"] > 0
    assert got["seconds"]["total"] >= got["seconds"]["multiply"] >= got["seconds"]["compute"] > 0
    assert done.stdout.count("check: ") == 1 and done.stderr == "", done.stdout + done.stderr


def test_the_help_explains_all_columns():
    need_mpi()
    explained = subprocess.run([PROGRAM, "dense", "gemm", "--help"], capture_output=True, text=True, check=True).stdout.partition("\ncolumns:\n")[2]
    head, = [line for line in run(2, "-n", 20).stdout.splitlines() if line.startswith("rank ")]
    for column in ("rank", "device", "units", "share %", "seconds", "by"):
        assert column in head and f"\n  {column} " in f"\n{explained}", column


def test_ranks_of_a_machine_share_out_its_gpus():
    need_mpi()
    stub = dict(word.split("=", 1) for word in os.environ["YOKE_STUB_CUDA"].split())
    for ranks, gpus, expected in ((2, 3, {0: ["openmp", "cuda:0", "cuda:2"], 1: ["openmp", "cuda:1"]}), (3, 1, {0: ["openmp", "cuda:0"], 1: ["openmp"], 2: ["openmp"]})):
        words = [PROGRAM, "dense", "gemm", "-n", "64", "--store", "none", "--json", "run.json", "--check"]
        finish([*MPIRUN, "-n", str(ranks), "env", *(f"{name}={value}" for name, value in stub.items()), f"YOKE_STUB_CUDA_DEVICES={gpus}", *words], 0)
        found = {rank: [one["device"] for one in record()["parts"] if one["rank"] == rank] for rank in range(ranks)}
        assert found == expected, found


def write_machine(name, seconds):
    devices = [{"name": f"d{i}", "class": "cpu" if i == 0 else "gpu", "seconds_per_unit": each} for i, each in enumerate(seconds)]
    pathlib.Path(name).write_text(json.dumps({"name": name, "devices": devices}), encoding="utf-8")
    return name


def multiply_on_nodes(partition):
    """Nodes whose speeds are as 4 : 3 : 1, the second one with two devices, and so slow that messages take no time beside their work."""
    nodes = write_machine("a", [3e-5]), write_machine("b", [1.2e-4, 6e-5]), write_machine("c", [1.2e-4])
    words = "-n", 960, "-b", 8, "--check", "--partition", partition, "--json", "run.json"
    run_each([command(*words, "--machine", node) for node in nodes])
    got = record()
    assert got["check"]["passed"]
    return got


def test_simulated_nodes_are_balanced_by_their_speeds():
    need_mpi()
    got = multiply_on_nodes("fpm")
    assert got["imbalance"] <= 0.05 and 1 <= got["repartitions"] <= 4, got["rounds"]
    first, last = got["rounds"][0], got["rounds"][-1]
    assert math.isclose(first["imbalance"], 3, rel_tol=0.4) and last["measured"]["time_s"] < 0.5 * first["measured"]["time_s"]
    assert math.isclose(last["predicted"]["time_s"], last["measured"]["time_s"], rel_tol=0.05)
    # all but the first step are predicted, which counts as measured
    assert first["predicted"]["time_s"] is None and got["predicted"]["steps"] == len(got["rounds"]) - 1
    assert math.isclose(got["predicted"]["time_s"], sum(one["measured"]["time_s"] for one in got["rounds"]), rel_tol=0.05)
    blocks = [sum(one["rectangle"]["rows"] * one["rectangle"]["columns"] for one in got["parts"] if one["rank"] == rank and one["device"] == "sim:d0") for rank in range(3)]
    for got_blocks, speed in zip(blocks, (4, 3, 1)):
        assert math.isclose(got_blocks / 960**2, speed / 8, rel_tol=0.06), blocks
    moved = [one for one in got["rounds"] if one["moved"]]
    assert all(one["move_bytes"] > 0 and one["gain_s"] > one["cost_s"] >= 0 for one in moved)


def test_functional_models_converge_on_slowed_ranks_where_constant_ones_do_not():
    need_mpi()
    bench = pathlib.Path(os.environ["YOKE_SOURCE_DIR"], "bench/dense-ranks")
    finish([sys.executable, str(bench), "--yoke", PROGRAM, "--out", "out", "--blocks", "128", "--cases", "2", "--partitions", "fpm,cpm-multi"], 0)
    with open("out/dense-ranks.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    last = {(row["case"], row["partition"]): float(row["imbalance_percent"]) for row in rows}
    moves = {key: sum(row["moved"] == "1" for row in rows if (row["case"], row["partition"]) == key) for key in last}
    assert last["2", "fpm"] <= 5 and moves["2", "fpm"] <= 4, (last, moves)
    assert last["2", "cpm-multi"] > 100 and moves["2", "cpm-multi"] > 4, (last, moves)


def test_even_parts_stay_even():
    need_mpi()
    got = multiply_on_nodes("even")
    assert got["repartitions"] == 0 and got["imbalance"] > 2


def test_an_error_of_one_rank_ends_all_with_one_message():
    need_mpi()
    a = matrix(40, 40, 1)
    write_npy("b.npy", a)
    a[33][7] = math.nan
    write_npy("a.npy", a)
    pathlib.Path("c.npy").write_text("old", encoding="utf-8")
    done = run(4, "a.npy", "b.npy", "--output", "c.npy", "-b", 5, code=2)
    only, = errors(done)
    assert "a.npy: 1 of 1600 entries" in only and "the first, in row 33 and column 7, is nan" in only, done.stderr
    a[2][39], a[39][1] = math.inf, math.nan  # of other ranks
    write_npy("a.npy", a)
    only, = errors(run(4, "a.npy", "b.npy", "--output", "c.npy", "-b", 5, code=2))
    assert "a.npy: 3 of 1600 entries" in only and "the first, in row 2 and column 39, is inf" in only, only
    only, = errors(run(3, "b.npy", "a.npy", "-b", 5, code=2))
    assert "a.npy: 3 of 1600 entries" in only and "the first, in row 2 and column 39, is inf" in only, only
    assert pathlib.Path("c.npy").read_text(encoding="utf-8") == "old"


def test_bad_input_is_told_once():
    need_mpi()
    for words, text in ((("-n", 5, "--partition", "best"), "fpm"), (("-n", 2000000), "take smaller matrices"), (("missing.npy", "missing.npy"), "missing.npy cannot be opened")):
        only, = errors(run(2, *words, code=2))
        assert text in only, only
    done = finish([*MPIRUN, "-n", "2", PROGRAM, "dense", "tsp", "-n", "9", "--store", "none"], 2)
    assert done.stderr.count("2 MPI ranks") == 1, done.stderr


def test_ranks_with_other_sizes_are_refused():
    need_mpi()
    only, = errors(run_each([command("-n", 50), command("-n", 50), command("-n", 51)], code=2))
    assert "rank 2: " in only and "differs" in only, only


def test_ranks_with_other_command_lines_do_not_wait_for_each_other():
    """Sizes for which blocks are measured, on one rank only; a file on one; help on one."""
    need_mpi()
    write_npy("a.npy", matrix(40, 40, 1))
    for first, second, text in ((("-n", 4000), ("-n", 40), "rows of A differs from rank 0 (40 here, 4000 there)"),
                                (("-n", 4000, "-b", 64), ("-n", 4000), "-b (0: not given) differs from rank 0 (0 here, 64 there)"),
                                (("a.npy", "a.npy"), ("-n", 40), "number of files differs from rank 0 (0 here, 2 there)")):
        only, = errors(run_each([command(*first), command(*second)], code=2))
        assert "rank 1: " in only and text in only, only
    done = run_each([command("-n", 40), command("-n", 40, "--help")])
    assert done.stdout == "", done.stdout
    assert run_each([command("-n", 40, "--help"), command("-n", 40)]).stdout.startswith("Multiplies two matrices")


def test_a_rank_without_devices_ends_all():
    need_mpi()
    without = ["env", "YOKE_LIBBLAS=/there/is/none", *command("-n", 50)]
    only, = errors(run_each([command("-n", 50), without], code=3))
    assert "rank 1: no device is left" in only and "BLAS" in only, only


def children(process):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            name = (path.parent / "cmdline").read_bytes().split(b"\0")[0]
        except OSError:  # it has ended
            continue
        if int(fields[1]) == process and name.endswith(b"yoke-dense"):
            found.append(int(path.parent.name))
    return found


def test_a_rank_that_is_killed_ends_all():
    need_mpi()
    with subprocess.Popen([*MPIRUN, "-n", "3", *command("-n", 9000, "--precision", "single")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as started:
        deadline = time.monotonic() + 60
        ranks = []
        while len(ranks) < 3 and time.monotonic() < deadline:
            ranks = children(started.pid)
            time.sleep(0.05)
        assert len(ranks) == 3, "the ranks do not start"
        time.sleep(0.5)
        os.kill(ranks[1], signal.SIGKILL)
        output, text = started.communicate(timeout=60)
        assert started.returncode not in (0, None) and b"signal 9" in text and b"yoke dense gemm" not in text and output == b"", text
    deadline = time.monotonic() + 10
    while any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks)
