"""`yoke calibrate`: what it finds on simulated machines against what their files say, plans from its models, this machine, and what goes wrong."""
import json
import math
import os
import pathlib
import signal
import sys

import tool

MACHINES = tool.SOURCE / "examples/machines"
BYTES = 8  # that a unit of a simulated device moves


def calibrate(machine, *words, code=0):
    """The record, and what was printed."""
    done = tool.run("calibrate", "--machine", machine, "--store", "store.json", "--model", "model.json", "--json", "run.json", *words, code=code)
    return tool.record("run.json") if pathlib.Path("run.json").exists() else None, done


def described(name):
    return json.loads((MACHINES / f"{name}.json").read_text(encoding="utf-8"))


def changed(name, change):
    """A machine file with changes."""
    machine = described(name)
    change(machine)
    path = pathlib.Path(f"{name}-changed.json")
    path.write_text(json.dumps(machine), encoding="utf-8")
    return path


def within(value, expected, part, what=""):
    assert value is not None and math.isclose(value, expected, rel_tol=part, abs_tol=0), f"{what}: {value}, expected {expected} within {part:.2%}"


# ------------------------------------------------------------------------------------------------- what is true of a machine


class Machine:
    """Time and energy of one call by what a machine file says (docs/reference/machine-file.md)."""

    def __init__(self, name):
        file = described(name)
        self.base_w, self.hosting_w = file.get("host", {}).get("idle_w", 0), file.get("hosting_w", 0)
        self.devices = file["devices"]
        self.slows = [1 + device.get("contention", file.get("contention", 0)) for device in self.devices]
        self.levels = [device.get("clock", {}).get("levels", [{}]) for device in self.devices]

    def value(self, i, level, key, otherwise=0):
        return self.levels[i][level].get(key, self.devices[i].get(key, otherwise))

    def seconds(self, i, level, units):
        points = self.value(i, level, "seconds_per_unit")
        if not isinstance(points, list):
            points = [[0, points]]
        at = points[-1][1]
        for (a, s), (b, t) in zip(points, points[1:]):
            if units < b:
                at = s + (t - s) * (units - a) / (b - a)
                break
        return self.value(i, level, "start_s") + units * at if units > 0 else 0

    def copy(self, i, units):
        copy = self.devices[i].get("copy")
        if units == 0 or self.devices[i]["class"] == "cpu" or copy is None:
            return 0
        return copy["latency_s"] + max(0, BYTES * units - copy.get("free_bytes", 0)) / copy["bytes_per_s"]

    def cost(self, levels, units):
        """Two devices: each copies, then works; while both work each is slowed down."""
        begin = [self.copy(i, units[i]) for i in range(2)]
        left = [self.seconds(i, levels[i], units[i]) for i in range(2)]
        end, now = list(begin), 0
        while max(left) > 0:
            works = [left[i] > 0 and begin[i] <= now for i in range(2)]
            slow = self.slows if all(works) else [1, 1]
            step = min([left[i] * slow[i] for i in range(2) if works[i]] + [begin[i] - now for i in range(2) if left[i] > 0 and begin[i] > now])
            now += step
            for i in range(2):
                if works[i]:
                    left[i] = max(0, left[i] - step / slow[i]) if left[i] * slow[i] > step else 0
                    end[i] = now
        time_s = max(end)
        energy_j = (self.base_w + sum(self.value(i, levels[i], "power", {}).get("idle_w", 0) for i in range(2))) * time_s
        for i in range(2):
            power = self.value(i, levels[i], "power", {})
            energy_j += (power.get("busy_w", 0) - power.get("idle_w", 0)) * (end[i] - begin[i]) + power.get("copy_w", 0) * begin[i]
        energy_j += self.hosting_w * max(0, end[1] - max(end[0], begin[1]))
        return {"time": time_s, "energy": energy_j}

    def grid(self, n):
        """All pairs of frequencies with the shares of the second device in steps of 1 %."""
        for first in range(len(self.levels[0])):
            for second in range(len(self.levels[1])):
                for share in range(101):
                    moved = n * share // 100
                    yield self.cost((first, second), (n - moved, moved))


def runs(record):
    """How many settings of frequencies and sizes were run."""
    found = set()
    for device in record["devices"]:
        for one in device["samples"] + device["held_out"]:
            found.add(("all" if one["together"] else device["device"], one["frequency_hz"], one["units"]))
    return len(found)


def check_joint_search(name, *sizes):
    record, _ = calibrate(MACHINES / f"{name}.json")
    machine = Machine(name)
    model = tool.record("model.json")
    grid = len(machine.levels[0]) * len(machine.levels[1]) * 101
    assert runs(record) <= 0.1 * grid, f"{runs(record)} runs of a grid of {grid}"
    for units in (model["units"], *sizes):
        truth = list(machine.grid(units))
        for objective in ("time", "energy"):
            tool.run("plan", "model.json", "--objective", objective, "--units", units, "--json", "plan.json")
            parts = tool.record("plan.json")["parts"]
            cost = machine.cost([part["level"] for part in parts], [part["units"] for part in parts])[objective]
            best = min(one[objective] for one in truth)
            print(f"{name}: {units} units, {objective}: {cost / best - 1:+.2%}, {runs(record)} runs of {grid}")
            assert cost <= 1.02 * best, f"{name}, {units} units: {objective} {cost}, the best is {best}"


def test_plans_for_the_node_of_2026_are_within_2_percent():
    check_joint_search("node-2026", 10_000_000)


def test_plans_for_peach_1_are_within_2_percent():
    check_joint_search("peach-1", 1_000_000)


def test_plans_for_sandybridge_are_within_2_percent():
    check_joint_search("sandybridge", 100_000)


# --------------------------------------------------------------------------------------------------------- what is measured


def test_the_numbers_of_sandybridge_are_found():
    record, _ = calibrate(MACHINES / "sandybridge.json")
    cpu, gpu = record["devices"]
    machine = Machine("sandybridge")
    for device, i in ((cpu, 0), (gpu, 1)):
        for one in device["samples"]:
            level = next((k for k, level in enumerate(machine.levels[i]) if level.get("frequency_hz") == one["frequency_hz"]), 0)
            within(one["seconds"], machine.seconds(i, level, one["units"]), 1e-3, one)
        for level in device["levels"]:
            k = next((k for k, other in enumerate(machine.levels[i]) if other.get("frequency_hz") == level["frequency_hz"]), 0)
            power = machine.value(i, k, "power")
            within(level["idle"]["value_w"], power["idle_w"], 5e-3, level)
            within(level["busy"]["value_w"], power["busy_w"], 5e-3, level)
            assert level["busy"]["kind"] == "simulated", level
    assert len(cpu["levels"]) == len(machine.levels[0]), cpu["levels"]
    within(1 / gpu["copy_seconds_per_byte"], 2.2515e9, 1e-3)
    within(gpu["copy_power_w"], 68.98, 5e-3)
    assert cpu["copy_seconds_per_byte"] is None and gpu["contention"] > 0.999 and cpu["contention"] > 0.999, record
    # The frequency 1 MHz below the highest, at which it is a third slower, is a level of its own.
    levels = tool.record("model.json")["devices"][0]["levels"]
    within(levels[-2]["seconds_per_unit"], machine.seconds(0, len(levels) - 2, 1), 1e-3)
    within(levels[-1]["dynamic_power_w"], 83.6, 5e-3)
    entries = tool.record("store.json")["entries"]
    assert {entry["device"] for entry in entries} == {"sim:cpu", "sim:gpu"}, entries


def test_cache_and_contention_of_the_node_of_2026_are_seen():
    record, done = calibrate(MACHINES / "node-2026.json")
    cpu, gpu = record["devices"]
    sizes = [one["units"] for one in cpu["samples"] if not one["together"]]
    assert len([units for units in sizes if 3000 <= units <= 12000]) >= 3, sizes
    assert any(3000 <= one["units"] <= 12000 for one in cpu["held_out"]), cpu["held_out"]
    for device in (cpu, gpu):
        assert device["held_out_error"] < 0.03 and device["held_out_worst"] < 0.06, (device["held_out_error"], device["held_out_worst"])
        assert abs(device["contention"] - 1 / 1.04) < 0.015, device["contention"]
    factors = [level["alone_factor"] for device in tool.record("model.json")["devices"] for level in device["levels"]]
    assert all(abs(factor - 1 / 1.04) < 0.015 for factor in factors), factors
    assert cpu["model"] in ("piecewise", "akima") and gpu["model"] != "constant", (cpu["model"], gpu["model"])
    assert done.stdout.count("held out: median error") == 2 and "while the others work" in done.stdout, done


def test_what_the_host_draws_for_an_accelerator_is_told_apart():
    calibrate(MACHINES / "peach-1.json")
    model = tool.record("model.json")
    within(model["hosting_power_w"], 30, 1e-2)
    within(model["base_power_w"], 76.7, 1e-2)
    for device, dynamic_w, idle_w in zip(model["devices"], (239.4, 128.6), (42.4, 46.6)):
        within(device["levels"][-1]["dynamic_power_w"], dynamic_w, 5e-3)
        within(device["levels"][-1]["idle_power_w"], idle_w, 5e-3)


def test_without_power_time_is_planned_and_energy_refused():
    record, _ = calibrate(MACHINES / "sandybridge-measured.json")
    for device in record["devices"]:
        assert [level["busy"]["value_w"] for level in device["levels"]] == [None] and device["levels"][0]["idle"]["kind"] == "none", device
    model = tool.record("model.json")
    assert all(level["dynamic_power_w"] is None for device in model["devices"] for level in device["levels"]), model
    tool.run("plan", "model.json", "--json", "plan.json")
    cpu, gpu = tool.record("plan.json")["parts"]
    assert abs(cpu["share"] - 2 / 3) < 0.01, (cpu, gpu)
    refused = tool.run("plan", "model.json", "--objective", "energy", code=2)
    assert "power" in refused.stderr, refused


# --------------------------------------------------------------------------------------------------------------- this machine


def here(*words, code=0, **more):
    devices = () if "--devices" in words else ("--devices", "openmp")
    return tool.run("calibrate", *devices, "--seconds", "2", "--no-clocks", "--store", "store.json", *words, code=code, **more)


def test_this_machine_is_kept_beside_what_others_measured():
    here("--kernel", "triad")
    here("--json", "run.json")
    store = tool.record("store.json")
    assert sorted(entry["work"] for entry in store["entries"]) == ["fma", "triad"], store
    here("--json", "second.json", "--model", "model.json")
    again = tool.record("store.json")
    assert sorted(entry["work"] for entry in again["entries"]) == ["fma", "triad"], again
    kept = {entry["work"]: entry for entry in store["entries"]}
    for entry in again["entries"]:
        assert (entry == kept[entry["work"]]) == (entry["work"] == "triad"), entry
    record = tool.record("second.json")
    sizes = [sample["units"] for sample in record["devices"][0]["samples"]]
    assert sizes == sorted(set(sizes)) and sizes, sizes  # how many there are is a matter of time
    assert record["program"] == "yoke calibrate", record
    tool.run("plan", "model.json")


def test_declared_powers_are_estimates():
    here("--declare", "idle=20,busy=60", "--json", "run.json")
    level = tool.record("run.json")["devices"][0]["levels"][0]
    assert level["busy"]["kind"] == "estimated" and 19 < level["idle"]["value_w"] < level["busy"]["value_w"] <= 60.1, level


def test_two_parts_of_the_cores_idle_once():
    here("--devices", "openmp:0-0,openmp:0-0", code=2)  # twice the same
    if os.cpu_count() < 2 or not {0, 1} <= os.sched_getaffinity(0):
        sys.exit(77)
    here("--devices", "openmp:0-0,openmp:1-1", "--declare", "idle=20,busy=60", "--model", "model.json")
    model = tool.record("model.json")
    idle_w = sum(device["levels"][0]["idle_power_w"] for device in model["devices"]) + model["base_power_w"]
    assert abs(idle_w - 20) < 0.5 and len(model["devices"]) == 2, model


def test_bad_words_are_refused():
    for words in (("--seconds", "0"), ("--seconds", "ten"), ("--seconds", "nan"), ("--kernel", "dgemm"), ("--model", "/nowhere/model.json"),
                  ("--machine", "nowhere.json"), ("--declare", "idle=x"), ("--devices", ""), ("--unknown",), ("operand",)):
        done = tool.run("calibrate", "--store", "store.json", *words, code=2)
        assert done.stderr.startswith("yoke calibrate: "), done
    tool.run("calibrate", "--store", "store.json", "--devices", "cuda:77", code=3)
    tool.run("calibrate", "--store", "store.json", "--machine", MACHINES / "peach-1.json", "--devices", "sim:cpu,sim:cpu", code=2)
    assert not pathlib.Path("store.json").exists()


def test_a_store_that_is_none_is_refused_and_left_as_it_is():
    pathlib.Path("store.json").write_text("no store", encoding="utf-8")
    here(code=2)
    assert pathlib.Path("store.json").read_text(encoding="utf-8") == "no store"


# --------------------------------------------------------------------------------------------------------- what goes wrong


def test_a_machine_that_takes_no_time_is_refused():
    def hurry(machine):
        for device in machine["devices"]:
            device["seconds_per_unit"] = 1e-30
    record, done = calibrate(changed("sandybridge-measured", hurry), code=1)
    assert record is None and "too short to measure" in done.stderr, done


def test_results_may_be_kept_nowhere():
    done = tool.run("calibrate", "--machine", MACHINES / "peach-1.json", "--store", "none", "--model", "model.json")
    assert not pathlib.Path("none").exists() and "kept in" not in done.stdout, done.stdout
    assert json.loads(pathlib.Path("model.json").read_text(encoding="utf-8"))["hosting_power_w"] > 29


def test_another_machine_file_has_another_store():
    calibrate(MACHINES / "peach-1.json")
    _, done = calibrate(MACHINES / "peach-1.json")
    assert "another machine" not in done.stderr and not pathlib.Path("store.json.bak").exists(), done

    def slow_down(machine):
        machine["devices"][1]["clock"]["levels"][0]["seconds_per_unit"] *= 2
    _, done = calibrate(changed("peach-1", slow_down))
    assert "is of another machine" in done.stderr and pathlib.Path("store.json.bak").exists(), done


def test_a_device_that_fails_leaves_the_others():
    for call in (5, 60, 200, 400):  # while it is opened, while sizes are measured, and powers, and beside the other
        def break_gpu(machine):
            machine["devices"][1]["fault"] = {"call": call, "kind": "lost"}
        pathlib.Path("store.json").unlink(missing_ok=True)
        record, done = calibrate(changed("peach-1", break_gpu), code=1)
        assert "sim:gpu failed and is left out" in done.stderr and "1 of 2 devices" in done.stderr, done
        assert [device["device"] for device in record["devices"]] == ["sim:cpu"], record["devices"]
        assert [entry["device"] for entry in tool.record("store.json")["entries"]] == ["sim:cpu"]
        tool.run("plan", "model.json", "--objective", "energy")


def test_where_all_devices_fail_nothing_is_written():
    def break_all(machine):
        for device in machine["devices"]:
            device["fault"] = {"call": 40, "kind": "lost"}
    record, done = calibrate(changed("peach-1", break_all), code=1)
    assert record is None and not pathlib.Path("store.json").exists(), done


def limits(machine):
    policy = machine / "sys/devices/system/cpu/cpu0/cpufreq"
    return [tool.number(policy / name) for name in ("scaling_min_freq", "scaling_max_freq")]


def test_frequencies_are_set_and_restored():
    machine = tool.machine("intel-server")
    before = limits(machine)
    tool.run("calibrate", "--devices", "openmp", "--seconds", "2", "--sysroot", machine, "--store", "store.json", "--json", "run.json")
    (device,) = tool.record("run.json")["devices"]
    assert len(device["levels"]) >= 4 and limits(machine) == before, (device["levels"], limits(machine), before)
    asked = [level["frequency_hz"] for level in device["levels"]]
    assert asked == sorted(asked) and asked[0] < 0.9 * asked[-1], asked


def test_an_interrupted_run_restores_frequencies_and_leaves_the_old_store():
    here()
    old = pathlib.Path("store.json").read_bytes()
    machine = tool.machine("intel-server")
    before = limits(machine)
    guard = pathlib.Path(tool.PROGRAM).parent / "yoke-clock-guard"  # without it no frequency is set, and speeds alone are measured
    assert guard.exists(), f"{guard} is not built"
    process = tool.start("calibrate", "--devices", "openmp", "--seconds", "600", "--sysroot", machine, "--store", "store.json")
    tool.wait_for("a frequency that is set", lambda: limits(machine) != before, process)
    process.send_signal(signal.SIGINT)
    tool.end(process, 130)
    assert limits(machine) == before, (limits(machine), before)
    assert pathlib.Path("store.json").read_bytes() == old and sorted(path.name for path in pathlib.Path().iterdir()) == ["machine", "store.json"]
