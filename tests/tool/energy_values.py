"""What `yoke energy` measures: recorded machines whose counters the command itself advances, declared powers, statistics, records."""
import math
import pathlib
import re
import signal
import statistics
import subprocess
import time

import tool

ZONES = "sys/class/powercap"
BUSY = """
import os, sys, time
while time.process_time() < float(sys.argv[1]):
    pass
print(time.process_time())
"""


def zone(machine, name):
    return machine / ZONES / name / "energy_uj"


def energies(record):
    return {energy["meter"]: energy for energy in record["energies"]}


def test_without_a_meter_the_energy_is_not_metered_and_says_why():
    done = tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--json", "run.json", "--", "sleep", "0.1")
    assert re.search(r"^  time: +0\.\d+ s$", done.stderr, re.MULTILINE), done
    assert re.search(r"^  energy: not metered \(powercap: .+; what to do: .+\)$", done.stderr, re.MULTILINE), done
    record = tool.record()
    assert record["total"]["value_j"] is None and record["total"]["kind"] is None and record["total"]["why_not"], record["total"]
    assert record["energies"] == [] and record["mean_power_w"] is None and record["seconds"] >= 0.1, record


def test_declared_powers_are_an_estimate_and_idle_time_costs_idle_power():
    done = tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--declare", "idle=20,busy=60", "--json", "run.json", "--", "sleep", "1")
    record = tool.record()
    assert record["total"]["kind"] == "estimated" and record["seconds"] >= 1, record
    # Starting `sleep` costs a little CPU time, which lies between nothing and all of the time that was not slept.
    assert 20 * record["seconds"] <= record["total"]["value_j"] <= 20 * record["seconds"] + 40 * 0.2, record["total"]
    assert "estimated from declared powers" in done.stderr, done


def test_a_busy_command_costs_more_by_its_cpu_time():
    cores = tool.run("info", "--quiet", "--json", "/dev/stdout").stdout
    cores = int(re.search(r'"cores": (\d+)', cores)[1])
    done = tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--declare", "idle=20,busy=60", "--json", "run.json", "--",
                    *tool.python(BUSY, 0.5))
    record = tool.record()
    cpu_s = float(done.stdout)
    expected = 20 * record["seconds"] + 40 * cpu_s / cores
    assert expected - 0.5 <= record["total"]["value_j"] <= expected + 40 * 0.2 / cores, (record["total"], expected)


@tool.with_counters_that_stand
def test_counters_of_an_intel_server_to_the_microjoule():
    machine = tool.machine("intel-server")
    joules = {"intel-rapl:0": 12_345_678, "intel-rapl:1": 1_000_001, "intel-rapl:0:0": 500_000, "intel-rapl:1:0": 250_003}
    counts = {str(zone(machine, name)): tool.number(zone(machine, name)) + more for name, more in joules.items()}
    tool.run("energy", "--sysroot", machine, "--json", "run.json", "--", *tool.advance(**counts))
    record = tool.record()
    found = energies(record)
    for name, zone_name in (("package-0", "intel-rapl:0"), ("package-1", "intel-rapl:1"), ("dram-0", "intel-rapl:0:0"), ("dram-1", "intel-rapl:1:0")):
        energy = found["powercap:" + name]
        tool.close_to(energy["value_j"], joules[zone_name] * 1e-6, 1e-9, name)
        assert energy["kind"] == "measured" and energy["uncertainty_j"] > 0 and energy["why_not"] is None, energy
    tool.close_to(record["total"]["value_j"], sum(joules.values()) * 1e-6, 1e-9, "total")
    tool.close_to(record["mean_power_w"], record["total"]["value_j"] / record["seconds"], 1e-6, "mean power")


@tool.with_counters_that_stand
def test_a_counter_that_starts_again_goes_on():
    machine = tool.machine("intel-server")
    path = zone(machine, "intel-rapl:0")
    span = tool.number(path.with_name("max_energy_range_uj"))
    path.write_text(f"{span - 1_000_000}\n", encoding="ascii")
    unit = round(span / 4294967295)
    others = {str(zone(machine, name)): tool.number(zone(machine, name)) + 1000 for name in ("intel-rapl:1", "intel-rapl:0:0", "intel-rapl:1:0")}
    # The text keeps its length, as what a program reads while it is written must be a number.
    counts = {str(path): f"{2_000_000:0{len(str(span))}d}", **others}
    tool.run("energy", "--sysroot", machine, "--json", "run.json", "--", *tool.advance(**counts))
    tool.close_to(energies(tool.record())["powercap:package-0"]["value_j"], 3 + unit * 1e-6, 1e-9, "package-0")


@tool.with_counters_that_stand
def test_a_laptop_counts_its_package_once_and_its_platform_apart():
    machine = tool.machine("intel-laptop")
    meters = {meter["name"]: meter for meter in tool.json.loads(tool.run("info", "--quiet", "--json", "/dev/stdout", "--sysroot", machine).stdout)["meters"]}
    paths = {path: tool.number(path) for path in (machine / ZONES).glob("*/energy_uj")}
    tool.run("energy", "--sysroot", machine, "--json", "run.json", "--", *tool.advance(**{str(path): count + 7_000_000 for path, count in paths.items()}))
    record = tool.record()
    for energy in record["energies"]:
        tool.close_to(energy["value_j"], 7, 1e-9, energy["meter"])
    counted = [energy for energy in record["energies"] if energy["counted"]]
    covers = [meters[energy["meter"]]["covers"] for energy in counted]
    assert len(covers) == len(set(covers)) and not any(cover.startswith("package-0/") for cover in covers), covers
    assert ("psys" in covers) != ("package-0" in covers), covers
    tool.close_to(record["total"]["value_j"], 7 * len(counted), 1e-9, "total")


@tool.with_counters_that_stand
def test_an_amd_server_has_its_packages():
    machine = tool.machine("amd-server")
    paths = {path: tool.number(path) for path in (machine / ZONES).glob("*/energy_uj")}
    tool.run("energy", "--sysroot", machine, "--json", "run.json", "--", *tool.advance(**{str(path): count + 3_000_000 for path, count in paths.items()}))
    record = tool.record()
    packages = [energy for energy in record["energies"] if re.fullmatch(r"powercap:package-\d+", energy["meter"])]
    assert packages and all(energy["counted"] for energy in packages), record["energies"]
    tool.close_to(record["total"]["value_j"], 3 * len(packages), 1e-9, "total")


@tool.with_counters_that_stand
def test_meters_can_be_chosen():
    machine = tool.machine("intel-server")
    path = zone(machine, "intel-rapl:1")
    tool.run("energy", "--sysroot", machine, "--meter", "powercap:package-1", "--json", "run.json", "--",
             *tool.advance(**{str(path): tool.number(path) + 2_000_000}))
    record = tool.record()
    assert [energy["meter"] for energy in record["energies"]] == ["powercap:package-1"], record["energies"]
    tool.close_to(record["total"]["value_j"], 2, 1e-9, "total")
    done = tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--meter", "powercap", "--", "true", code=125)
    assert "powercap" in done.stderr, done


STEP = """
import os, sys
path, count = sys.argv[1], int(open(sys.argv[2]).read())
steps = [1000000, 4000000, 2500000, 1500000, 3000000]
before = int(open(path).read())
file = os.open(path, os.O_WRONLY)
os.pwrite(file, b"%d\\n" % (before + steps[count]), 0)
open(sys.argv[2], "w").write(str(count + 1))
sys.exit(int(sys.argv[3]) if count == int(sys.argv[4]) else 0)
"""


def repeat(machine, code, at, *options):
    pathlib.Path("count").write_text("0", encoding="ascii")
    return tool.run("energy", "--sysroot", machine, "--meter", "powercap:package-0", "--repeat", "5", "--csv", "runs.csv", "--json", "run.json", *options,
                    "--", *tool.python(STEP, zone(machine, "intel-rapl:0"), "count", code, at), code=code)


@tool.with_counters_that_stand
def test_repeated_runs_have_a_mean_and_an_interval():
    done = repeat(tool.machine("intel-server"), 0, -1)
    values = [1, 4, 2.5, 1.5, 3]
    rows = tool.rows()
    assert [row["run"] for row in rows] == ["1", "2", "3", "4", "5"] and {row["exit_code"] for row in rows} == {"0"}, rows
    for row, value in zip(rows, values, strict=True):
        tool.close_to(float(row["powercap:package-0_j"]), value, 1e-9, "row")
        tool.close_to(float(row["mean_w"]), value / float(row["seconds"]), 1e-3 * value / float(row["seconds"]), "power")
    record = tool.record()
    tool.close_to(record["total"]["value_j"], statistics.mean(values), 1e-9, "mean")
    student = 2.776445  # 97.5 % of Student's t with 4 degrees of freedom
    tool.close_to(record["total"]["interval_j"], student * statistics.stdev(values) / math.sqrt(5), 1e-6, "interval")
    seconds = [float(row["seconds"]) for row in rows]
    tool.close_to(record["seconds"], statistics.mean(seconds), 1e-6, "seconds")
    tool.close_to(record["seconds_interval"], student * statistics.stdev(seconds) / math.sqrt(5), 1e-6, "interval of seconds")
    assert [sample["total_j"] for sample in record["samples"]] == [float(row["total_j"]) for row in rows], record["samples"]
    assert "5 runs of " in done.stderr and "95 %" in done.stderr, done


def test_the_interval_of_many_runs_is_students():
    table = {1: 12.706205, 9: 2.262157, 11: 2.200985, 19: 2.093024}  # quantiles of degrees of freedom
    for degrees, student in table.items():
        tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--repeat", degrees + 1, "--quiet", "--json", "run.json", "--", "true")
        record = tool.record()
        seconds = [sample["seconds"] for sample in record["samples"]]
        expected = student * statistics.stdev(seconds) / math.sqrt(degrees + 1)
        tool.close_to(record["seconds_interval"], expected, 1e-4 * expected, f"{degrees} degrees of freedom")


@tool.with_counters_that_stand
def test_a_failing_run_ends_the_repetition_with_its_status():
    done = repeat(tool.machine("intel-server"), 9, 2)
    assert [row["exit_code"] for row in tool.rows()] == ["0", "0", "9"], tool.rows()
    assert tool.record()["runs"] == 3 and tool.record()["exit_code"] == 9, tool.record()
    assert "3 runs of " in done.stderr, done


def test_an_interrupt_ends_the_repetition():
    process = tool.start("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--repeat", 1000, "--csv", "runs.csv", "--", "sh", "-c",
                         "trap 'kill $!; exit 0' TERM; sleep 100 & touch ready; wait")
    tool.wait_for("the command", pathlib.Path("ready").exists, process)
    process.send_signal(signal.SIGTERM)
    tool.end(process, 128 + signal.SIGTERM)
    assert len(tool.rows()) == 1, tool.rows()


def test_what_is_not_known_is_empty_in_the_table_and_null_in_the_record():
    tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--csv", "runs.csv", "--json", "run.json", "--", "true")
    (row,) = tool.rows()
    assert row["total_j"] == "" and row["total_uncertainty_j"] == "" and row["mean_w"] == "" and float(row["seconds"]) > 0, row
    (sample,) = tool.record()["samples"]
    assert sample["total_j"] is None and sample["energies_j"] == [], sample


def test_the_record_has_its_keys():
    machine = tool.machine("intel-server")
    tool.run("energy", "--sysroot", machine, "--json", "run.json", "--", "sh", "-c", "exit 3", code=3)
    record = tool.record()
    keys = {"program", "version", "date", "command", "machine", "seconds", "seconds_interval", "runs", "energies", "total", "mean_power_w", "set_clocks",
            "samples", "num_samples", "exit_code", "signal"}
    assert set(record) == keys, set(record) ^ keys
    assert record["program"] == "yoke energy" and record["exit_code"] == 3 and record["signal"] is None and record["runs"] == 1, record
    keys = {"meter", "value_j", "uncertainty_j", "interval_j", "kind", "why_not", "missing"}
    assert set(record["total"]) == keys and all(set(energy) == keys | {"counted"} for energy in record["energies"]), record
    names = {meter["name"] for meter in record["machine"]["meters"] if meter["usable"]}
    assert {energy["meter"] for energy in record["energies"]} <= names and len(record["energies"]) >= 4, (names, record["energies"])


@tool.with_counters_that_stand
def test_a_fault_is_no_number():
    machine = tool.machine("intel-server")
    path = zone(machine, "intel-rapl:0")
    # A step of 100 kJ within milliseconds is none that hardware makes.
    tool.run("energy", "--sysroot", machine, "--json", "run.json", "--csv", "runs.csv", "--", *tool.advance(**{str(path): tool.number(path) + 100_000_000_000}))
    record = tool.record()
    energy = energies(record)["powercap:package-0"]
    assert energy["value_j"] is None and energy["why_not"] and energy["missing"] == 1, energy
    assert record["total"]["value_j"] is None and record["total"]["why_not"], record["total"]
    assert tool.rows()[0]["total_j"] == "", tool.rows()


def test_a_recording_is_replayed():
    lines = ["# yoke replay 1", "domain board counter unit_j=0.001 period_s=0.01 covers=host most_w=1000", *(f"{i / 100} {1200 * i}" for i in range(60000))]
    pathlib.Path("stream.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    done = tool.run("energy", "--replay", "stream.txt", "--json", "run.json", "--", "sleep", "0.3")
    total, seconds = tool.record()["total"], tool.record()["seconds"]
    assert total["kind"] == "replayed" and abs(total["value_j"] - 120 * seconds) <= total["uncertainty_j"], (total, done)


def test_the_variable_stands_for_the_option():
    machine = tool.machine("intel-server")
    for variable, options in ((str(machine), []), ("/no/such/directory", ["--sysroot", machine])):
        done = tool.run("energy", *options, "--json", "run.json", "--", "true", env={**tool.environment(), "YOKE_SYSROOT": variable})
        assert f"of {machine}, not of this machine" in done.stderr and energies(tool.record()).get("powercap:package-0"), done
    for words, code in ((["energy", "--", "true"], 125), (["info"], 2), (["gather", "new"], 2)):
        done = tool.run(*words, code=code, env={**tool.environment(), "YOKE_SYSROOT": "/no/such/directory"})
        assert "YOKE_SYSROOT /no/such/directory: No such file or directory" in done.stderr, done


def test_a_process_that_runs_already_is_metered_until_it_ends():
    begin = time.monotonic()
    with subprocess.Popen(["sleep", "0.7"]) as process:
        tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--pid", process.pid, "--json", "run.json")
        assert process.poll() is not None or pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").split(")")[1].split()[0] == "Z"
    assert 0 < tool.record()["seconds"] <= time.monotonic() - begin and tool.record()["exit_code"] is None, tool.record()


def test_metering_a_process_ends_at_an_interrupt():
    with subprocess.Popen(["sleep", "100"]) as other:
        process = tool.start("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--pid", other.pid, "--watch=0.05", "--csv", "runs.csv", "--json", "run.json")
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        error = tool.end(process, 130)[1]
        assert f"process {other.pid}" in error and "  time: " in error and other.poll() is None, error
        other.kill()
    assert tool.record()["exit_code"] is None and tool.rows(), tool.record()


def test_no_such_process():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert "there is no such process" in tool.run("energy", "--pid", process.pid, code=2).stderr


def limits(machine):
    policy = machine / "sys/devices/system/cpu/cpu0/cpufreq"
    return [tool.number(policy / name) for name in ("scaling_min_freq", "scaling_max_freq")]


def test_frequencies_are_set_for_the_command_and_restored():
    machine = tool.machine("intel-server")
    before = limits(machine)
    assert before[0] < 1_600_000 < before[1], before
    show = f"cat {machine}/sys/devices/system/cpu/cpu0/cpufreq/scaling_m??_freq"
    for text in ("cpu=1.6GHz", "cpu=1600MHz", "cpu=1.6e9", "cpu=1600000000Hz"):
        done = tool.run("energy", "--sysroot", machine, "--clock", text, "--json", "run.json", "--", "sh", "-c", f"{show}; exit 3", code=3)
        assert done.stdout == "1600000\n1600000\n" and limits(machine) == before, (done, before)
        (frequency,) = tool.record()["set_clocks"]
        assert frequency["name"] == "cpu" and frequency["asked_hz"] == 1.6e9, frequency
    tool.run("energy", "--sysroot", machine, "--clock", "cpu=1.6GHz", "--", "sh", "-c", "kill -TERM $$", code=-signal.SIGTERM)
    assert limits(machine) == before, (limits(machine), before)


def test_a_frequency_that_cannot_be_set_is_a_failure():
    done = tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--clock", "cpu=1GHz", "--", "touch", "ran", code=125)
    assert "cpu" in done.stderr and not pathlib.Path("ran").exists(), done


def test_hostile_values_are_refused():
    wrong = {
        "--repeat": ["0", "-1", "1e3", "99999999999999999999", "", "two"],
        "--pid": ["0", "-1", "99999999999999999999", "x", ""],
        "--watch": ["0", "nan", "inf", "1x", "1e9", "0x"],
        "--clock": ["cpu", "cpu=", "=1", "cpu=nan", "cpu=-1e9", "cpu=0", "cpu=inf", "cpu=1THz", "a" * 200 + "=1e9", "no-such-clock=1e9"],
        "--declare": ["", "idle", "idle=1", "busy=2", "idle=-1,busy=2", "idle=nan,busy=2", "idle=5,busy=2", "idle=1,busy=2,more=3"],
        "--meter": ["", ",", "nonsense", "powercap:no-such-zone", "x" * 5000],
        "--sysroot": ["", "missing", "/dev/null"],
        "--replay": ["", "missing", "/dev/null", "."],
        "--csv": ["", ".", "missing/x.csv"],
        "--json": ["", ".", "missing/x.json"],
    }
    for option, values in wrong.items():
        for value in values:
            root = [] if option == "--sysroot" else ["--sysroot", tool.MACHINES / "intel-server"]
            done = tool.run("energy", *root, f"{option}={value}", "--", "touch", "ran", code=125)
            assert done.stderr.startswith("yoke energy: error: ") and not pathlib.Path("ran").exists(), (option, value, done)
