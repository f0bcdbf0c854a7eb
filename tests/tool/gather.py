"""`yoke gather DIR`: what is recorded, and that the record is read as the machine itself."""
import json
import os
import pathlib
import socket

import tool


def info(root=None):
    words = ["info", "--quiet", "--json", "/dev/stdout"] + (["--sysroot", root] if root else [])
    return json.loads(tool.run(*words).stdout)


def recorded_machines():
    found = sorted(path for path in tool.MACHINES.iterdir() if path.is_dir())
    assert len(found) >= 5, found
    return found


def test_a_recorded_machine_recorded_again_is_the_same():
    for machine in recorded_machines():
        done = tool.run("gather", machine.name, "--sysroot", machine)
        assert f"yoke info --sysroot {machine.name}" in done.stdout, done
        before, after = info(machine), info(machine.name)
        for key in ("meters", "clocks"):
            assert before[key] == after[key], (machine.name, before[key], after[key])
        described = json.loads(pathlib.Path(machine.name, "yoke/info.json").read_text(encoding="utf-8"))
        assert described["meters"] == before["meters"], machine.name


def test_this_machine_can_be_recorded_and_read():
    tool.run("gather", "here")
    assert {meter["kind"] for meter in info("here")["meters"]} >= {"powercap", "perf", "hwmon"}
    cpus = pathlib.Path("here/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    assert cpus == pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace") or "MHz" in cpus or "Serial" in cpus


def test_nothing_personal_is_recorded():
    machine = tool.machine("board-hwmon", "original")
    for file, text in {"sys/class/hwmon/hwmon0/device/uevent": "DRIVER=x\nPCI_SLOT_NAME=0000:03:00.0\nHID_UNIQ=secret-1\nPOWER_SUPPLY_SERIAL_NUMBER=secret-2\n",
                       "sys/class/dmi/id/product_serial": "secret-3\n", "sys/class/dmi/id/product_name": "board\n", "etc/hostname": "secret-4\n",
                       "run/.containerenv": 'name="secret-5"\n', "proc/cpuinfo": "processor : 0\nSerial\t\t: secret-6\nModel : board\n"}.items():
        path = machine / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    tool.run("gather", "record", "--sysroot", machine)
    whole = {path: path.read_bytes() for path in pathlib.Path("record").rglob("*") if path.is_file()}
    assert whole and not [path for path, text in whole.items() if b"secret" in text], whole
    assert pathlib.Path("record/sys/class/hwmon/hwmon0/device/uevent").read_text(encoding="ascii") == "DRIVER=x\nPCI_SLOT_NAME=0000:03:00.0\n"
    assert pathlib.Path("record/proc/cpuinfo").read_text(encoding="ascii") == "processor : 0\nModel : board\n"
    assert pathlib.Path("record/sys/class/dmi/id/product_name").exists() and pathlib.Path("record/run/.containerenv").read_bytes() == b""
    tool.run("gather", "here")
    host = socket.gethostname().encode()
    assert len(host) < 4 or not [path for path in pathlib.Path("here").rglob("*") if path.is_file() and host in path.read_bytes()]


def test_links_become_files_and_masked_zones_stay_masked():
    machine = tool.machine("intel-server", "original")
    zones = machine / "sys/class/powercap"
    real = machine / "sys/devices/virtual/powercap"
    real.parent.mkdir(parents=True)
    zones.rename(real)
    zones.mkdir()
    for zone in real.iterdir():
        (zones / zone.name).symlink_to(f"../../devices/virtual/powercap/{zone.name}")
    (zones / "intel-rapl:9").symlink_to("../../devices/virtual/powercap/masked")
    tool.run("gather", "record", "--sysroot", machine)
    recorded = pathlib.Path("record/sys/class/powercap")
    assert (recorded / "intel-rapl:0/energy_uj").read_bytes() == (real / "intel-rapl:0/energy_uj").read_bytes()
    assert not (recorded / "intel-rapl:0").is_symlink() and (recorded / "intel-rapl:9").is_symlink()
    assert info(machine)["meters"] == info("record")["meters"]


def test_what_blocks_or_never_ends_is_left_out():
    machine = tool.machine("intel-server", "original")
    zone = machine / "sys/class/powercap/intel-rapl:0"
    (zone / "energy_uj").unlink()
    os.mkfifo(zone / "energy_uj")
    (zone / "name").unlink()
    (zone / "name").symlink_to("/dev/zero")
    with (zone / "enabled").open("wb") as file:
        file.truncate(1 << 33)
    tool.run("gather", "record", "--sysroot", machine)
    recorded = pathlib.Path("record/sys/class/powercap/intel-rapl:0")
    assert not (recorded / "energy_uj").exists() and not (recorded / "name").exists()
    assert (recorded / "enabled").stat().st_size == 1 << 20
    assert "/sys/class/powercap/intel-rapl:0/enabled: cut after 1 MiB\n" in pathlib.Path("record/yoke/unreadable.txt").read_text(encoding="utf-8")


def test_what_cannot_be_read_is_listed():
    machine = tool.machine("intel-server", "original")
    (machine / "sys/class/powercap/intel-rapl:0/energy_uj").unlink()
    (machine / "sys/class/powercap/intel-rapl:0/energy_uj").symlink_to("/proc/self/mem")  # reading at 0 is an error for everybody
    done = tool.run("gather", "record", "--sysroot", machine)
    listed = pathlib.Path("record/yoke/unreadable.txt").read_text(encoding="utf-8")
    assert "/sys/class/powercap/intel-rapl:0/energy_uj: Input/output error\n" in listed and "not readable: 1, " in done.stdout, (listed, done)


def test_only_an_empty_directory_is_taken():
    pathlib.Path("empty").mkdir()
    tool.run("gather", "empty", "--quiet", "--sysroot", tool.MACHINES / "amd-server")
    full = {path: path.stat().st_mtime_ns for path in pathlib.Path("empty").rglob("*")}
    done = tool.run("gather", "empty", code=2)
    assert "empty is not empty" in done.stderr and full == {path: path.stat().st_mtime_ns for path in pathlib.Path("empty").rglob("*")}, done
    pathlib.Path("file").write_text("text", encoding="ascii")
    for wrong in ("file", "file/below", ""):
        assert "error: " in tool.run("gather", wrong, code=2).stderr
    assert "an argument is missing" in tool.run("gather", code=2).stderr
    assert "--sysroot missing" in tool.run("gather", "new", "--sysroot", "missing", code=2).stderr and not pathlib.Path("new").exists()


def test_the_record_counts_the_files():
    tool.run("gather", "record", "--sysroot", tool.MACHINES / "intel-server", "--json", "run.json")
    files = [path for path in pathlib.Path("record").rglob("*") if path.is_file() and path.name != "unreadable.txt"]
    document = tool.record()
    assert document["files"] == len(files) and document["bytes"] == sum(path.stat().st_size for path in files), document
    assert document["unreadable"] == 0 and document["directory"] == "record" and document["program"] == "yoke gather", document
    assert "missing/run.json cannot be written" in tool.run("gather", "new", "--json", "missing/run.json", code=2).stderr


def test_a_full_disk_is_a_failure():
    done = tool.run("gather", "record", "--json", "/dev/full", code=1)
    assert "/dev/full could not be written" in done.stderr, done


def test_a_slash_at_the_end_and_directories_above_are_fine():
    tool.run("gather", "a/b/c///", "--sysroot", f"{tool.MACHINES / 'amd-server'}//")
    assert pathlib.Path("a/b/c/proc/cpuinfo").exists()
