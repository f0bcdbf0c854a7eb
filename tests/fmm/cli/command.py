"""yoke fmm: results, records, files, interruption."""
import json
import math
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree

PROGRAM = os.environ["YOKE_PROGRAM"]
SKIP = 77
MACHINES = pathlib.Path(__file__).resolve().parents[3] / "examples/machines"


def run(*words, code=0, **more):
    done = subprocess.run([PROGRAM, "fmm", *map(str, words)], stdin=more.pop("stdin", subprocess.DEVNULL), capture_output=True, text=True, timeout=500,
                          check=False, **more)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {words}\n{done.stdout}\n{done.stderr}"
    return done


def record(*words, method=("--direct",), **more):
    run(*words, *method, "--json", "run.json", **more)
    return json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))


def rows(path, separator=None):
    head, *lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [dict(zip(head.split(separator), map(float, line.split(separator)))) for line in lines]


# x, y, z, q of a few particles, and what holds for them by plain sums here.
FEW = [(0, 0, 0, 1), (1, 0, 0, -2), (0, 2, 0, 3), (0.5, 0.25, -4, 0.125), (-1e3, 7, 1, 0)]


def write_few(path="few.txt"):
    pathlib.Path(path).write_text("".join(" ".join(map(repr, line)) + "\n" for line in FEW), encoding="utf-8")
    return path


def sums(i):
    potential, force = 0, [0, 0, 0]
    for j, other in enumerate(FEW):
        if j != i:
            r = math.dist(FEW[i][:3], other[:3])
            potential += other[3] / r
            for c in range(3):
                force[c] += FEW[i][3] * other[3] * (FEW[i][c] - other[c]) / r**3
    return potential, force


def check_few(found):
    assert len(found) == len(FEW)
    for i, row in enumerate(found):
        potential, force = sums(i)
        assert [row[name] for name in "xyzq"] == list(FEW[i])
        assert math.isclose(row["potential"], potential, rel_tol=1e-14)
        for name, value in zip(("fx", "fy", "fz"), force):
            assert math.isclose(row[name], value, rel_tol=1e-13, abs_tol=1e-15)


def test_several_ranks_are_refused():
    words = ("--generate", "grid", "--particles", 8, "--direct", "--save", "kept.txt")
    run(*words, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "1"})
    kept = pathlib.Path("kept.txt").read_text(encoding="utf-8")
    done = run(*words, "--seed", 2, "--charges", "random", code=2, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"})
    assert "started with 2 MPI ranks, but yoke fmm runs on one" in done.stderr, done.stderr
    assert pathlib.Path("kept.txt").read_text(encoding="utf-8") == kept


def test_columns_of_the_output_are_those_of_plain_sums():
    run(write_few(), "--direct", "--output", "out.txt")
    check_few(rows("out.txt"))
    run("out.txt", "--direct", "--output", "out.csv")  # results are read again
    check_few(rows("out.csv", ","))


def test_forces_that_are_zero_have_no_sign():
    pathlib.Path("a.txt").write_text("0 0 0 1\n1 0 0 -1\n", encoding="utf-8")
    run("a.txt", "--direct", "--output", "b.txt")
    assert "-0" not in pathlib.Path("b.txt").read_text(encoding="utf-8").split()


def test_xyz_output_has_properties_and_forces():
    run(write_few(), "--direct", "--output", "out.xyz")
    count, properties, *lines = pathlib.Path("out.xyz").read_text(encoding="utf-8").splitlines()
    assert count == "5" and "Properties=species:S:1:pos:R:3:charge:R:1:potential:R:1:forces:R:3" in properties
    names = ("x", "y", "z", "q", "potential", "fx", "fy", "fz")
    check_few([dict(zip(names, map(float, line.split()[1:]))) for line in lines])


def test_vtu_has_points_with_potential_and_force():
    run(write_few(), "--direct", "--output", "out.vtu")
    head, _, data = pathlib.Path("out.vtu").read_bytes().partition(b'<AppendedData encoding="raw">\n_')
    tree = xml.etree.ElementTree.fromstring(head + b"</VTKFile>")
    piece = tree.find("UnstructuredGrid/Piece")
    assert piece.attrib == {"NumberOfPoints": "5", "NumberOfCells": "5"}
    values = {}
    kinds = {"Float64": "d", "Int64": "q", "UInt8": "B"}
    for array in piece.iter("DataArray"):
        at, size = int(array.get("offset")), struct.calcsize(kinds[array.get("type")])
        length, = struct.unpack_from("=Q", data, at)
        values[array.get("Name")] = struct.unpack_from(f"={length // size}{kinds[array.get('type')]}", data, at + 8)
    assert values["connectivity"] == (0, 1, 2, 3, 4) and values["offsets"] == (1, 2, 3, 4, 5) and values["types"] == (1,) * 5
    found = [dict(zip(("x", "y", "z", "q", "potential", "fx", "fy", "fz"),
                      (*values["Points"][3 * i:3 * i + 3], values["charge"][i], values["potential"][i], *values["force"][3 * i:3 * i + 3])))
             for i in range(5)]
    check_few(found)


def test_the_record_has_its_keys():
    got = record(write_few())
    energy = sum(FEW[i][3] * sums(i)[0] for i in range(5)) / 2
    assert math.isclose(got["total_energy"], energy, rel_tol=1e-14)
    assert got["program"] == "yoke fmm" and got["particles"] == 5 and got["method"] == "direct" and got["gradient"] is True
    assert got["order"] is None and got["depth"] is None and got["sampled_error"] is None and got["model"] == {"costs": []}
    assert got["frame"] == got["frames"] == 1 and got["input"] == "few.txt"
    assert set(got["seconds"]) == {"read", "tree", "tune", "near", "far", "check", "write", "total"}
    assert got["seconds"]["total"] >= got["seconds"]["near"] > 0 and got["seconds"]["far"] is None
    assert max(map(abs, got["total_force"])) < 1e-14
    only = record("few.txt", "--potential-only")
    assert only["gradient"] is False and only["total_force"] == [None, None, None]
    assert math.isclose(only["total_energy"], got["total_energy"], rel_tol=1e-15)


def test_the_record_of_the_fast_multipole_method():
    run("--generate", "grid", "--particles", 4096, "--charges", "random", "--depth", 3, "--order", 9, "--check", 4096, "--output", "fast.txt", "--json", "run.json")
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    assert got["method"] == "fmm" and got["depth"] == 3 and got["order"] == 9 and got["sampled_particles"] == 4096
    assert got["pairs"] == 4096 * 8 * (8 + 14)**3 / 8**3 - 4096  # 8^3 cells of 8 particles, 22^3 ordered pairs of cells that touch
    assert all(got["seconds"][part] > 0 for part in ("read", "tree", "near", "far", "check", "write", "total"))
    run("--generate", "grid", "--particles", 4096, "--charges", "random", "--direct", "--output", "exact.txt")
    fast, exact = rows("fast.txt"), rows("exact.txt")

    def error(names):
        difference = sum((a[name] - b[name])**2 for a, b in zip(fast, exact) for name in names)
        return math.sqrt(difference / sum(b[name]**2 for b in exact for name in names))
    assert 1e-7 < error(["potential"]) < 1e-4
    assert math.isclose(got["sampled_error"], error(["potential"]), rel_tol=1e-6)
    assert math.isclose(got["sampled_error_of_forces"], error(["fx", "fy", "fz"]), rel_tol=1e-6)


def test_the_record_of_an_adaptive_tree():
    got = record("--generate", "xenon", "--particles", 5000, "--charges", "random", method=("--leaf", 50, "--order", 8, "--check", 5000))
    assert got["leaf_capacity"] == 50 and got["leaves"] >= 100 and got["depth"] > 6 and got["order"] == 8
    assert got["sampled_error"] < 1e-4 and got["sampled_error_of_forces"] < 1e-3
    assert 0 < got["pairs"] < 5000 * 4999 / 4 and got["far_pairs"] > 0 and got["w_pairs"] > 0
    uniform = record("--generate", "grid", "--particles", 4096, method=("--depth", 3, "--order", 3, "--check", 0))
    assert uniform["leaf_capacity"] is None and uniform["leaves"] == 512 and uniform["w_pairs"] == 0


def test_the_record_of_a_requested_error():
    for of, key in (("potentials", "sampled_error"), ("forces", "sampled_error_of_forces")):
        got = record("--generate", "shells", "--particles", 4000, "--charges", "random", "--error", 1e-5, "--error-of", of,
                     method=("--depth", 3, "--check", 4000))
        assert got["requested_error"] == 1e-5 and got["error_of"] == of and got["order_raised"] >= 0
        predicted = got["predicted_error" if of == "potentials" else "predicted_error_of_forces"]
        assert 0.1e-5 < got[key] <= 1e-5 and 0.4 < predicted / got[key] < 2.5
        assert got["order"] > 4 and got["seconds"]["tune"] > 0
    got = record("--generate", "shells", "--particles", 4000, "--charges", "equal", "--error", 1e-6, "--error-of", "energy", method=("--depth", 3, "--check", 4000))
    exact = record("--generate", "shells", "--particles", 4000, "--charges", "equal")["total_energy"]
    error = abs(got["total_energy"] / exact - 1)
    assert error <= 1e-6 and got["error_of"] == "energy" and got["requested_error"] == 1e-6
    assert math.isclose(got["sampled_error_of_energy"], error, rel_tol=1e-3) and error / 5 < got["predicted_error_of_energy"] <= 1e-6
    given = record("--generate", "shells", "--particles", 500, method=("--depth", 2, "--order", 3))
    assert given["requested_error"] is None and given["predicted_error"] is None and given["error_of"] is None


def test_json_on_standard_output_is_one_document():
    done = run("--generate", "shells", "--particles", 80, "--direct", "--json", "-")
    assert json.loads(done.stdout)["particles"] == 80 and "total energy" in done.stderr


def test_a_record_without_particles_counts_no_pairs():
    assert math.copysign(1, record("--generate", "grid", "--particles", 0)["pairs"]) == 1  # and not -0


def test_particles_on_standard_output_have_it_for_themselves():
    done = run("--generate", "grid", "--particles", 8, "--direct", "--output", "-")
    assert [len(line.split()) for line in done.stdout.splitlines()] == [8] * 9 and "total energy" in done.stderr, done.stdout


def write_frames(path, counts):
    """XYZ frames of so many particles, all different; returns the lines of each."""
    frames = [[f"X {i + f / 8!r} {(i * i) % 7 + 0.5!r} {f + 1 / (i + 1)!r} {(-1) ** i * (1 + f)}" for i in range(n)] for f, n in enumerate(counts)]
    text = "".join(f"{len(lines)}\nframe\n" + "".join(line + "\n" for line in lines) for lines in frames)
    pathlib.Path(path).write_text(text, encoding="utf-8")


def frames_of(path):
    """Of each frame of an XYZ file its lines, without kinds."""
    lines, found = pathlib.Path(path).read_text(encoding="utf-8").splitlines(), []
    while lines:
        count = int(lines[0])
        found.append([line.split()[1:] for line in lines[2:2 + count]])
        lines = lines[2 + count:]
    return found


def test_several_frames_are_those_of_single_runs():
    write_frames("in.xyz", [5, 1, 9, 0])
    got = record("in.xyz", "--frames", "all", "--output", "out.xyz")
    found = frames_of("out.xyz")
    assert len(found) == 4 and [one["frame"] for one in got["sequence"]] == [1, 2, 3, 4] and got["frames"] == 4
    for number, frame in enumerate(found, 1):
        single = record("in.xyz", "--frame", number, "--output", "one.xyz")
        one = got["sequence"][number - 1]
        assert frames_of("one.xyz") == [frame] and "sequence" not in single
        assert all(one[key] == single[key] for key in ("frame", "particles", "total_energy", "total_force", "pairs", "depth"))
    assert got["frame"] == 4 and got["particles"] == 0
    assert math.isclose(got["seconds"]["total"], sum(one["seconds"]["total"] for one in got["sequence"]))


def test_a_part_of_the_frames_and_the_table():
    write_frames("in.xyz", [5, 3, 9, 2])
    done = run("in.xyz", "--direct", "--frames", "2:3", "--output", "out.xyz")
    assert [len(frame) for frame in frames_of("out.xyz")] == [3, 9]
    head, *lines = done.stdout.splitlines()
    assert head.split()[:2] == ["frame", "particles"] and [line.split()[:2] for line in lines] == [["2", "3"], ["3", "9"]], done.stdout
    done = run("in.xyz", "--direct", "--frames", "4")
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["4", "2"]]
    run("in.xyz", "--frames", "2:4", "--save", "part.xyz")
    assert [len(frame) for frame in frames_of("part.xyz")] == [3, 9, 2]


def test_frames_go_to_h5md_and_come_back():
    write_frames("in.xyz", [6, 6, 6])
    probe = subprocess.run([PROGRAM, "fmm", "in.xyz", "--frames", "all", "--save", "in.h5"], capture_output=True, text=True, check=False)
    if "built without HDF5" in probe.stderr:
        sys.exit(SKIP)
    assert probe.returncode == 0, probe.stderr
    run("in.xyz", "--direct", "--frames", "1:3", "--output", "right.xyz")
    run("in.h5", "--direct", "--frames", "all", "--output", "out.h5")
    run("out.h5", "--direct", "--frames", "all", "--output", "again.xyz")  # charges change with the frames
    assert frames_of("again.xyz") == frames_of("right.xyz")
    write_frames("uneven.xyz", [6, 5])
    done = run("uneven.xyz", "--direct", "--frames", "all", "--output", "out.h5", code=2)
    assert "frame 2: out.h5: the number of particles changes from 6 to 5" in done.stderr, done.stderr
    run("out.h5", "--frame", 3, "--save", "old.txt")  # it is still the old one


def test_an_error_in_a_frame_names_it_and_leaves_the_old_file():
    pathlib.Path("in.xyz").write_text("1\n\nX 1 2 3 4\n2\n\nX 1 2 3 4\nX 1 2 3 4\n", encoding="utf-8")
    pathlib.Path("out.xyz").write_text("old\n", encoding="utf-8")
    done = run("in.xyz", "--direct", "--frames", "all", "--output", "out.xyz", code=2)
    assert "frame 2: particles 1 and 2 have charges and lie at the same place" in done.stderr, done.stderr
    assert pathlib.Path("out.xyz").read_text(encoding="utf-8") == "old\n" and sorted(os.listdir(".")) == ["in.xyz", "out.xyz"]
    pathlib.Path("in.xyz").write_text("1\n\nX 1 2 3 4\n1\n\nX 1 2 3 inf\n", encoding="utf-8")
    done = run("in.xyz", "--direct", "--frames", "all", code=2)
    assert "frame 2: in.xyz:6: q is inf" in done.stderr, done.stderr


def test_frames_that_are_not_there_are_refused():
    write_frames("in.xyz", [2, 2])
    for text in ("0", "3", "1:3", "2:1", "0:1", "9999999999999999999999"):
        done = run("in.xyz", "--direct", "--frames", text, code=2)
        assert f"--frames {text}: " in done.stderr, done.stderr
    for text in ("", "1:", ":2", "-1", "1:2:3", " 1", "some", "1-2"):
        done = run("in.xyz", "--direct", f"--frames={text}", code=2)
        assert f"--frames {text}: expected all, or numbers as in 1:10" in done.stderr, done.stderr
    done = run("in.xyz", "--direct", "--frames", "all", "--output", "out.txt", code=2)
    assert "out.txt: there is room for one frame, not for 2; give a file .xyz or .h5" in done.stderr, done.stderr
    assert "--frame and --frames: give one" in run("in.xyz", "--direct", "--frames", "1:2", "--frame", 1, code=2).stderr
    assert "belong to FILE" in run("--generate", "grid", "--direct", "--frames", "all", code=2).stderr


def test_frames_keep_the_order_while_they_move_slowly():
    """The tree is given: --leaf.  Frames 1 to 4 differ by a little, the fifth has its particles in one corner."""
    def place(i, frame):
        at = [(i * step % 1009) / 1009 + 1e-4 * frame * ((i + c) % 3) for c, step in enumerate((1, 37, 601))]
        return [value**3 for value in at] if frame == 4 else at
    text = "".join("900\n\n" + "".join(f"X {x!r} {y!r} {z!r} {1 - 2 * (i % 2)}\n" for i in range(900) for x, y, z in [place(i, f)]) for f in range(5))
    pathlib.Path("in.xyz").write_text(text, encoding="utf-8")
    words = ("in.xyz", "--frames", "all", "--leaf", 25, "--error", 1e-4, "--check", 900)
    frames = record(*words, "--output", "first.xyz", method=())["sequence"]
    assert [frame["order_chosen_because"] for frame in frames[:4]] == ["first", None, None, None], frames
    assert frames[4]["order_chosen_because"] in ("leaves", "near pairs"), frames[4]
    assert len({frame["order"] for frame in frames[:4]}) == 1
    assert all(frame["sampled_error"] <= 1e-4 and not frame["tuned"] and frame["tuned_because"] is None for frame in frames)
    record(*words, "--output", "second.xyz", method=())
    assert pathlib.Path("first.xyz").read_bytes() == pathlib.Path("second.xyz").read_bytes()


def test_published_energies_of_xenon():
    """Energies by direct summation elsewhere; what rounding may add is in proportion to the sum of the terms' sizes, the energy of equal charges."""
    equal = 1326686674711.92
    for charges, energy in (("alternating", -47727534.9538887), ("random", 30578627.9226119)):
        got = record("--generate", "xenon", "--charges", charges, "--potential-only")
        assert got["particles"] == 113000
        assert abs(got["total_energy"] - energy) < 1e-15 * equal, (charges, got["total_energy"])


def test_published_energies_are_within_the_request():
    """Energies by direct summation elsewhere, of alternating and of equal charges; on trees that are given, with orders for the error."""
    published = {("grid", "--depth", 4): (-14607775.3169956, 64660746957.0891), ("shells", "--leaf", 96): (-44479543.3182807, 114133470056.282),
                 ("xenon", "--leaf", 96): (-47727534.9538887, 1326686674711.92)}
    for tree, energies in published.items():
        for charges, energy in zip(("alternating", "equal"), energies):
            for error in (1e-3, 1e-6):
                got = record("--generate", *tree, "--charges", charges, "--error", error, "--potential-only", "--check", 0, method=())["total_energy"]
                assert math.isclose(got, energy, rel_tol=error), (tree, charges, error, got)


def test_coincident_charges_are_named_or_skipped():
    pathlib.Path("a.txt").write_text("0 0 0 1\n1 2 3 1\n5 5 5 0\n1 2 3 -4\n5 5 5 2\n", encoding="utf-8")
    done = run("a.txt", "--direct", code=2)
    assert re.search(r"particles 2 and 4 have charges and lie at the same place \(1, 2, 3\)", done.stderr), done.stderr
    run("a.txt", "--direct", "--skip-coincident", "--output", "b.txt")
    found = rows("b.txt")
    assert math.isclose(found[1]["potential"], 1 / math.sqrt(14) + 2 / math.sqrt(29), rel_tol=1e-15)


def test_charges_that_are_nearly_at_one_place_are_not_lost_silently():
    pathlib.Path("a.txt").write_text("0 0 0 1\n1e-200 0 0 1\n1 1 1 1\n", encoding="utf-8")
    done = run("a.txt", "--direct", code=2)
    assert "particles 1 and 2 have charges and lie at the same place, but for less than 7e-139 of the largest coordinate: (0, 0, 0)" in done.stderr, done.stderr


def test_huge_and_tiny_numbers_are_answered():
    pathlib.Path("a.txt").write_text("0 0 0 1e-300\n1 0 0 1e-300\n", encoding="utf-8")
    done = run("a.txt", "--direct")
    assert "total energy 0" in done.stdout and "choose units in which charges are larger" in done.stderr, done.stderr
    pathlib.Path("a.txt").write_text("0 0 0 1e-300\n1e-300 0 0 1e-300\n", encoding="utf-8")
    assert record("a.txt", "--potential-only")["total_energy"] == 1e-300
    pathlib.Path("a.txt").write_text("0 0 0 1e300\n1e250 0 0 1e300\n", encoding="utf-8")
    got = record("a.txt", "--output", "b.txt")  # the force is 1e100; the energy is 1e350
    assert got["total_energy"] is None and math.isclose(rows("b.txt")[0]["fx"], -1e100, rel_tol=1e-14)
    pathlib.Path("a.txt").write_text("0 0 0 1e300\n1 0 0 1e300\n", encoding="utf-8")
    done = run("a.txt", "--direct", code=1)
    assert "particle 1 is larger than the largest double" in done.stderr
    done = run("a.txt", "--direct", "--potential-only")
    assert "warning: the total energy is larger than the largest double" in done.stderr


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


def test_an_interrupted_run_leaves_old_results_whole():
    pathlib.Path("out.txt").write_text("old\n", encoding="utf-8")
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([PROGRAM, "fmm", "--generate", "grid", "--particles", "3000000", "--direct", "--output", "out.txt"], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as process:
            status = pathlib.Path(f"/proc/{process.pid}/status")
            for _ in range(2000):  # until the signal is caught
                caught = int(re.search(r"^SigCgt:\s*(\w+)", status.read_text(encoding="utf-8"), re.MULTILINE)[1], 16)
                if caught >> (number - 1) & 1:
                    break
                time.sleep(0.01)
            process.send_signal(number)
            _, error = process.communicate(timeout=500)
        assert process.returncode == 128 + number, (process.returncode, error)
        assert b"interrupted" in error and pathlib.Path("out.txt").read_text(encoding="utf-8") == "old\n"
        assert os.listdir(".") == ["out.txt"]


def test_a_full_disk_is_an_error_that_leaves_no_file():
    done = run("--generate", "grid", "--particles", 100, "--direct", "--output", "/dev/full", code=1)
    assert "/dev/full" in done.stderr


def plain_seconds(model):
    """Predicted seconds of all parts of all trees, without what was learned of the runs before."""
    return [cost["predicted_seconds"][part] / model["corrections"][part]["factor"] for cost in model["costs"] for part in ("tree", "near", "far")]


def call_undisturbed(path):
    """Other tests run meanwhile: costs that they disturbed would be measured again."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    pathlib.Path(path).write_text(re.sub(r',\s*"disturbed": [-+.0-9e]+', "", text), encoding="utf-8")


def test_the_tree_is_chosen_by_costs_that_are_measured_once():
    words = ("--generate", "shells", "--particles", 20000, "--order", 4, "--store", "store.json", "--json", "run.json", "--check", 0)
    first = run(*words, "--measure-all")
    assert "measuring what the method's operations take on this machine, once" in first.stdout
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    costs = got["model"]["costs"]
    uniform = [cost for cost in costs if cost["leaf_capacity"] is None and cost["cells"] is None]
    adaptive = [cost for cost in costs if cost["leaf_capacity"] is not None]
    assert [cost["depth"] for cost in uniform] == list(range(len(uniform))) and got["model"]["costs_measured"]
    assert len(adaptive) > 5 and None not in [cost["leaf_capacity"] for cost in adaptive]
    chosen = next(cost for cost in costs if all(cost[key] == got[key] for key in ("depth", "cells", "leaf_capacity")))
    least = min(cost["predicted"] for cost in costs)  # of several trees, where disturbed measurements make them equal
    assert chosen["predicted"] <= least * (1 + 1e-9), (chosen, least)
    assert chosen["measured"] > 0 and got["model"]["regret"] is not None
    assert chosen["near_pairs"] == got["pairs"] and chosen["far_pairs"] == got["far_pairs"]
    assert got["seconds"]["tune"] > 0
    near = [cost["near_pairs"] for cost in uniform]
    assert near[0] == 20000 * 19999 and near == sorted(near, reverse=True)
    near = [cost["near_pairs"] for cost in adaptive]
    assert near == sorted(near)
    assert got["plane_waves"] is None and not any(cost["plane_waves"] for cost in costs)  # of an order that is given
    call_undisturbed("store.json")
    second = run(*words, "--explain")
    assert "measuring" not in second.stdout and "far pairs of cells: rotations" in second.stdout
    again = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    assert not again["model"]["costs_measured"]
    for one, other in zip(plain_seconds(again["model"]), plain_seconds(got["model"]), strict=True):
        assert abs(one - other) <= 1e-9 * other
    tree = rf"cells +{again['cells']}" if again["cells"] else rf"leaf +{again['leaf_capacity']}" if again["leaf_capacity"] else rf"depth +{again['depth']}"
    assert re.search(rf"^{tree}\* +4 ", second.stdout, re.MULTILINE)
    twice = record("--generate", "grid", "--particles", 20000, "--error", "1e-3", "--store", "store.json", method=())  # for a usual order, then for its own
    assert twice["seconds"]["tune"] > twice["model"]["costs_s"] > 0, twice["model"]
    chosen = next(cost for cost in twice["model"]["costs"] if all(cost[key] == twice[key] for key in ("depth", "cells", "leaf_capacity")))
    assert chosen["plane_waves"] == twice["plane_waves"]  # faster on this machine or not
    assert not twice["plane_waves"] or set(twice["plane_waves"]["levels"]) <= set(range(2, twice["depth"] + 1))
    given = run(*words, "--depth", 1, "--explain", "--plot", "depths.svg")
    assert re.search(r"^depth +1\* +4 ", given.stdout, re.MULTILINE)
    assert pathlib.Path("depths.dat").exists() and pathlib.Path("depths.gp").exists()
    without_host = subprocess.run([PROGRAM, "fmm", *map(str, words), "--devices", "opencl:0.0"], capture_output=True, text=True, timeout=500, check=False)
    if without_host.returncode != 3:  # else there is no OpenCL
        assert without_host.returncode == 0, without_host.stderr
        got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
        chosen = [cost for cost in got["model"]["costs"] if cost["measured"] is not None]
        assert [part["device"] for part in got["near_field"]] == ["openmp", "opencl:0.0"] and got["near_field"][0]["pairs"] == 0, got["near_field"]
        assert len(chosen) == 1 and chosen[0]["shares"] == [0, 1] and chosen[0]["predicted"] > 0, chosen
        assert "tree and both fields: predicted" in without_host.stdout, without_host.stdout


def test_powers_of_the_store_serve_where_nothing_else_tells_them():
    words = ("--generate", "grid", "--particles", 5000, "--order", 4, "--store", "store.json", "--check", 0, "--objective", "energy")
    nothing = {**os.environ, "YOKE_SYSROOT": str(pathlib.Path("empty").resolve()), "YOKE_NVML": "", "YOKE_AMDSMI": ""}  # no meter, on any machine
    pathlib.Path("empty").mkdir()
    first = run(*words, env=nothing)
    assert "powers of the cores are not known" in first.stderr and "predicted energy" not in first.stdout
    run(*words, "--declare", "idle=30,busy=60", env=nothing)
    later = record(*words, method=(), env=nothing)
    chosen = next(cost for cost in later["model"]["costs"] if cost["measured"] is not None)
    watts = chosen["predicted_j"] / chosen["predicted"]
    assert 30 < watts < 90, watts  # busy, as far as the cores were
    told = run(*words, env=nothing)
    assert "as far as an earlier run was told (declared powers)" in told.stderr and "not known" not in told.stderr


def test_what_is_measured_at_rest_is_no_part_of_choice_and_near_field():
    words = ("--generate", "grid", "--particles", 1000, "--depth", 2, "--order", 3, "--devices", "openmp", "--objective", "energy", "--declare", "idle=30,busy=60")
    got = record(*words, "--store", "none", method=())  # the rest takes 0.3 s, after which all is planned
    assert got["model"]["costs_measured"] and got["model"]["costs_s"] >= 0.25, got["model"]
    assert got["seconds"]["tune"] is not None and max(got["seconds"]["tune"], got["seconds"]["near"]) < 0.25, got["seconds"]


def test_the_tree_is_chosen_by_counts():
    words = ("--generate", "grid", "--particles", 5000, "--order", 4, "--store", "store.json", "--check", 0, "--objective", "instructions")
    refused = run(*words, code=3, env={**os.environ, "YOKE_COUNTERS": "ENOENT"})
    assert "instructions cannot be counted on this machine: the processor has no such counter" in refused.stderr
    software = {**os.environ, "YOKE_COUNTERS": "software"}  # nanoseconds of the threads
    done = subprocess.run([PROGRAM, "fmm", *map(str, words), "--measure-all", "--plot", "counts.svg", "--json", "run.json"], capture_output=True, text=True, timeout=500,
                          check=False, env=software)
    if done.returncode == 3:
        sys.exit(SKIP)  # a sandbox without perf events
    assert done.returncode == 0, done.stderr
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    assert got["model"]["unit"] == "10^9 instructions"
    assert re.search(r"^costs of a tree are instructions in user mode; G: 10\^9 of all threads\n"
                     r"tree +order near pairs far pairs +tree G +near G +far G predicted G measured G energy J$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^tree and both fields: predicted \S+ instructions, measured \S+ \(\S+ %\)$", done.stdout, re.MULTILINE), done.stdout
    assert "set ylabel '10^9 instructions'" in pathlib.Path("counts.gp").read_text(encoding="utf-8")
    chosen = next(cost for cost in got["model"]["costs"] if all(cost[key] == got[key] for key in ("depth", "cells", "leaf_capacity")))
    least = min(cost["predicted"] for cost in got["model"]["costs"])
    assert chosen["predicted"] <= least * (1 + 1e-3) and chosen["measured"] > 0 and chosen["predicted_j"] is None
    assert all(value > 0 for value in chosen["measured_seconds"].values() if chosen["depth"] > 1)
    again = run(*words, env=software)  # costs are in the store
    assert "measuring" not in again.stdout
    assert re.search(r"^tree and both fields: predicted \S+ instructions$", again.stdout, re.MULTILINE), again.stdout


def test_hwloc_opens_no_plugins():
    # They take longer than all else that opens the machine.  hwloc tells of each that it finds.
    done = run("--generate", "grid", "--particles", 100, "--direct", "--devices", "openmp", "--quiet", env={**os.environ, "HWLOC_PLUGINS_VERBOSE": "1"})
    assert "Starting plugin" in done.stderr and "found" not in done.stderr, done.stderr


def write_machine(path, **gpu):
    devices = [{"name": "cpu", "class": "cpu", "seconds_per_unit": 2e-9}, {"name": "gpu", "class": "gpu", "seconds_per_unit": 2e-10, **gpu}]
    pathlib.Path(path).write_text(json.dumps({"name": "fast gpu", "devices": devices}), encoding="utf-8")
    return ("--machine", path, "--devices", "sim:cpu,sim:gpu")


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


def test_simulated_devices_without_a_host_are_refused():
    refused = run("--generate", "grid", "--particles", 2000, "--order", 4, "--machine", MACHINES / "pairs-2026.json", "--store", "none", "--devices", "sim:gpu", code=2)
    assert "none of them is a host, which does the far field; add a simulated one" in refused.stderr


def test_the_prediction_is_of_the_order_that_is_run():
    machine = ("--machine", MACHINES / "pairs-2026.json", "--store", "none", "--devices", "sim:cpu,sim:gpu")
    got = record("--generate", "grid", "--particles", 20000, *machine, method=())  # the tree that the usual order asks for needs another one itself
    chosen = [cost for cost in got["model"]["costs"] if cost["measured"] is not None]
    assert len(chosen) == 1 and chosen[0]["order"] == got["order"]
    assert abs(chosen[0]["predicted"] / chosen[0]["measured"] - 1) < 0.1


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
