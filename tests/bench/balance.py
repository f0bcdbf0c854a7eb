"""yoke-bench-balance: what it prints, what it writes, and what it refuses."""
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
    small = ["--pairs", "40", "--noise", "0", "--family", "knees", "--out", str(out / "o")]
    done = run(*small, "--json", str(out / "r.json"))
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("knees")]
    assert len(rows) == 6 and all(sum(method in row for row in rows) == 2 for method in ("adaptive", "paper", "average")), done.stdout
    record = json.loads((out / "r.json").read_text(encoding="utf-8"))
    assert record["pairs"] == 40 and len(record["rows"]) == 6 and record["decision_8_devices_s"] > 0
    for row in record["rows"]:
        quantiles = row["excess_quantiles"]
        assert len(quantiles) == 101 and quantiles == sorted(quantiles) and quantiles[0] >= -1e-9, row
    adaptive = [row for row in record["rows"] if row["policy"] == "adaptive" and row["disturbance"] == "none"]
    assert adaptive[0]["reached"]["balanced"] == 1.0
    data = (out / "o/balance.dat").read_text(encoding="utf-8")
    assert data.count("# part of the pairs") == 6
    again = run(*small, "--json", str(out / "s.json"))
    second = json.loads((out / "s.json").read_text(encoding="utf-8"))
    assert again.returncode == 0 and second["rows"] == record["rows"], "the same seed must give the same figures on any number of threads"
    other = run(*small, "--seed", "2", "--json", str(out / "t.json"))
    assert other.returncode == 0 and json.loads((out / "t.json").read_text(encoding="utf-8"))["rows"] != record["rows"]

    for wrong, word in ((["--family", "hills"], "knees or cliff"), (["--noise", "2"], "0, 1, 3, 10 or 20"), (["--policy", "fixed"], "adaptive, paper or average"),
                        (["--pairs", "0"], "pairs"), (["surplus"], "surplus"), (["--out", "/dev/null/x"], "/dev/null")):
        refused = run(*wrong)
        assert refused.returncode == 2 and word in refused.stderr, (wrong, refused.returncode, refused.stderr)
