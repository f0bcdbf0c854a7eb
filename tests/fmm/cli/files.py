"""yoke fmm: files that are read and written, and interruption."""
import math
import os
import pathlib
import random
import re
import resource
import signal
import struct
import subprocess
import time
import xml.etree.ElementTree

from command import PROGRAM, check_few, rows, run, write_few


def test_xyz_output_has_properties_and_forces():
    run(write_few(), "--direct", "--output", "out.xyz")
    count, properties, *lines = pathlib.Path("out.xyz").read_text(encoding="utf-8").splitlines()
    assert count == "5" and "Properties=species:S:1:pos:R:3:charge:R:1:potential:R:1:forces:R:3" in properties
    names = ("x", "y", "z", "q", "potential", "fx", "fy", "fz")
    check_few([dict(zip(names, map(float, line.split()[1:]))) for line in lines])


def vtu_arrays(name, points):
    """The arrays of a file for ParaView, by name; those of positions and other vectors as one row of numbers."""
    head, _, data = pathlib.Path(name).read_bytes().partition(b'<AppendedData encoding="raw">\n_')
    tree = xml.etree.ElementTree.fromstring(head + b"</VTKFile>")
    piece = tree.find("UnstructuredGrid/Piece")
    assert piece.attrib == {"NumberOfPoints": str(points), "NumberOfCells": str(points)}
    values = {}
    kinds = {"Float64": "d", "Int64": "q", "UInt8": "B"}
    for array in piece.iter("DataArray"):
        at, size = int(array.get("offset")), struct.calcsize(kinds[array.get("type")])
        length, = struct.unpack_from("=Q", data, at)
        values[array.get("Name")] = struct.unpack_from(f"={length // size}{kinds[array.get('type')]}", data, at + 8)
    return values


def test_vtu_has_points_with_potential_and_force():
    run(write_few(), "--direct", "--output", "out.vtu")
    values = vtu_arrays("out.vtu", 5)
    assert values["connectivity"] == (0, 1, 2, 3, 4) and values["offsets"] == (1, 2, 3, 4, 5) and values["types"] == (1,) * 5
    found = [dict(zip(("x", "y", "z", "q", "potential", "fx", "fy", "fz"),
                      (*values["Points"][3 * i:3 * i + 3], values["charge"][i], values["potential"][i], *values["force"][3 * i:3 * i + 3])))
             for i in range(5)]
    check_few(found)
    assert "gradient" not in values


def test_gradients_exist_where_the_charge_is_0():
    """At a distance of 5 from a charge of 2."""
    pathlib.Path("two.txt").write_text("0 0 0 2\n3 0 4 0\n", encoding="utf-8")
    gradient = (-6 / 125, 0, -8 / 125)
    for kind, between in (("txt", None), ("csv", ",")):
        run("two.txt", "--direct", "--gradient", "--output", f"out.{kind}")
        at_charge, other = rows(f"out.{kind}", between)
        assert [at_charge[name] for name in ("fx", "fy", "fz", "gx", "gy", "gz")] == [0] * 6
        assert other["potential"] == 0.4 and (other["fx"], other["fz"]) == (0, 0)
        assert all(math.isclose(other[name], value, rel_tol=1e-15) for name, value in zip(("gx", "gy", "gz"), gradient))
    run("two.txt", "--direct", "--gradient", "--output", "out.xyz")
    _, properties, _, last = pathlib.Path("out.xyz").read_text(encoding="utf-8").splitlines()
    assert ":potential:R:1:forces:R:3:gradient:R:3" in properties and len(last.split()) == 12
    assert tuple(map(float, last.split()[9:])) == tuple(other[name] for name in ("gx", "gy", "gz"))
    run("two.txt", "--direct", "--gradient", "--output", "out.vtu")
    assert vtu_arrays("out.vtu", 2)["gradient"] == (0, 0, 0, *(other[name] for name in ("gx", "gy", "gz")))


def test_particles_on_standard_output_have_it_for_themselves():
    done = run("--generate", "grid", "--particles", 8, "--direct", "--output", "-")
    assert [len(line.split()) for line in done.stdout.splitlines()] == [8] * 9 and "total energy" in done.stderr, done.stdout


def test_a_file_without_particles_is_answered_and_warned_of():
    for name, text in {"a.txt": "", "b.csv": "x,y,z,q\n", "c.xyz": "0\n\n"}.items():
        pathlib.Path(name).write_text(text, encoding="utf-8")
        done = run(name, "--direct", "--output", "out.txt")
        assert "total energy 0\n" in done.stdout and f"warning: {name}: no particles" in done.stderr, done
        assert rows("out.txt") == []


def test_files_of_every_kind_go_round():
    kinds = ["txt", "csv", "xyz", "dat", "xyzq"]
    probe = subprocess.run([PROGRAM, "fmm", "--generate", "grid", "--particles", "2", "--save", "probe.h5"], capture_output=True, check=False)
    assert probe.returncode == 0 or b"built without HDF5" in probe.stderr
    if probe.returncode == 0:
        kinds.append("h5")
    run("--generate", "xenon", "--particles", 200, "--charges", "random", "--seed", 9, "--save", "first.txt")
    before = "first.txt"
    for kind in kinds:
        run(before, "--save", f"next.{kind}")
        before = f"next.{kind}"
    run(before, "--save", "last.txt")
    assert pathlib.Path("first.txt").read_bytes() == pathlib.Path("last.txt").read_bytes()


def test_a_pipe_is_read():
    with open(write_few(), encoding="utf-8") as few:
        done = subprocess.run(f"cat few.txt | '{PROGRAM}' fmm /dev/stdin --direct", shell=True, stdin=few, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "5 particles" in done.stdout


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_interrupted_run_leaves_old_results_whole():
    """Also within a near field or a check that take minutes: by then the process has used more time than it takes to generate and sort."""
    pathlib.Path("out.txt").write_text("old\n", encoding="utf-8")
    of_near_field = ("--depth", "0", "--order", "3", "--check", "0")
    of_check = ("--depth", "6", "--order", "0", "--check", "3000000")
    for number, method, least_s in ((signal.SIGINT, ("--direct",), 0), (signal.SIGTERM, ("--direct",), 0), (signal.SIGINT, of_near_field, 4),
                                    (signal.SIGINT, of_check, 8)):
        with subprocess.Popen([PROGRAM, "fmm", "--generate", "grid", "--particles", "3000000", *method, "--output", "out.txt"], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as process:
            status = pathlib.Path(f"/proc/{process.pid}/status")
            for _ in range(2000):  # until the signal is caught
                caught = int(re.search(r"^SigCgt:\s*(\w+)", status.read_text(encoding="utf-8"), re.MULTILINE)[1], 16)
                if caught >> (number - 1) & 1:
                    break
                time.sleep(0.01)
            while cpu_seconds(process.pid) < least_s:
                time.sleep(0.1)
            process.send_signal(number)
            _, error = process.communicate(timeout=500)
        assert process.returncode == 128 + number, (process.returncode, error)
        assert b"interrupted" in error and pathlib.Path("out.txt").read_text(encoding="utf-8") == "old\n"
        assert os.listdir(".") == ["out.txt"]


def test_a_run_whose_reader_has_gone_leaves_no_file():
    """The particles of the first frame are shown, the reader goes, and the next frames are not computed."""
    pathlib.Path("a.xyz").write_text("2\n\nA 0 0 0 1\nB 1 0 0 1\n" * 20000, encoding="utf-8")
    with subprocess.Popen([PROGRAM, "fmm", "a.xyz", "--frames", "all", "--output", "out.xyz"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=500) == 128 + signal.SIGPIPE
    assert os.listdir(".") == ["a.xyz"]


def test_results_are_added_to_the_file_of_a_descriptor():
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        pathlib.Path("log").write_text("before\n", encoding="utf-8")
        subprocess.run(f"(echo first; '{PROGRAM}' fmm --generate grid --particles 8 --save {name}; echo last) >> log", shell=True, check=True)
        lines = pathlib.Path("log").read_text(encoding="utf-8").splitlines()
        assert lines[:2] == ["before", "first"] and lines[-1] == "last" and len(lines) >= 11, (name, lines)
        assert os.listdir(".") == ["log"]


def test_a_full_disk_is_an_error_that_leaves_no_file():
    done = run("--generate", "grid", "--particles", 100, "--direct", "--output", "/dev/full", code=1)
    assert "/dev/full" in done.stderr


def limit_memory():  # sanitizers reserve more
    resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))


def test_damaged_h5md_files_are_read_or_refused():
    """Every second one has a byte changed, the others end early: none is a crash, a hang, or takes 2 GiB."""
    run("--generate", "grid", "--particles", 64, "--direct", "--output", "whole.h5")
    whole, choose, codes = pathlib.Path("whole.h5").read_bytes(), random.Random(7), set()
    for i in range(100):
        damaged = bytearray(whole)
        at = choose.randrange(len(whole))
        damaged[at] ^= 1 << choose.randrange(8)
        pathlib.Path("damaged.h5").write_bytes(damaged if i % 2 else damaged[:at])
        done = subprocess.run([PROGRAM, "fmm", "damaged.h5", "--direct"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
                              preexec_fn=None if os.environ.get("YOKE_SANITIZED") else limit_memory)
        codes.add(done.returncode)
        assert done.returncode in (0, 2), (i, at, done)
    assert codes == {0, 2}
