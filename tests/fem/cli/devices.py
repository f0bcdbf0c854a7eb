"""Devices, shares and faults, as `yoke fem` has them: the answer does not depend on who computes it."""
import json
import os
import pathlib

from command import EXAMPLES, SMALL, check_results, close_to, environment, record, run, solve, words

# The papers' shape: a CPU, a GPU of the same speed, and one that is four times as fast; seconds are virtual.
MACHINE = {
    "name": "pair",
    "devices": [
        {"name": "cpu", "class": "cpu", "seconds_per_unit": 2e-6, "copy": {"latency_s": 0, "bytes_per_s": 1e12}},
        {"name": "gpu", "class": "gpu", "seconds_per_unit": 2e-6, "copy": {"latency_s": 0, "bytes_per_s": 1e12}},
        {"name": "fast", "class": "gpu", "seconds_per_unit": 5e-7, "copy": {"latency_s": 0, "bytes_per_s": 1e12}},
        {"name": "remote", "class": "gpu", "seconds_per_unit": 5e-7, "copy": {"latency_s": 0, "bytes_per_s": 1e5}},
        {"name": "small", "class": "gpu", "seconds_per_unit": 5e-7, "memory_bytes": 4000000},
    ],
}


def machine(**changes):
    """Writes the machine file; changes are keys of a device: fast={"fault": ...}."""
    devices = [{**device, **changes.get(device["name"], {})} for device in MACHINE["devices"]]
    pathlib.Path("machine.json").write_text(json.dumps({**MACHINE, "devices": devices}), encoding="utf-8")
    return "machine.json"


def same(found, reference, energy=1e-8):
    """The same meshes, iterations and energies, step by step."""
    assert len(found["steps"]) == len(reference["steps"])
    for row, expected in zip(found["steps"], reference["steps"], strict=True):
        for key in ("elements", "dofs", "hanging_nodes"):
            assert row[key] == expected[key], f"step {row['step']}, {key}: {row[key]}, expected {expected[key]}"
        assert abs(row["iterations"] - expected["iterations"]) <= 1, f"step {row['step']}: {row['iterations']} iterations, expected {expected['iterations']}"
        close_to(row["strain_energy_j"], expected["strain_energy_j"], energy, f"energy of step {row['step']}")


def test_a_heat_case_before_has_the_same_simulated_devices():
    found = solve(EXAMPLES / "hot-pipe.yaml", "--machine", machine(), "--devices", "sim:cpu,sim:gpu", out="shared", refine__steps=1)
    same(found, solve(EXAMPLES / "hot-pipe.yaml", refine__steps=1))


def shares(found):
    return [row["gpu_share"] for row in found["steps"]]


def test_the_answer_does_not_depend_on_the_devices():
    case, steps = EXAMPLES / "drill-hole.yaml", 2
    reference = solve(case, "--devices", "openmp", refine__steps=steps)
    for devices in ("openmp:0-0,openmp:0-0", "sim:cpu,sim:gpu", "sim:gpu", "openmp,sim:gpu,sim:fast", "sim:gpu,openmp:0-0,sim:cpu,sim:fast,openmp:0-0"):
        if devices.count("openmp:0-0") == 2:
            devices = devices.replace("openmp:0-0", "openmp", 1)
        found = solve(case, "--machine", machine(), "--devices", devices, out="shared", refine__steps=steps)
        same(found, reference)
        names = [part["device"] for part in found["steps"][0]["parts"]]
        assert names == devices.split(","), f"{names} worked, expected {devices}"
        assert all(part["elements"] > 0 for part in found["steps"][0]["parts"])


def test_nor_does_it_when_solved_to_rounding():
    reference = solve(EXAMPLES / "lame.yaml", refine__steps=1, solver__relative_residual=1e-12)
    found = solve(EXAMPLES / "lame.yaml", "--machine", machine(), "--devices", "openmp,sim:gpu,sim:fast", out="shared", refine__steps=1,
                  solver__relative_residual=1e-12)
    same(found, reference, 1e-10)


def test_the_stored_operator_and_full_exchange_give_the_same():
    reference = solve(SMALL, refine__steps=1)
    for options in (["--operator", "stored"], ["--exchange", "full"], ["--operator", "stored", "--exchange", "full"]):
        found = solve(SMALL, "--machine", machine(), "--devices", "openmp,sim:gpu", "--case", "both", *options, out="shared", refine__steps=1)
        same(found, reference)
    bytes_full = found["steps"][-1]["parts"][1]["halo_bytes"]
    halo = solve(SMALL, "--machine", machine(), "--devices", "openmp,sim:gpu", "--case", "both", out="halo", refine__steps=1)
    bytes_halo = halo["steps"][-1]["parts"][1]["halo_bytes"]
    assert 0 < bytes_halo < bytes_full == 2 * 8 * halo["steps"][-1]["dofs"], f"{bytes_halo} and {bytes_full} bytes"


def test_shares_follow_the_measured_speeds():
    found = solve(EXAMPLES / "drill-hole.yaml", "--machine", machine(), "--devices", "sim:cpu,sim:fast", refine__steps=4)
    print(shares(found), found["steps"][-1]["decision"])
    assert abs(shares(found)[0] - 0.5) < 0.01 and abs(shares(found)[-1] - 0.8) < 0.02  # 1 / (1 + 0.5 / 2)
    parts = found["steps"][-1]["parts"]
    close_to(parts[0]["seconds_per_product"], parts[1]["seconds_per_product"], 0.05, "the two parts' times")
    for before, row in zip(found["steps"], found["steps"][1:]):  # nothing is known of a preconditioner that was not there before
        assert (row["predicted"]["time_s"] is not None) == (row["preconditioner"] == before["preconditioner"])


def test_the_policy_of_the_paper():
    found = solve(EXAMPLES / "drill-hole.yaml", "--machine", machine(), "--devices", "sim:cpu,sim:fast", "--balance", "paper", refine__steps=2)
    assert abs(shares(found)[1] - 0.8) < 0.01, shares(found)


def test_a_fixed_share():
    found = solve(SMALL, "--machine", machine(), "--devices", "sim:cpu,sim:fast", "--share", "0.25", refine__steps=2)
    for row in found["steps"]:
        assert abs(row["gpu_share"] - 0.25) <= 1 / row["elements"], row["gpu_share"]
        assert row["case"] == "both"


def test_one_kind_of_device():
    common = ("--machine", machine(), "--devices", "sim:cpu,sim:fast")
    assert {row["case"] for row in solve(SMALL, *common, "--case", "cpu", refine__steps=1)["steps"]} == {"cpu"}
    assert {row["case"] for row in solve(SMALL, *common, "--case", "gpu", refine__steps=1)["steps"]} == {"gpu"}
    assert {row["case"] for row in solve(SMALL, *common, "--case", "both", refine__steps=1)["steps"]} == {"both"}


def test_a_device_that_does_not_pay_is_dropped_and_kept_where_both_are_asked_for():
    common = ("--machine", machine(), "--devices", "sim:cpu,sim:remote")
    found = solve(SMALL, *common, refine__steps=2)
    print(found["steps"][1]["decision"])
    assert found["steps"][0]["case"] == "both" and found["steps"][1]["case"] == found["steps"][2]["case"] == "cpu"
    found = solve(SMALL, *common, "--case", "both", refine__steps=2)
    assert found["steps"][2]["case"] == "both"


def test_a_device_that_fails_is_left_out_and_the_answer_is_the_same():
    reference = solve(SMALL, refine__steps=2)
    for call in (3, 60, 400, 2500):
        name = machine(fast={"fault": {"call": call, "kind": "lost"}})
        found = solve(SMALL, "--machine", name, "--devices", "openmp,sim:fast", "--case", "both", out="faulty", refine__steps=2)
        same(found, reference)
        failed = [failure for row in found["steps"] for failure in row["failed_devices"]]
        assert [failure["device"] for failure in failed] == ["sim:fast"] and failed[0]["why"], f"call {call}: {failed}"
        assert found["steps"][-1]["case"] == "cpu"
        check_results("faulty")


def test_when_no_device_is_left_the_run_ends_with_the_reasons():
    name = machine(fast={"fault": {"call": 300, "kind": "lost"}})
    done = run(words(SMALL, "--machine", name, "--devices", "sim:fast", refine__steps=2), code=1)
    assert "sim:fast" in done.stderr and "no device" in done.stderr, done.stderr


def test_a_device_whose_memory_is_too_small_takes_what_fits():
    reference = solve(EXAMPLES / "drill-hole.yaml", refine__steps=3)
    found = solve(EXAMPLES / "drill-hole.yaml", "--machine", machine(), "--devices", "openmp,sim:small", "--case", "both", out="shared", refine__steps=3)
    same(found, reference)
    parts = found["steps"][-1]["parts"]
    assert sum(part["elements"] for part in parts) == found["steps"][-1]["elements"]
    assert not any(row["failed_devices"] for row in found["steps"])


def test_a_store_is_kept_and_used():
    common = ("--machine", machine(), "--devices", "sim:cpu,sim:fast", "--store", "speeds.json")
    solve(EXAMPLES / "drill-hole.yaml", *common, refine__steps=1)
    entries = json.loads(pathlib.Path("speeds.json").read_text(encoding="utf-8"))["entries"]
    assert {entry["device"] for entry in entries} == {"sim:cpu", "sim:fast"}
    again = solve(EXAMPLES / "drill-hole.yaml", *common, refine__steps=0)
    assert abs(shares(again)[0] - 0.8) < 0.02, shares(again)
    run(words(SMALL, *common[:-1], "none"))  # the word for no store
    assert not pathlib.Path("none").exists()
    pathlib.Path("speeds.json").write_text('{"format": 1, "entries": [{"work": 3}]}', encoding="utf-8")  # of an earlier version
    done = run(words(SMALL, *common))
    assert "speeds.json" in done.stderr and "format 1" in done.stderr, done.stderr
    pathlib.Path("speeds.json").write_text("no store", encoding="utf-8")
    done = run(words(SMALL, *common), code=2)
    assert "speeds.json" in done.stderr, done.stderr


def test_devices_that_are_not_there():
    for devices, code in (("openmp:99-99", 2), ("cuda:77", 3), ("abacus", 2), ("", 2), ("openmp,openmp", 2), ("sim:cpu", 3)):
        done = run(words(SMALL, "--devices", devices), code=code, env=environment(YOKE_LIBCUDA=""))
        assert devices.split(":")[0].split(",")[0] in done.stderr, f"{devices}: {done.stderr}"
        assert not pathlib.Path("out").exists()
    done = run(words(SMALL, "--case", "gpu"), code=3, env=environment(YOKE_LIBCUDA="", YOKE_LIBOPENCL=""))
    assert "GPU" in done.stderr and "yoke info" in done.stderr, done.stderr
    run(words(SMALL, "--share", "1.5"), code=2)
    run(words(SMALL, "--share", "nan"), code=2)
    for case, share in (("cpu", "0.5"), ("gpu", "0.5")):
        said = run(words(SMALL, "--machine", machine(), "--devices", "sim:cpu,sim:fast", "--case", case, "--share", share), code=2).stderr
        assert f"--case {case} gives " in said and f"--share {share} another part" in said, said
    run(words(SMALL, "--balance", "fair"), code=2)


def test_explanations_are_printed():
    done = run(words(SMALL, "--machine", machine(), "--devices", "sim:cpu,sim:fast", "--explain", refine__steps=2))
    assert "sim:" in done.stdout or "device" in done.stdout, done.stdout
    assert done.stdout.count("GPU %") == 1


def stub(**changes):
    """The environment of a run on the stub of the CUDA driver, whose libraries CMake names; its books go to books.txt."""
    names = os.environ["YOKE_STUB_CUDA"].split()
    variables = dict(name.split("=", 1) for name in names)
    return environment(**variables, YOKE_STUB_CUDA_MOST_THREADS="4", YOKE_STUB_CUDA_COUNT="books.txt", **changes)


def books():
    """What the stub counted: {"calls": ..., and what was not given back}."""
    lines = pathlib.Path("books.txt").read_text(encoding="utf-8").split("\n")
    return {line.split()[0]: int(line.split()[1]) for line in lines if line.strip()}


def test_a_cuda_device_may_fail_at_any_call():
    keys = {"element": "q1", "refine__steps": 1}
    reference = solve(SMALL, "--devices", "openmp", out="alone", **keys)
    line = words(SMALL, "--devices", "openmp,cuda:0", "--case", "both", out="shared", **keys)
    run(line, env=stub())
    same(record("shared"), reference)
    right = books()
    calls = right.pop("calls")
    assert calls > 1000 and not any(right.values()), right
    lost = 0
    for call in [*range(20, 120, 9), *range(150, calls, calls // 12)]:
        done = run(line, env=stub(YOKE_STUB_CUDA_FAIL_AT=str(call)), code=None)
        found = books()
        found.pop("calls")
        assert not any(found.values()), f"call {call}: not given back: {found}"
        if done.returncode == 3:  # the device could not even be opened
            assert "cuda:0" in done.stderr, done.stderr
            continue
        assert done.returncode == 0, f"call {call}: exit code {done.returncode}\n{done.stderr}"
        rows = record("shared")
        same(rows, reference)
        failures = [failure for row in rows["steps"] for failure in row["failed_devices"]]
        lost += len(failures) == 1 and failures[0]["device"] == "cuda:0"
    assert lost >= 8, lost


def test_an_opencl_device_shares_the_work():
    info = record_of_machine()
    if not any(device["name"] == "opencl:0.0" and device["usable"] for device in info["devices"]):
        print("no OpenCL device here")
        raise SystemExit(77)
    reference = solve(EXAMPLES / "drill-hole.yaml", refine__steps=2)
    found = solve(EXAMPLES / "drill-hole.yaml", "--devices", "openmp:0-0,opencl:0.0", "--case", "both", out="shared", refine__steps=2)
    same(found, reference)
    assert [part["device"] for part in found["steps"][0]["parts"]] == ["openmp:0-0", "opencl:0.0"]


def test_hosts_and_opencl_both_work_where_both_are_asked_for_and_energy_counts():
    if not any(device["name"] == "opencl:0.0" and device["usable"] for device in record_of_machine()["devices"]):
        print("no OpenCL device here")
        raise SystemExit(77)
    powers = "{base_w: 5, devices: [{name: 'openmp:0-0', idle_w: 10, busy_w: 60}, {name: 'opencl:0.0', idle_w: 5, busy_w: 20}]}"
    found = solve(SMALL, "--devices", "openmp:0-0,opencl:0.0", "--case", "both", "--objective", "energy", energy=powers, refine__steps=3)
    for row in found["steps"]:
        assert row["case"] == "both" and len(row["parts"]) == 2 and row["powers"] == "declared", row


def record_of_machine():
    run([words(SMALL)[0], "info", "--json", "info.json", "--quiet"])
    return json.loads(pathlib.Path("info.json").read_text(encoding="utf-8"))
