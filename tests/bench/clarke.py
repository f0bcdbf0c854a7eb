"""yoke-bench-clarke: what it prints, what it writes, and what it refuses."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check(out):
    done = run("--nodes", "8", "--blocks", "280", "--edge", "2", "--out", str(out / "c"), "--json", str(out / "c.json"))
    assert done.returncode == 0, done.stderr
    assert "TFLOPS" in done.stdout and "  right" in done.stdout and "Figure 1.6" in done.stdout, done.stdout
    record = json.loads((out / "c.json").read_text(encoding="utf-8"))
    runs = {run["partition"]: run for run in record["runs"]}
    assert sorted(runs) == ["cpm", "cpm-multi", "even", "fpm"] and record["nodes"] == 8
    for one in runs.values():
        assert one["product_right"] is True and one["edge"] == 2 and one["blocks"] == 280 and one["n"] == 280 * 128
        assert abs(2e-9 * one["n"] ** 3 / one["seconds"] / one["gflops"] - 1) < 1e-9
        assert one["seconds"] > one["communication_s"] > 0 and one["messages"] > 0
    assert runs["fpm"]["imbalance"] <= 0.05 < runs["cpm"]["imbalance"] < runs["even"]["imbalance"]
    assert len(record["models"]) >= 3 and len(record["speeds"]) == 5
    rows = table(out / "c/clarke.csv")
    assert {row["strategy"]: float(row["imbalance"]) for row in rows} == \
        {name: float(f"{one['imbalance']:.9g}") for name, one in runs.items()}
    rectangles = table(out / "c/clarke-rectangles.csv")
    assert len(rectangles) == 8 and sum(int(row["rows"]) * int(row["columns"]) for row in rectangles) == 280 ** 2
    assert len(table(out / "c/clarke-models.csv")) == 4 * len(record["models"]) and len(table(out / "c/clarke-speeds.csv")) == 5 * 18
    script = (out / "c/clarke.gp").read_text(encoding="utf-8")
    assert script.count("<< END") == script.count("\nEND\n") and all(f"fig. 1.{name}" in script for name in ("6", "8a", "9", "10"))
    done = run("--nodes", "8", "--blocks", "64", "--edge", "0", "--quiet", "--out", str(out / "q"))
    assert done.returncode == 0 and done.stdout == "", done
    for wrong, word in ((["--nodes", "12"], "8 or 90"), (["--blocks", "3"], "blocks"), (["--edge", "-1"], "edge"), (["surplus"], "surplus"),
                        (["--nodes", "8", "--blocks", "64", "--out", "/dev/null/x"], "/dev/null")):
        done = run(*wrong)
        assert done.returncode == 2 and word in done.stderr, (wrong, done.returncode, done.stderr)


with tempfile.TemporaryDirectory() as directory:
    check(pathlib.Path(directory))
