"""The energy of a step's solve: the machine file's arithmetic where devices are simulated, and nothing where nothing is metered."""
import json
import pathlib

import command
from command import SMALL, close_to, environment, record, run, solve, words

JACOBI = {"solver__preconditioner": "jacobi", "refine__steps": 2}
POWERS = {"cpu": (10, 100), "gpu": (50, 300)}


def machine(powers=True, host=20.0, **more):
    """Two devices without times for copies."""
    devices = [{"name": "cpu", "class": "cpu", "seconds_per_unit": 3e-5}, {"name": "gpu", "class": "gpu", "seconds_per_unit": 1e-5}]
    for device in devices:
        idle, busy = POWERS[device["name"]]
        if powers:
            device["power"] = {"idle_w": idle, "busy_w": busy}
    document = {"name": "test", "devices": devices, **more}
    if powers:
        document["host"] = {"idle_w": host}
    path = pathlib.Path("machine.json").resolve()
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def nothing_metered():
    """No meter of the real machine may be found."""
    root = pathlib.Path("root")
    root.mkdir(exist_ok=True)
    return environment(YOKE_SYSROOT=str(root.resolve()), YOKE_NVML="", YOKE_AMDSMI="", YOKE_ROCMSMI="")


def measured(line, **more):
    run(line, **more)
    return [row["measured"] for row in record()["steps"]]


def test_a_device_that_always_works_draws_its_power():
    found = solve(SMALL, "--machine", machine(), "--devices", "sim:cpu", **JACOBI)
    for row in found["steps"]:
        # all of the virtual time is work of the one device; the other one idles, and so does the host
        close_to(row["measured"]["energy_j"], row["measured"]["time_s"] * (100 + 50 + 20), 1e-9, "energy")
        assert row["measured"]["energy_kind"] == "simulated"


def test_two_devices_draw_what_their_products_take():
    found = solve(SMALL, "--machine", machine(), "--devices", "sim:cpu,sim:gpu", "--share", "0.5", **JACOBI)
    for row in found["steps"]:
        expected = row["measured"]["time_s"] * (10 + 50 + 20)
        for part in row["parts"]:
            idle, busy = POWERS[part["device"].removeprefix("sim:")]
            expected += (busy - idle) * part["seconds_per_product"] * row["operator_applications"]
        close_to(row["measured"]["energy_j"], expected, 1e-9, "energy")
    assert len(found["steps"][-1]["parts"]) == 2


def test_the_table_has_a_column_where_there_are_meters():
    done = run(words(SMALL, "--machine", machine(), "--devices", "sim:cpu", **JACOBI))
    rows = command.table(done.stdout)
    for row, step in zip(rows, record()["steps"], strict=True):
        close_to(row["energy J"], step["measured"]["energy_j"], 1e-3, "energy J")


def test_a_meter_too_slow_for_a_step_gives_no_energy():
    slow = json.loads(pathlib.Path(machine()).read_text(encoding="utf-8"))
    slow["devices"][0]["meter"] = {"period_s": 1000}
    pathlib.Path("machine.json").write_text(json.dumps(slow), encoding="utf-8")
    line = words(SMALL, "--machine", "machine.json", "--devices", "sim:cpu", "--explain", **JACOBI)
    done = run(line)
    assert all(row["measured"]["energy_j"] is None and row["measured"]["energy_kind"] is None for row in record()["steps"])
    assert "energy: sim:cpu" in done.stdout, done.stdout


def test_without_meters_there_is_no_energy():
    unmetered = nothing_metered()
    plain = words(SMALL, **JACOBI)
    for line in (plain, words(SMALL, "--machine", machine(powers=False), "--devices", "sim:cpu", **JACOBI)):
        done = run(line, env=unmetered)
        assert "energy" not in done.stdout.replace("of the energy norm", ""), done.stdout
        for row in record()["steps"]:
            assert row["measured"]["energy_j"] is None and row["measured"]["energy_kind"] is None, row["measured"]
            assert row["measured"]["time_s"] > 0


def test_simulated_meters_say_nothing_of_real_devices():
    line = words(SMALL, "--machine", machine(), "--devices", "openmp,sim:gpu", "--case", "both", "--share", "0.5", **JACOBI)
    for row in measured(line, env=nothing_metered()):
        assert row["energy_j"] is None and row["energy_kind"] is None, row


def test_declared_powers_give_an_estimate():
    for row in measured(words(SMALL, "--declare", "idle=20,busy=60", **JACOBI), env=nothing_metered()):
        assert row["energy_kind"] == "estimated", row
        assert 19 * row["time_s"] <= row["energy_j"] <= 61 * row["time_s"] + 0.5, row  # CPU time is counted in ticks
    done = run(words(SMALL, "--declare", "idle=20,busy=lots"), code=2)
    assert "lots" in done.stderr, done.stderr
