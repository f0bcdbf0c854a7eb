"""bench/strategies-2014: its formula gives the golden numbers, and what it simulates is the formula without moved matrices."""
import json
import pathlib
import subprocess
import sys

script, yoke, out = sys.argv[1:4]
done = subprocess.run([sys.executable, script, "--yoke", yoke, "--out", out, "--steps", "1"], capture_output=True, text=True, check=False)
assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
rows = {row["strategy"]: row for row in json.loads((pathlib.Path(out) / "summary.json").read_text(encoding="utf-8"))}
assert len(rows) == 6
# n E*_cpu; eq. 4.41; and with one CPU n/2 (E*_cpu + E*_gpu) + 18 W 17 ms + 78 W 8.55 ms.
for name, joules in (("CPU only", 2.855), ("GPU only", 4.02590457), ("one CPU, r = 1/2", 1.4275 + 1.30061728 + 0.306 + 0.6669)):
    assert abs(rows[name]["formula_j"] / joules - 1) < 1e-8, (name, rows[name])
for name, row in rows.items():
    assert abs(row["simulated_j"] / row["not_moved_j"] - 1) < 0.01, (name, row)
    assert abs(row["simulated_r"] - row["r"]) < 0.01, (name, row)
least = min(rows.values(), key=lambda row: row["simulated_j"])
assert least["strategy"] == "shared, eq. 4.27", least
for word in ("5.77 c", "2.88 b", "4.026"):
    assert word in done.stdout, (word, done.stdout)
