"""yoke-bench-plan: what it prints, what it writes, and what it refuses."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as directory:
    out = pathlib.Path(directory)
    small = ["--problems", "2", "--objective", "energy", "--out", str(out / "o")]
    done = run(*small, "--json", str(out / "r.json"))
    assert done.returncode == 0, done.stderr
    assert "a decision of the balancer for 8 devices" in done.stdout and "4 x 3, points" in done.stdout, done.stdout
    record = json.loads((out / "r.json").read_text(encoding="utf-8"))
    rows = record["rows"]
    assert record["problems"] == 2 and record["decision_8_devices_s"] > 0 and len(rows) >= 8, record
    for row in rows:
        assert row["objective"] == "energy" and 0 < row["median_s"] <= row["most_s"] and 0 < row["feasible"] <= 1, row
        assert 0 <= row["optimal"] <= 1 and row["nodes_median"] <= row["nodes_most"], row
    assert {(row["units"], row["goal_s"]) for row in rows if row["problems"] == "8 x 10"} == {(10000, 0.005), (1000000, 0.005)}
    with open(out / "o/plan.csv", encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [(row["problems"], int(row["units"])) for row in table] == [(row["problems"], row["units"]) for row in rows]
    again = run(*small, "--json", str(out / "s.json"), "--quiet")
    assert again.returncode == 0 and again.stdout == "", again.stdout
    second = json.loads((out / "s.json").read_text(encoding="utf-8"))["rows"]
    for one, other in zip(rows, second):
        assert all(one[key] == other[key] for key in ("optimal", "gap", "feasible", "nodes_median", "nodes_most")), (one, other)

    for wrong, word in ((["--objective", "speed"], "time, energy, edp or ed2p"), (["--problems", "0"], "problems"), (["surplus"], "surplus"),
                        (["--out", "/dev/null/x"], "/dev/null")):
        refused = run(*wrong)
        assert refused.returncode == 2 and word in refused.stderr, (wrong, refused.returncode, refused.stderr)
