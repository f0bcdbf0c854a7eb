"""What the tests of `yoke fem` as a command share: running it, and reading what it wrote."""
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree

PROGRAM = os.environ["YOKE_PROGRAM"]  # `yoke`; set by run_topic.py
SOURCE = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = SOURCE / "examples"
SANITIZED = bool(os.environ.get("YOKE_SANITIZED"))
PATIENCE_S = 1500 if SANITIZED else 400  # ends only what hangs: several suites may run on a busy machine

# The smallest case that has everything: two materials, rollers, a load, probes.
SMALL = EXAMPLES / "two-materials.yaml"


def environment(**changes):
    """The tests' environment with two threads; None removes a variable."""
    variables = {"OMP_WAIT_POLICY": "passive", **os.environ, **changes}
    return {name: value for name, value in variables.items() if value is not None}


def words(case, *options, out="out", **keys):
    """The command line of a case whose results go to `out`; refine__steps=2 stands for --set refine.steps=2."""
    line = [PROGRAM, "fem", str(case), "--threads", "2", "--set", f"output.directory={out}"]
    for key, value in keys.items():
        line += ["--set", f"{key.replace('__', '.')}={value}"]
    return line + list(options)


def run(line, code=0, **more):
    """Runs a command line to its end and checks its exit code, unless that is None."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), **more}
    done = subprocess.run(line, text=True, errors="replace", timeout=PATIENCE_S, check=False, **more)
    assert code is None or done.returncode == code, f"exit code {done.returncode}, expected {code}: {' '.join(line)}\n{done.stdout}\n{done.stderr}"
    return done


def for_another_user():
    """Program, small case and options of run() for another user than root, who owns nothing here; the working directory is opened for reading.

    The build may lie where that user cannot go, as in root's home, so these are copies.
    """
    os.chmod(".", 0o755)
    os.mkdir("programs")
    for name in ("yoke", "yoke-fem", "yoke-fem-mesh", "yoke-device-list"):
        shutil.copy(pathlib.Path(PROGRAM).with_name(name), "programs")
    shutil.copytree(EXAMPLES, "examples")
    user = {"preexec_fn": lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534))} if os.geteuid() == 0 else {}
    return "programs/yoke", "examples/two-materials.yaml", user


def solve(case, *options, out="out", **keys):
    """Solves a case, and returns its run record."""
    run(words(case, *options, out=out, **keys))
    return record(out)


def record(out="out"):
    return json.loads(pathlib.Path(out, "run.json").read_text(encoding="utf-8"))


def probe(of, name):
    return next(found for found in of["probes"] if found["name"] == name)


def is_checkpoint(name):
    """Runs that take long, as on a busy machine, write some of their own accord."""
    return re.fullmatch(r"checkpoint-\d+\.bin", pathlib.PurePath(name).name) is not None


def contents(directory, checkpoints=False):
    """Every file below a directory, with its bytes; checkpoints only if asked for."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in pathlib.Path(directory).rglob("*")
            if path.is_file() and (checkpoints or not is_checkpoint(path))}


def fill_disk(directory="out"):
    """A directory whose files are full of something else: what a run must not damage."""
    old = pathlib.Path(directory)
    old.mkdir(parents=True)
    for name in ("run.json", "series.pvd", "step-00.vtu", "step-01.vtu"):
        (old / name).write_bytes(b"of an earlier run: " + name.encode())
    return contents(old)


def close_to(value, expected, relative, what=""):
    assert math.isclose(value, expected, rel_tol=relative), f"{what}: {value}, expected {expected} within {relative:g}"
    print(f"{what}: {value:.8g}, expected {expected:.8g}, off by {abs(value / expected - 1):.1e}")


def vectors_close(value, expected, relative, what=""):
    """The largest difference of components, over the largest component."""
    off = max(abs(a - b) for a, b in zip(value, expected, strict=True)) / max(map(abs, expected))
    assert off <= relative, f"{what}: {value}, expected {expected} within {relative:g}: off by {off:g}"
    print(f"{what}: off by {off:.1e}")


# ------------------------------------------------------------------------------------------------------------ VTU

SIZES = {"Float64": 8, "Int64": 8, "Int32": 4, "UInt8": 1}


def read_vtu(path):
    """The arrays of a VTU file as {name: (components, tuple of values)}, with the numbers of points and cells; every size is checked."""
    data = pathlib.Path(path).read_bytes()
    head_end = data.index(b"<AppendedData")
    begin = data.index(b"_", head_end) + 1
    tail = data.rindex(b"</AppendedData>")
    assert data[tail:].split() == [b"</AppendedData>", b"</VTKFile>"], f"{path}: the end is missing"
    root = xml.etree.ElementTree.fromstring(data[:head_end] + b"</VTKFile>")
    assert root.attrib["type"] == "UnstructuredGrid" and root.attrib["header_type"] == "UInt64", root.attrib
    assert root.attrib["byte_order"] == {"little": "LittleEndian", "big": "BigEndian"}[sys.byteorder]
    piece = root.find("UnstructuredGrid/Piece")
    points, cells = int(piece.attrib["NumberOfPoints"]), int(piece.attrib["NumberOfCells"])
    arrays, end = {}, 0
    for section, length in (("Points", points), ("Cells", None), ("PointData", points), ("CellData", cells)):
        for array in piece.findall(f"{section}/DataArray"):
            kind, name, components = array.attrib["type"], array.attrib["Name"], int(array.attrib["NumberOfComponents"])
            offset = int(array.attrib["offset"])
            assert offset == end, f"{path}: {name} begins at {offset}, the array before it ends at {end}"
            (size,) = struct.unpack_from("=Q", data, begin + offset)
            count = size // SIZES[kind]
            if length is not None:
                assert count == length * components, f"{path}: {name} has {count} numbers for {length} x {components}"
            code = {"Float64": "d", "Int64": "q", "Int32": "i", "UInt8": "B"}[kind]
            arrays[name] = (components, struct.unpack_from(f"={count}{code}", data, begin + offset + 8))
            end = offset + 8 + size
    assert begin + end <= tail <= begin + end + 16, f"{path}: {tail - begin} bytes of data, the header says {end}"
    assert len(arrays["types"][1]) == len(arrays["offsets"][1]) == cells
    assert arrays["offsets"][1][-1] == len(arrays["connectivity"][1])
    assert 0 <= min(arrays["connectivity"][1]) and max(arrays["connectivity"][1]) < points
    return points, cells, arrays


def check_results(out, steps=None):
    """All files of a run are there, whole, agree with each other, and nothing else is there.  Returns the record."""
    written = record(out)
    rows = written["steps"]
    assert [row["step"] for row in rows] == list(range(len(rows)))
    assert steps is None or len(rows) == steps, f"{len(rows)} steps, expected {steps}"
    series = xml.etree.ElementTree.parse(pathlib.Path(out, "series.pvd")).getroot()
    listed = [entry.attrib for entry in series.findall("Collection/DataSet")]
    names = [f"step-{row['step']:02d}.vtu" for row in rows]
    assert [entry["file"] for entry in listed] == names, f"{listed}, expected {names}"
    assert [float(entry["timestep"]) for entry in listed] == [row["step"] for row in rows]
    assert sorted(contents(out)) == sorted(["run.json", "series.pvd", *(["summary.txt"] if written["stopped_by"] else []), *(["probes.csv"] if written["probes"] else []), *names])
    for name, row in zip(names, rows):
        points, cells, arrays = read_vtu(pathlib.Path(out, name))
        assert cells == row["elements"] and points > 0
        largest = max(math.hypot(*arrays["displacement"][1][3 * i : 3 * i + 3]) for i in range(points)) if "displacement" in arrays else None
        if largest is not None:
            close_to(largest, row["max_displacement_m"], 1e-12, f"{name}: largest displacement")
    return written


def table(text):
    """The rows of the printed table, as lists of dictionaries under its header's words."""
    lines = text.splitlines()
    header = re.split(r"\s{1,}(?=step|elements|dofs|iter|s/product|s planned|s solve|energy J|estimate|Mises Pa|Mises MPa|Mises|s total)", lines[0].strip())
    rows = []
    for line in lines[1:]:
        if line.startswith("stopped by"):
            break
        fields = line.split()
        assert len(fields) == len(header), f"{len(fields)} fields under {header}: {line}"
        rows.append({name: None if field == "-" else float(field) for name, field in zip(header, fields)})
    return rows
