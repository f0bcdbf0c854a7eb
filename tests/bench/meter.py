"""yoke-bench-meter: what it prints, what it writes, what it leaves behind, and what it refuses."""
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
    done = run("--regions", "100", "--seconds", "1", "--directory", directory, "--json", str(out / "r.json"))
    assert done.returncode == 0, done.stderr
    assert "begin and end of a region" in done.stdout and "sampling of 2 power meters" in done.stdout, done.stdout
    record = json.loads((out / "r.json").read_text(encoding="utf-8"))
    assert record["regions"] == 100 and 0 < record["region_median_us"] <= record["region_p99_us"], record
    assert 0 < record["sampling_cpu_share"] and 0 < record["waking_cpu_share"] and 10 < record["sampling_rate_hz"], record
    assert [path.name for path in out.iterdir()] == ["r.json"], "the files must be gone"

    for wrong, word in ((["--directory", "/dev/null/x"], "/dev/null/x"), (["--regions", "0"], "regions"), (["surplus"], "surplus")):
        refused = run(*wrong)
        assert refused.returncode == 2 and word in refused.stderr, (wrong, refused.returncode, refused.stderr)
