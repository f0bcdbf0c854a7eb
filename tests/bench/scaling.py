"""yoke-bench-scaling: what it prints, what it writes, and what it refuses."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def record_of(ranks, **changes):
    """A run record with what is read of it."""
    step = {"elements": 7680, "iterations": 7, "preconditioner": "multigrid", "max_von_mises_pa": 1.0, "seconds": {"solve": 0.14 / ranks},
            "parts": [{"seconds_per_element": 2e-7}] * ranks,
            "messages": {"per_iteration": 26.3, "bytes_per_iteration": 804600, "most_per_iteration": 13.1, "most_bytes_per_iteration": 408024}}
    return {"ranks": ranks, "steps": [{**step, **changes}]}


def check(out):
    done = run("--ranks", 100, "--network", "ethernet", "--latency", 15, "--out", out / "s", "--json", out / "s.json")
    assert done.returncode == 0, done.stderr
    assert "ethernet" in done.stdout and "weak scaling" in done.stdout and "strong scaling" in done.stdout, done.stdout
    record = json.loads((out / "s.json").read_text(encoding="utf-8"))
    assert abs(record["setting"]["latency_s"] / 15e-6 - 1) < 1e-12 and record["setting"]["gathered"] == 20000
    assert [(row["scaling"], row["ranks"]) for row in record["rows"]] == [("weak", 10), ("weak", 80), ("strong", 10), ("strong", 100)]
    for row in record["rows"]:
        terms = row["formula"]
        assert abs(sum(terms[key] for key in ("work_s", "cuts_s", "halo_s", "sums_s", "gather_s", "rank_0_s")) / terms["total_s"] - 1) < 1e-9
        assert abs(row["simulated"]["iteration_s"] / terms["total_s"] - 1) < 0.3 and 0 < row["efficiency"] < 1
    with open(out / "s/scaling.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["formula_s"]) for row in rows] == [float(f"{row['formula']['total_s']:.9g}") for row in record["rows"]]
    script = (out / "s/scaling.gp").read_text(encoding="utf-8")
    assert script.count("<< END") == script.count("\nEND\n") == 2
    paths = []
    for ranks in (1, 2):
        paths += ["--record", out / f"r{ranks}.json"]
        paths[-1].write_text(json.dumps(record_of(ranks)), encoding="utf-8")
    done = run("--ranks", 10, "--simulated", 0, *paths, "--out", out / "r", "--json", out / "r.json")
    assert done.returncode == 0, done.stderr
    one, two = json.loads((out / "r.json").read_text(encoding="utf-8"))["records"]
    assert abs(one["formula"]["total_s"] / one["iteration_s"] - 1) < 1e-9  # it says what work takes
    assert two["ranks"] == 2 and two["messages"] == 26.3 and abs(two["formula"]["messages"] - 26) < 1e-9
    bad = {"direct": record_of(2, preconditioner="direct"), "nothing": {"ranks": 2, "steps": []}, "huge": record_of(2, elements=1e300),
           "none": record_of(2, iterations=0), "null": record_of(2, messages=None), "list": []}
    for name, text in bad.items():
        path = out / f"{name}.json"
        path.write_text(json.dumps(text), encoding="utf-8")
        done = run("--ranks", 10, "--simulated", 0, "--record", path, "--out", out / "b")
        assert done.returncode == 2 and f"{name}.json: expected run.json" in done.stderr, (name, done.returncode, done.stderr)
    (out / "cut.json").write_text('{"ranks": 2', encoding="utf-8")
    done = run("--ranks", 10, "--simulated", 0, "--quiet", "--out", out / "q")
    assert done.returncode == 0 and done.stdout == "", done
    for wrong, word in ((["--network", "string"], "network"), (["--latency", "nan"], "latency"), (["--bandwidth", "0"], "bandwidth"), (["--ranks", "9"], "ranks"),
                        (["--record", out / "cut.json", "--simulated", 0], "cut.json"), (["--record", out / "absent.json", "--simulated", 0], "absent.json"),
                        (["surplus"], "surplus"), (["--measure"], "mpirun"), (["--simulated", 0, "--out", "/dev/null/x"], "/dev/null")):
        done = run(*wrong)
        assert done.returncode == 2 and word in done.stderr, (wrong, done.returncode, done.stderr)


with tempfile.TemporaryDirectory() as directory:
    check(pathlib.Path(directory))
