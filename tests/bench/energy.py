"""yoke-bench-energy on simulated machines: the fits give the machine file's numbers back within their standard errors; and what it refuses."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

program, examples = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments, env=None):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **(env or {})}, timeout=300)


def results(name, *arguments, env=None):
    done = run(name, *arguments, "--out", "out", "--json", "r.json", env=env)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    record = json.loads(pathlib.Path("r.json").read_text(encoding="utf-8"))
    rows = pathlib.Path(f"out/energy-{name}.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].split(",") == list(record["columns"]) or rows[0] == "", (rows[0], list(record["columns"]))
    return {result["name"]: result for result in record["results"]}, record


def near(found, expected, floor=0.0, what=""):
    """Within three standard errors; without noise these may be as small as rounding."""
    slack = max(3 * (found["standard_error"] or 0), floor)
    assert abs(found["value"] - expected) <= slack, f"{what} {found}: expected {expected} within {slack}"


def noisy_machine():
    """Noise in the times, and meters with steps and periods."""
    meter = {"period_s": 1e-3, "resolution_j": 2**-14, "wrap_j": 262144}
    document = {
        "name": "noisy",
        "devices": [{"name": "gpu", "class": "gpu", "seconds_per_unit": 2e-6, "start_s": 3e-5, "noise": 0.03, "seed": 5,
                     "copy": {"latency_s": 1e-3, "bytes_per_s": 5e9}, "power": {"idle_w": 40, "busy_w": 250, "copy_w": 30}, "meter": meter}],
        "host": {"idle_w": 25},
        "dram": {"idle_w": 2, "busy_w": 9, "copy_w": 11, "meter": meter},
    }
    pathlib.Path("noisy.json").write_text(json.dumps(document), encoding="utf-8")
    return "noisy.json"


def elements():
    found, record = results("elements", "--machine", noisy_machine(), "--repeats", "4")
    near(found["time per unit"], 2e-6)
    near(found["time without units"], 3e-5)
    near(found["speed"], 5e5)
    near(found["power of sim:gpu"], 250, 1e-3)
    near(found["power of sim:host"], 25, 1e-9)
    near(found["power of sim:dram"], 2, 1e-3)
    near(found["power of total"], 277, 1e-3)
    near(found["energy per unit of sim:gpu"], 250 * 2e-6)
    near(found["energy of sim:gpu in no time"], 0, 1e-6)
    assert found["time per unit"]["standard_error"] < 2e-8 and len(record["columns"]["units"]) == 40


def copy():
    found, _ = results("copy", "--machine", noisy_machine(), "--elements", "400", "--repeats", "2")
    near(found["time per unit"], 26568 / 5e9, 1e-15)
    near(found["units without time"], -1e-3 * 5e9 / 26568, 1e-6)
    near(found["rate"], 5e9, 1)
    near(found["energy of sim:gpu per unit"], 70 * 26568 / 5e9, 1e-6)
    near(found["energy of sim:dram per unit"], 13 * 26568 / 5e9, 1e-6)


def of_the_paper():
    """Fig. 9, 8 and 10 of Lang and Ruenger 2014, whose numbers are in the machine file."""
    file = str(examples / "lang-ruenger-2014-energy.json")
    found, _ = results("copy", "--machine", file, "--device", "sim:gpu", "--repeats", "2", "--points", "20", "--seconds", "0.05")
    near(found["time per unit"], 11.8e-6, 1e-9)
    near(found["units without time"], 512, 0.01)
    near(found["energy of sim:dram per unit"], 13 * 11.8e-6, 1e-6)
    near(found["energy of sim:gpu per unit"], 83.2 * 11.8e-6, 1e-5)
    found, _ = results("dram", "--machine", file, "--repeats", "3")
    near(found["idle power of sim:dram"], 1.3)
    near(found["idle power of sim:cpu1"], 18)
    assert found["idle power of sim:dram"]["standard_error"] < 0.03
    found, _ = results("packages", "--machine", file)
    near(found["power of sim:cpu0, 1 with work"], 63)
    near(found["power of sim:cpu1, 1 with work"], 18)
    near(found["power of sim:cpu1, 2 with work"], 63)
    assert found["power of sim:cpu1, 1 with work"]["standard_error"] < 0.2
    near(found["speed, 2 with work"], 2 / 3.4e-6, 10)
    near(found["speed, 1 with work"], 1 / 3.4e-6, 10)


def clock_from_samples():
    """Eq. 9 with the coefficients of sect. 3.4, and deviations that are no polynomial of the third order."""
    lines = ["hz,units_per_s,package_w"]
    for k in range(9):
        for repeat in range(4):
            f = 1.2 + 0.1 * k
            off = ((k * 7 + repeat * 5) % 11 - 5) / 5
            lines.append(f"{f * 1e9},{(222 * f - 70) * 1e3 + 900 * off},{2.2 * f**3 + 29 * f + 24 + 0.4 * off}")
    pathlib.Path("clock.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found, _ = results("clock", "--samples", "clock.csv")
    for name, expected in (("a", 2.2), ("b", 29), ("c", 24)):
        near(found[f"power of package: {name}"], expected)
        assert found[f"power of package: {name}"]["standard_error"] > 0
    near(found["speed: d"], 222e3)
    near(found["speed: e"], -70e3)
    for f, joules in ((1.2, 62.6016 / 196.4e3), (2.0, 99.6 / 374e3)):  # fig. 5: 321 and 267 uJ
        found_j = found[f"energy per unit of package at {f:g} GHz"]["value"]
        assert abs(found_j / joules - 1) < 0.02, (f, found_j, joules)


def clock_of_simulated_devices():
    """A device with a level for each clock: 222 f - 70 elements a millisecond and 2.2 f^3 + 29 f + 24 W (f in GHz), with noise in the times."""
    levels = [{"frequency_hz": f * 1e9, "seconds_per_unit": 1e-3 / (222 * f - 70), "power": {"idle_w": 5, "busy_w": 2.2 * f**3 + 29 * f + 24}}
              for f in (1.2 + 0.1 * k for k in range(9))]
    device = {"name": "p", "class": "cpu", "noise": 0.02, "meter": {"period_s": 1e-3, "resolution_j": 2**-8}, "clock": {"levels": levels}}
    other = {"name": "g", "class": "gpu", "seconds_per_unit": 1e-6}
    pathlib.Path("clock.json").write_text(json.dumps({"name": "states", "devices": [device, other]}), encoding="utf-8")
    found, record = results("clock", "--machine", "clock.json", "--seconds", "2")
    assert len(record["columns"]["hz"]) == 45 and record["columns"]["hz"] == record["columns"]["reached_hz"]
    for name, expected in (("a", 2.2), ("b", 29), ("c", 24)):
        near(found[f"power of sim:p: {name}"], expected)
        assert found[f"power of sim:p: {name}"]["standard_error"] < 0.05 * expected
    near(found["speed: d"], 222e3)
    near(found["speed: e"], -70e3)
    assert record["notes"] == [], record["notes"]
    _, record = results("clock", "--machine", "clock.json", "--device", "sim:g")
    assert any('no frequency "sim:g"' in note for note in record["notes"]), record["notes"]


def clock_of_the_paper():
    """Eq. 9 and fig. 5; the turbo mode, which the paper leaves out of the fit, is no frequency."""
    found, record = results("clock", "--machine", str(examples / "sandybridge.json"), "--repeats", "2")
    for name, expected in (("a", 2.2), ("b", 29), ("c", 24 + 7.8)):
        near(found[f"power of sim:cpu: {name}"], expected, 1e-4)
    near(found["speed: d"], 222e3, 1)
    near(found["speed: e"], -70e3, 1)
    near(found["energy per unit of sim:cpu at 2 GHz"], (99.6 + 7.8) / 374e3, 1e-9)
    assert any("turbo" in note for note in record["notes"]), record["notes"]
    columns = record["columns"]
    turbo = [w / v for hz, w, v in zip(columns["hz"], columns["sim:cpu_w"], columns["units_per_s"]) if hz == 2.001e9]
    assert len(turbo) == 2 and all(abs(joules - 285.5e-6) < 1e-10 for joules in turbo), turbo


def not_metered():
    """Times are measured all the same, and what is missing is said with the reason."""
    pathlib.Path("root").mkdir()
    bare = {"YOKE_SYSROOT": str(pathlib.Path("root").resolve()), "YOKE_NVML": "", "YOKE_AMDSMI": "", "YOKE_ROCMSMI": ""}
    small = ("--elements", "50", "--points", "3", "--repeats", "2", "--seconds", "0.001")
    for name in ("elements", "clock", "dram", "copy", "packages"):
        found, record = results(name, *small, env=bare)
        assert any(note.startswith("energy: not metered") for note in record["notes"]), (name, record["notes"])
        assert all("power" not in key and "energy" not in key for key in found), (name, found)
        if name in ("elements", "copy"):
            assert len(record["columns"]["seconds"]) == 6 and all(value >= 0 for value in record["columns"]["seconds"])
        if name == "clock":
            assert any("frequency of cpu" in note for note in record["notes"]), record["notes"]
    pathlib.Path("plain.json").write_text('{"name": "p", "devices": [{"name": "a", "class": "cpu", "seconds_per_unit": 1e-6}]}', encoding="utf-8")
    slow = json.loads(pathlib.Path(noisy_machine()).read_text(encoding="utf-8"))
    slow["devices"][0]["meter"] = {"period_s": 0.01, "resolution_j": 1e5}
    pathlib.Path("slow.json").write_text(json.dumps(slow), encoding="utf-8")
    _, record = results("dram", "--machine", "slow.json", "--seconds", "0.2", "--points", "2", "--repeats", "2")
    assert any("lack an energy" in note and "no energy at all" in note for note in record["notes"]), record["notes"]
    assert set(record["columns"]["sim:gpu_w"]) == {None} and len(record["columns"]["sim:host_w"]) == 4
    assert all(abs(power / 25 - 1) < 1e-9 for power in record["columns"]["sim:host_w"])
    _, record = results("elements", "--machine", "plain.json", *small)
    assert any("gives no powers" in note for note in record["notes"]), record["notes"]


def refused():
    pathlib.Path("nothing.csv").touch()
    for wrong, code, word in ((["frobnicate"], 2, "the experiments are: elements, clock, dram, copy, packages"), ([], 2, "EXPERIMENT"),
                              (["elments"], 2, "did you mean elements"), (["elements", "--seconds", "0"], 2, "--seconds"),
                              (["elements", "--device", "sim:a"], 3, "machine file"), (["elements", "--device", "abacus"], 2, "abacus"),
                              (["clock", "--samples", "no-such-file"], 2, "no-such-file"), (["clock", "--samples", "."], 2, "Is a directory"),
                              (["clock", "--samples", "nothing.csv"], 2, "no table of samples"), (["elements", "--repeats", "0"], 2, "repeats"),
                              (["elements", "--out", "/dev/null/x"], 2, "/dev/null")):
        done = run(*wrong)
        assert done.returncode == code and word in done.stderr, (wrong, done.returncode, done.stderr)


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for test in (elements, copy, of_the_paper, clock_from_samples, clock_of_simulated_devices, clock_of_the_paper, not_metered, refused):
        print(test.__name__, flush=True)
        test()
    os.chdir("/")
