"""yoke fmm: several devices."""
import json
import os
import pathlib
import subprocess
import sys

from command import MACHINES, PROGRAM, SKIP, record, rows, run, sums


def write_machine(path, **gpu):
    devices = [{"name": "cpu", "class": "cpu", "seconds_per_unit": 2e-9}, {"name": "gpu", "class": "gpu", "seconds_per_unit": 2e-10, **gpu}]
    pathlib.Path(path).write_text(json.dumps({"name": "fast gpu", "devices": devices}), encoding="utf-8")
    return ("--machine", path, "--devices", "sim:cpu,sim:gpu")


def test_hwloc_opens_no_plugins():
    # They take longer than all else that opens the machine.  hwloc tells of each that it finds.
    done = run("--generate", "grid", "--particles", 100, "--direct", "--devices", "openmp", "--quiet", env={**os.environ, "HWLOC_PLUGINS_VERBOSE": "1"})
    assert "Starting plugin" in done.stderr and "found" not in done.stderr, done.stderr


def test_devices_share_the_near_field_and_give_the_same_field():
    words = ("--generate", "shells", "--particles", 3000, "--leaf", 20, "--order", 6)
    run(*words, "--output", "alone.txt")
    alone = rows("alone.txt")
    largest = max(abs(row["potential"]) for row in alone)
    shares = []
    for share in (("--share", 0), ("--share", 0.5), ("--share", 1), ()):
        got = record(*words, *write_machine("machine.json"), *share, "--output", "shared.txt", method=(), env={**os.environ, "YOKE_STORE": "store.json"})
        pairs = [part["pairs"] for part in got["near_field"]]
        assert [part["device"] for part in got["near_field"]] == ["sim:cpu", "sim:gpu"] and not any(part["failed"] for part in got["near_field"])
        assert sum(pairs) == got["pairs"] + 3000
        shares.append(pairs[1] / sum(pairs))
        assert all(abs(a["potential"] - b["potential"]) < 1e-13 * largest for a, b in zip(rows("shared.txt"), alone))
    assert shares[0] == 0 and 0.3 < shares[1] < 0.7 and shares[2] == 1 and shares[3] > 0.8, shares
    assert record(*words, method=())["near_field"] is None


def test_tree_share_and_frequencies_are_chosen_together_and_told():
    words = ("--generate", "grid", "--particles", 8000, "--order", 8, "--machine", MACHINES / "pairs-2026.json", "--store", "none")
    alone = record(*words, "--devices", "sim:cpu", "--explain", method=())
    fast = record(*words, "--devices", "sim:cpu,sim:gpu", "--measure-all", method=())
    thrifty = record(*words, "--devices", "sim:cpu,sim:gpu", "--objective", "energy", method=())
    assert fast["depth"] == 2 < alone["depth"] and fast["shared"]["measured_s"] < 0.5 * alone["shared"]["measured_s"]
    for got in (alone, fast, thrifty):
        chosen = [cost for cost in got["model"]["costs"] if cost["depth"] == got["depth"] and cost["leaf_capacity"] is None and cost["cells"] == got["cells"]][0]
        assert abs(chosen["predicted"] / chosen["measured"] - 1) < 0.1 and abs(got["shared"]["measured_s"] / chosen["measured"] - 1) < 1e-9
        assert abs(sum(chosen["shares"]) - 1) < 1e-12 and len(chosen["shares"]) == len(got["near_field"])
        assert chosen["frequencies_hz"] == [part["frequency_hz"] for part in got["near_field"]]
        assert all(cost["by_operations"] is None for cost in got["model"]["costs"])  # the original cost model has no devices
    measured = [cost["measured"] for cost in fast["model"]["costs"] if cost["measured"] is not None]
    assert len(measured) > 1 and min(measured) > 0.99 * fast["shared"]["measured_s"]
    assert all(abs(cost["predicted"] / cost["measured"] - 1) < 0.1 for cost in fast["model"]["costs"] if cost["measured"] is not None)
    assert None not in [part["frequency_hz"] for part in thrifty["near_field"]] and thrifty["shared"]["measured_s"] > fast["shared"]["measured_s"]
    # A third of the accelerator's time are copies, which draw less than sums there; plans know one power.
    assert 0 < thrifty["shared"]["predicted_j"] / thrifty["shared"]["measured_j"] - 1 < 0.3


def test_nothing_is_measured_for_a_device_on_the_cores_of_the_host():
    words = ("--generate", "grid", "--particles", 20000, "--order", 4, "--check", 0, "--devices", "openmp,opencl:0.0", "--store", "store.json")
    done = subprocess.run([PROGRAM, "fmm", *map(str, words), "--json", "run.json"], capture_output=True, text=True, timeout=500, check=False)
    if done.returncode == 3:
        sys.exit(SKIP)  # there is no OpenCL
    assert done.returncode == 0, done.stderr
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    if [device["class"] for device in got["machine"]["devices"] if device["name"] == "opencl:0.0"] != ["cpu"]:
        sys.exit(SKIP)
    assert got["near_field"][1]["device"] == "opencl:0.0" and got["near_field"][1]["pairs"] == 0, got["near_field"]
    store = pathlib.Path("store.json").read_text(encoding="utf-8")
    assert "openmp" in store and "opencl:0.0" not in store
    works = {entry["work"] for entry in json.loads(store)["entries"]}  # of both runs, the one of the cores and the one of the devices
    assert {"fmm pair p=4", "fmm near n=32", "fmm far p=4"} <= works, works
    assert not [work for work in works if " single " in work or work.endswith("p=42")], works  # what no order or precision here needs
    shared = record(*words, "--share", 0.5, method=())  # which has both work
    assert shared["near_field"][1]["pairs"] > 0


def test_simulated_devices_without_a_host_are_refused():
    refused = run("--generate", "grid", "--particles", 2000, "--order", 4, "--machine", MACHINES / "pairs-2026.json", "--store", "none", "--devices", "sim:gpu", code=2)
    assert "none of them is a host, which does the far field; add a simulated one" in refused.stderr


def test_stated_powers_decide_where_there_are_no_meters():
    words = ("--generate", "grid", "--particles", 8000, "--order", 4, *write_machine("machine.json"), "--store", "none", "--objective", "energy")
    refused = run(*words, code=3)
    assert "powers" in refused.stderr
    share = {}
    for watts in ("0:5", "30:3000"):
        got = record(*words, "--power", f"sim:cpu=20:60,sim:gpu={watts}", method=())
        assert got["shared"]["predicted_j"] > 0
        share[watts] = got["near_field"][1]["pairs"] / sum(part["pairs"] for part in got["near_field"])
    assert share["0:5"] > 0.9 and share["30:3000"] == 0, share


def test_a_device_that_fails_is_left_out_of_the_sums():
    words = ("--generate", "grid", "--particles", 4096, "--depth", 3, "--order", 6)
    run(*words, "--output", "alone.txt")
    machine = write_machine("machine.json", fault={"call": 24, "kind": "lost"})
    done = run(*words, *machine, "--output", "shared.txt", "--json", "run.json", env={**os.environ, "YOKE_STORE": "store.json"})
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    assert [part["failed"] for part in got["near_field"]] == [False, True] and "sim:gpu" in done.stderr
    assert "(failed)" in done.stdout
    same = [abs(a["potential"] - b["potential"]) < 1e-10 for a, b in zip(rows("shared.txt"), rows("alone.txt"))]  # potentials are about 30
    assert len(same) == 4096 and all(same)
