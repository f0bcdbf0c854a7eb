"""yoke-bench-reduction and yoke-bench-numa: what they print, what they write, and what they refuse."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

reduction, numa = sys.argv[1:3]


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def refused(program, *arguments, word):
    done = run(program, *arguments)
    assert done.returncode == 2 and word in done.stderr, (arguments, done.returncode, done.stderr)


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_reduction(out):
    small = ["--elements", "77", "--threads", "3", "--repeats", "2", "--seconds", "0.0001", "--out", str(out / "r")]
    done = run(reduction, *small, "--json", str(out / "r.json"))
    assert done.returncode == 0, done.stderr
    for word in ("77 elements", "triad, 1 thread:", "element vectors stored", "element vectors computed", "locks 4096", "additions to one place"):
        assert word in done.stdout, (word, done.stdout)
    record = json.loads((out / "r.json").read_text(encoding="utf-8"))
    rows = record["rows"]
    assert record["elements"] == 77 and [row["threads"] for row in record["triad"]] == [1, 2, 3], record["triad"]
    assert len(rows) == 2 * 3 * 12 and {row["locks"] for row in rows} == {0, 1, 4, 16, 64, 256, 1024, 4096}
    assert {row["method"] for row in rows} == {"private", "cas", "locks", "colouring", "owner", "unsynchronised"}
    for row in rows:
        assert 0 < row["least_s"] <= row["seconds"] <= row["most_s"] and row["over_unsynchronised"] > 0 and row["speedup"] > 0, row
        assert abs(row["seconds_per_addition"] * 77 * 81 / row["least_s"] - 1) < 1e-9, row
        assert (row["over_triad"] is None) == (row["vectors"] == "computed"), row
        if row["method"] != "unsynchronised" or row["threads"] == 1:
            assert row["wrong_dofs"] == 0 and row["error"] <= 1e-13, row
        if row["method"] == "unsynchronised":
            assert row["over_unsynchronised"] == 1, row
    assert len(record["synthetic"]) == 5 * 7 * 3
    assert all(row["lost"] == 0 for row in record["synthetic"] if row["method"] != "unsynchronised" or row["threads"] == 1)
    assert [(row["method"], int(row["threads"])) for row in table(out / "r/reduction.csv")] == [(row["method"], row["threads"]) for row in rows]
    assert len(table(out / "r/reduction-synthetic.csv")) == len(record["synthetic"])
    script = (out / "r/reduction.gp").read_text(encoding="utf-8")
    assert script.count("<< END") == script.count("\nEND\n") and all(f"fig. 4.{name}" in script for name in ("3a", "3b", "4", "5"))
    done = run(reduction, *small, "--quiet", "--order", "random")
    assert done.returncode == 0 and done.stdout == "", done
    for wrong, word in ((["--elements", "0"], "elements"), (["--threads", "0"], "threads"), (["--seconds", "0"], "--seconds"),
                        (["--order", "zigzag"], "morton"), (["surplus"], "surplus"), (["--out", "/dev/null/x"], "/dev/null")):
        refused(reduction, *wrong, word=word)


def check_numa(out):
    small = ["--megabytes", "3", "--repeats", "3", "--seconds", "0.001", "--out", str(out / "n")]
    done = run(numa, *small, "--json", str(out / "n.json"))
    assert done.returncode == 0, done.stderr
    record = json.loads((out / "n.json").read_text(encoding="utf-8"))
    assert record["pretended"] is False
    if record["nodes"] == 1:
        assert "one NUMA node: there is nothing to compare" in done.stdout and record["rows"] == [], done.stdout
        assert not (out / "n/numa.csv").exists()
    done = run(numa, *small, "--pretend", "2", "--json", str(out / "p.json"))
    assert done.returncode == 0, done.stderr
    record = json.loads((out / "p.json").read_text(encoding="utf-8"))
    assert record["nodes"] == 2 and record["pretended"] is True and "pretended" in done.stdout, done.stdout
    rows = record["rows"]
    assert [(row["kernel"], row["placement"]) for row in rows] == [(kernel, placement) for kernel in ("triad", "product")
                                                                  for placement in ("right", "wrong", "interleaved")]
    for row in rows:
        assert row["mean_s"] > 0 and row["interval_s"] >= 0 and row["bytes_per_s"] > 0, row
    assert len(table(out / "n/numa.csv")) == 6 and "numa.svg" in (out / "n/numa.gp").read_text(encoding="utf-8")
    for wrong, word in ((["--repeats", "1"], "repeats"), (["--seconds", "x"], "--seconds"), (["--pretend", "1"], "pretend"), (["surplus"], "surplus")):
        refused(numa, *wrong, word=word)


with tempfile.TemporaryDirectory() as directory:
    check_reduction(pathlib.Path(directory))
    check_numa(pathlib.Path(directory))
