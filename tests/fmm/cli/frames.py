"""yoke fmm: files with several frames."""
import json
import math
import os
import pathlib
import random
import subprocess
import sys

from command import PROGRAM, SKIP, record, run


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
    for name, total in got["seconds"].items():  # of the frames that have them: one of no particles has no direct sums
        known = [one["seconds"][name] for one in got["sequence"] if one["seconds"][name] is not None]
        assert math.isclose(total, sum(known)) if known else total is None, (name, total, known)


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
    comments = [line for line in pathlib.Path("again.xyz").read_text(encoding="utf-8").splitlines() if line.startswith("Properties=")]
    assert [line.rsplit(" ", 1)[1] for line in comments] == ["step=0", "step=1", "step=2"], comments
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
    assert "need FILE" in run("--generate", "grid", "--direct", "--frames", "all", code=2).stderr


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


def test_memory_is_got_once():
    """What the first frame got from the system serves the second one: what is new is told in bytes, and in seconds that are predicted and measured."""
    places = random.Random(3)
    with open("in.xyz", "w", encoding="utf-8") as file:
        for _ in range(3):
            file.write("20000\nframe\n" + "".join(f"X {places.random()!r} {places.random()!r} {places.random()!r} {places.choice((-1, 1))}\n" for _ in range(20000)))
    run("in.xyz", "--frames", "all", "--depth", 3, "--order", 4, "--check", 0, "--json", "run.json")
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    first, *others = got["sequence"]
    assert first["memory"]["new_bytes"] > 14 * 8 * 20000 * 0.9 and first["memory"]["measured_s"] == first["seconds"]["memory"] > 0
    assert first["memory"]["predicted_s"] > 0
    for other in [] if os.environ.get("YOKE_SANITIZED") else others:  # sanitizers give large blocks back to the system
        assert other["memory"]["new_bytes"] == other["memory"]["predicted_s"] == 0, other["memory"]
    direct = record("in.xyz")
    assert direct["memory"] is None and direct["seconds"]["memory"] is None
