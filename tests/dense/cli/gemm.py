"""yoke dense gemm: products of files, records, what is refused."""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys

from npy import read_npy, write_npy

PROGRAM = os.environ["YOKE_PROGRAM"]


def run(*words, code=0, **more):
    if "--devices" not in words and "--machine" not in words:
        words += ("--devices", "openmp")  # which are listed at once
    done = subprocess.run([PROGRAM, "dense", "gemm", *map(str, words), "--store", "none"], stdin=subprocess.DEVNULL, capture_output=True, timeout=500,
                          check=False, env={**os.environ, **more})
    done.stdout, done.stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {words}\n{done.stdout}\n{done.stderr}"
    return done


def record(*words, **more):
    run(*words, "--json", "run.json", **more)
    return json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))


def product(a, b):
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def matrix(rows, columns, seed):
    numbers = random.Random(seed)
    return [[numbers.uniform(-2, 2) for _ in range(columns)] for _ in range(rows)]


def check(found, expected, error):
    assert len(found) == len(expected)
    for got, right in zip(found, expected):
        assert len(got) == len(right) and all(abs(x - y) <= error for x, y in zip(got, right))


def test_the_product_of_two_files():
    a, b = matrix(7, 5, 1), matrix(5, 11, 2)
    for kind, by_columns in (("<f8", False), (">f8", True)):
        write_npy("a.npy", a, kind, by_columns)
        write_npy("b.npy", b)
        run("a.npy", "b.npy", "--output", "c.npy", "--check", "-b", 2)
        found, written = read_npy("c.npy")
        assert written == "<f8"
        check(found, product(a, b), 1e-14)


def test_two_files_of_floats_give_floats():
    a, b = matrix(4, 6, 3), matrix(6, 3, 4)
    write_npy("a.npy", a, "<f4")
    write_npy("b.npy", b, ">f4", True)
    for words, expected in (((), "<f4"), (("--precision", "double"), "<f8")):
        run("a.npy", "b.npy", "--output", "c.npy", *words)
        found, written = read_npy("c.npy")
        assert written == expected
        check(found, product(a, b), 1e-5)


def test_a_product_can_be_multiplied_on():
    a, b = matrix(3, 3, 5), matrix(3, 3, 6)
    write_npy("a.npy", a)
    write_npy("b.npy", b)
    run("a.npy", "b.npy", "--output", "b.npy")
    run("a.npy", "b.npy", "--output", "c.npy")
    check(read_npy("c.npy")[0], product(a, product(a, b)), 1e-13)


def write_raw(path, rows, kind="d"):
    pathlib.Path(path).write_bytes(b"".join(struct.pack(f"<{len(row)}{kind}", *row) for row in rows))


def test_raw_files_have_their_sizes_on_the_command_line():
    a, b = matrix(7, 5, 1), matrix(5, 11, 2)
    for kind, words, error in (("d", (), 1e-14), ("f", ("--precision", "single"), 1e-5)):
        write_raw("a.raw", a, kind)
        write_raw("b.bin", b, kind)
        run("a.raw", "b.bin", "-m", 7, "-k", 5, "-n", 11, "--output", "c.raw", "--check", *words)
        data = pathlib.Path("c.raw").read_bytes()
        numbers = struct.unpack(f"<77{kind}", data)
        check([numbers[i * 11:(i + 1) * 11] for i in range(7)], product(a, b), error)
    write_npy("a.npy", a)
    write_raw("b.raw", b)
    run("a.npy", "b.raw", "-m", 7, "-k", 5, "-n", 11, "--output", "c.npy")
    check(read_npy("c.npy")[0], product(a, b), 1e-14)


def test_raw_files_of_other_sizes_are_refused():
    write_raw("a.raw", matrix(3, 4, 1))
    write_npy("b.npy", matrix(4, 3, 1))
    for words, message in (((), "a.raw has no sizes in it: give them with -n N"),
                           (("-n", 3, "-m", 3), "a.raw has 96 bytes of numbers, and 3 x 3 of them take 72: it is too long"),
                           (("-n", 3, "-m", 3, "-k", 5), "a.raw has 96 bytes of numbers, and 3 x 5 of them take 120: it is truncated"),
                           (("-n", 2, "-m", 3, "-k", 4), "b.npy is 4 x 3, and by -n, -m and -k it would be 4 x 2"),
                           (("-n", 3, "-m", 3, "-k", 4, "--precision", "single"), "take 48: it is too long"),
                           (("-n", 3, "-k", 4, "--seed", 3), "--seed describe random matrices")):
        done = run("a.raw", "b.npy", *words, code=2)
        assert message in done.stderr, done.stderr
    write_raw("a.raw", [[1, math.inf]])
    done = run("a.raw", "a.raw", "-n", 2, "-m", 1, "-k", 2, code=2)
    assert "a.raw has 16 bytes of numbers, and 2 x 2" in done.stderr or "not finite" in done.stderr, done.stderr


def test_shapes_that_do_not_fit_name_both():
    write_npy("a.npy", matrix(3, 4, 1))
    write_npy("b.npy", matrix(5, 3, 1))
    done = run("a.npy", "b.npy", code=2)
    assert "a.npy has 4 columns and b.npy 5 rows" in done.stderr, done.stderr


def test_numbers_that_are_not_finite_are_told_with_their_place():
    a = matrix(3, 4, 1)
    a[1][2], a[2][0] = math.nan, math.inf
    write_npy("a.npy", a)
    write_npy("b.npy", matrix(4, 3, 1))
    pathlib.Path("c.npy").write_text("old", encoding="utf-8")
    done = run("a.npy", "b.npy", "--output", "c.npy", code=2)
    assert "a.npy: 2 of 12 entries are not finite numbers; the first, in row 1 and column 2, is nan" in done.stderr, done.stderr
    assert pathlib.Path("c.npy").read_text(encoding="utf-8") == "old"


def test_a_truncated_file_is_refused():
    write_npy("a.npy", matrix(3, 4, 1))
    data = pathlib.Path("a.npy").read_bytes()
    pathlib.Path("a.npy").write_bytes(data[:-9])
    done = run("a.npy", "a.npy", code=2)
    assert "a.npy has 87 bytes of numbers, and 3 x 4 of them take 96: it is truncated" in done.stderr, done.stderr


def test_a_product_that_overflows_fails_the_check():
    write_npy("a.npy", [[1e200, 1e200], [1, 2]])
    done = run("a.npy", "a.npy", "--check", "--output", "c.npy", code=1)
    assert "too large for its precision" in done.stderr and not pathlib.Path("c.npy").exists(), done.stderr


def test_the_record():
    got = record("-n", 70, "-m", 130, "-k", 33, "--devices", "openmp", "--check", "--ceiling", "-b", 32)
    assert got["program"] == "yoke dense" and got["operation"] == "gemm" and got["ranks"] == 1
    assert (got["m"], got["n"], got["k"], got["block"], got["precision"]) == (130, 70, 33, 32, "double")
    assert got["check"]["kind"] == "freivalds" and got["check"]["passed"] is True and 0 < got["check"]["relative_error"] < got["check"]["limit"] < 1e-12
    assert got["ceiling"]["gflops"] > 0 and got["ceiling"]["difference"] < 1e-14
    only, = got["parts"]
    assert only["device"] == "openmp" and only["units"] == 5 and only["share"] == 1 and only["seconds"] > 0 and only["failed"] is False
    assert sum(one["units"] for one in got["rounds"]) == 5 and got["imbalance"] == 0
    assert math.isclose(got["gflops"], 2e-9 * 130 * 70 * 33 / got["measured"]["time_s"]) and got["measured"]["energy_kind"] in ("none", "measured")
    assert got["seconds"]["total"] > got["seconds"]["compute"] == got["measured"]["time_s"]


def write_machine():
    pathlib.Path("m.json").write_text(json.dumps({"name": "m", "devices": [
        {"name": "cpu", "class": "cpu", "seconds_per_unit": 3e-3, "power": {"idle_w": 10, "busy_w": 50}},
        {"name": "gpu", "class": "gpu", "seconds_per_unit": 1e-3, "power": {"idle_w": 20, "busy_w": 400}}]}), encoding="utf-8")
    return "m.json"


def test_a_simulated_machine_shares_by_its_speeds():
    got = record("-n", 16, "-m", 3200, "-b", 4, "--machine", write_machine(), "--check")
    assert [one["device"] for one in got["parts"]] == ["sim:cpu", "sim:gpu"]
    last = got["rounds"][-1]
    assert last["imbalance"] < 0.05 and got["check"]["passed"], got["rounds"]
    assert math.isclose(last["predicted"]["time_s"], last["measured"]["time_s"], rel_tol=0.05)
    assert got["measured"]["energy_kind"] == "simulated" and got["measured"]["energy_j"] > 0
    # 800 units at 1 / (1/3e-3 + 1/1e-3) s each, and what the first round took more
    assert 0.6 <= got["measured"]["time_s"] < 0.72


def test_a_partition_of_ranks_is_refused_for_several_devices_of_one():
    machine = ("-n", 16, "-b", 4, "--machine", write_machine())
    for partition in ("cpm-multi", "cpm", "even"):
        done = run(*machine, "--partition", partition, code=2)
        assert f"--partition {partition} divides C among ranks" in done.stderr and "2 devices" in done.stderr and "mpirun" in done.stderr and "--share" in done.stderr, done.stderr
        run(*machine, "--partition", partition, "--devices", "sim:cpu")
    run(*machine, "--partition", "fpm")


def covered(parts, units):
    """Every unit is in one range of one part, and parts have as many units as they say."""
    for part in parts:
        assert sum(last - first for first, last in part["ranges"]) == part["units"], part
        assert part["range"] == (part["ranges"][0] if len(part["ranges"]) == 1 else None), part
    ranges = sorted(one for part in parts for one in part["ranges"])
    return ranges[0][0] == 0 and ranges[-1][1] == units and all(one[1] == two[0] for one, two in zip(ranges, ranges[1:]))


def test_parts_say_which_units_and_what_energy():
    got = record("-n", 16, "-m", 3200, "-b", 4, "--machine", write_machine())
    assert covered(got["parts"], 800), got["parts"]
    cpu, gpu = got["parts"]
    seconds = got["measured"]["time_s"]
    # power at rest all the time, and what work takes more
    assert math.isclose(cpu["energy_j"], 10 * seconds + 40 * cpu["seconds"], rel_tol=1e-9) and cpu["energy_kind"] == "simulated"
    assert math.isclose(gpu["energy_j"], 20 * seconds + 380 * gpu["seconds"], rel_tol=1e-9)
    assert math.isclose(cpu["energy_j"] + gpu["energy_j"], got["measured"]["energy_j"], rel_tol=1e-9)
    got = record("-n", 64, "-b", 8)
    assert got["parts"][0]["range"] == [0, 8] and covered(got["parts"], 8)
    if not got["measured"]["energy_kind"] == "measured":
        assert got["parts"][0]["energy_j"] is None and got["parts"][0]["energy_kind"] is None


def test_units_of_a_device_that_fails_are_in_the_ranges_of_the_other():
    machine = json.loads(pathlib.Path(write_machine()).read_text(encoding="utf-8"))
    for call in (30, 40, 50):
        machine["devices"][1]["fault"] = {"call": call, "kind": "lost"}
        pathlib.Path("m.json").write_text(json.dumps(machine), encoding="utf-8")
        got = record("-n", 16, "-m", 3200, "-b", 4, "--machine", "m.json", "--check")
        assert got["parts"][1]["failed"] and got["check"]["passed"] and covered(got["parts"], 800), got["parts"]
        assert [part["energy_j"] for part in got["parts"]] == [None, None]  # nobody knows what the abandoned round took


def test_least_energy_differs_from_least_time():
    fast = record("-n", 16, "-m", 3200, "-b", 4, "--machine", write_machine())
    thrifty = record("-n", 16, "-m", 3200, "-b", 4, "--machine", "m.json", "--objective", "energy")
    # by unit: CPU 3e-3 (40 + 30) J = 0.21, GPU 1e-3 (380 + 30) J = 0.41
    assert thrifty["parts"][0]["share"] > fast["parts"][0]["share"] + 0.2
    assert thrifty["measured"]["energy_j"] < fast["measured"]["energy_j"]


def test_a_store_saves_the_first_rounds():
    machine = write_machine()
    words = ("-n", 16, "-m", 3200, "-b", 4, "--machine", machine, "--json", "run.json")
    rounds = []
    for _ in range(2):
        subprocess.run([PROGRAM, "dense", "gemm", *map(str, words), "--store", "store.json", "--quiet"], check=True, timeout=500)
        rounds.append(json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))["rounds"])
    assert rounds[0][0]["chosen_by"] == "started" and rounds[1][0]["chosen_by"] != "started"
    assert rounds[1][0]["units"] > rounds[0][0]["units"] and rounds[1][0]["predicted"]["time_s"] is not None


def test_without_a_blas_the_cores_are_not_there():
    done = run("-n", 8, "--devices", "openmp", code=3, YOKE_LIBBLAS="none.so")
    assert "there is no BLAS with cblas_dgemm" in done.stderr and "YOKE_LIBBLAS" in done.stderr, done.stderr
    got = record("-n", 8, "--machine", write_machine(), "--check", YOKE_LIBBLAS="none.so")
    assert [one["units"] for one in got["parts"]] == [0, 1] and "no BLAS" in got["parts"][0]["why"]


def test_the_same_seed_gives_the_same_matrices():
    for number, seed in enumerate((5, 5, 6)):
        run("-n", 9, "--seed", seed, "--output", f"{number}.npy")
    first, same, other = (read_npy(f"{number}.npy")[0] for number in range(3))
    assert first == same != other


def test_the_product_on_standard_output_has_it_for_itself():
    done = subprocess.run([PROGRAM, "dense", "gemm", "-n", "3", "--output", "-", "--store", "none", "--devices", "openmp"], capture_output=True, timeout=500, check=True)
    pathlib.Path("c.npy").write_bytes(done.stdout)
    assert len(read_npy("c.npy")[0]) == 3 and b"GFLOP/s" in done.stderr


def test_names_of_files_to_write_say_their_format():
    for name in ("c.txt", "c", "c.csv", ".npy", "c.NPY"):
        for operation in ("gemm", "transpose"):
            done = subprocess.run([PROGRAM, "dense", operation, "-n", "3", "--output", name, "--store", "none", "--devices", "openmp"], capture_output=True, timeout=500, check=False, text=True)
            assert done.returncode == 2 and all(part in done.stderr for part in (f"--output {name}", ".npy", ".raw", ".bin")), (done.returncode, done.stderr)
            assert not os.path.exists(name)


def test_a_device_on_the_cores_of_the_hosts_rests_unless_it_has_a_share():
    listed = json.loads(subprocess.run([PROGRAM, "info", "--json", "-"], capture_output=True, check=True, timeout=500).stdout)
    usable = [d["name"] for d in listed["devices"] if d["name"].startswith("opencl:") and d["usable"] and d["class"] == "cpu"]
    if not usable:
        sys.exit(77)
    words = ("-n", 512, "--check", "--devices", f"openmp,{usable[0]}")
    parts = record(*words)["parts"]
    assert [part["units"] for part in parts] == [32, 0] and "the cores of the hosts" in parts[1]["why"] and parts[0]["why"] == "", parts
    assert record(*words, "--share", 0.5)["parts"][1]["units"] > 8
    assert record("-n", 512, "--check", "--devices", usable[0])["parts"][0]["units"] == 32
    if listed["topology"]["cores"] > 1 and len(os.sched_getaffinity(0)) > 1:  # on a core of its own it works beside the hosts
        parts = record("-n", 512, "--check", "--devices", f"openmp:0-0,{usable[0]}", POCL_MAX_PTHREAD_COUNT="1", YOKE_OPENCL_CORES="1-1")["parts"]
        assert parts[1]["units"] > 0 and parts[1]["why"] == "", parts
