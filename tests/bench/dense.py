"""yoke-bench-dense-versions and yoke-bench-contention on simulated machines: what theory says of them."""
import json
import pathlib
import subprocess
import sys
import tempfile

versions, contention = sys.argv[1:3]


def run(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


def check_versions(out):
    sizes = (96, 480, 640)
    done = run(versions, "--sizes", ",".join(map(str, sizes)), "--repeats", 1, "--out", out / "v", "--json", out / "v.json")
    rows = json.loads((out / "v.json").read_text(encoding="utf-8"))["rows"]
    found = {(row["n"], row["version"], row["copy_engines"]): row for row in rows}
    assert len(found) == len(rows) == 4 * len(sizes)
    for n in sizes:
        one, two, three, both = (found[n, *curve] for curve in ((1, 1), (2, 1), (3, 1), (3, 2)))
        speeds = [row["gflops"] for row in (one, two, three, both)]
        assert speeds == sorted(speeds) and speeds[-1] <= 900 / 16, (n, speeds)  # each is at least as fast, and none faster than the card
        assert two["out_of_core"] == (3 * 8 * n * n > 2e9 / 256 * 15 / 16), two  # the memory, less what drivers need
        # what must pass over the bus one after the other, and the products: of version 1 C there and back for each panel of 40 rows
        panels, side = -(-n // 40), 8 * n * n / 6e9
        products = 2 * n**3 / (900e9 / 16)
        assert one["seconds"] >= products + (1 + 1 + 2 * panels - 1) * side, one
        assert two["seconds"] >= products + 2 * side, two
        if two["out_of_core"]:
            assert three["seconds"] < two["seconds"] - 0.5 * side, (two, three)  # overlapped
    assert "out" in done.stdout and len((out / "v/dense-versions.dat").read_text(encoding="utf-8").split("\n\n\n")) == 4
    assert "dense-versions.svg" in (out / "v/dense-versions.gp").read_text(encoding="utf-8")
    for wrong in (("--sizes", "0"), ("--sizes", "5,x"), ("--sizes", ""), ("--memory", "-1"), ("--depth", "0")):
        run(versions, *wrong, "--out", out / "w", code=2)
    done = run(versions, "--device", "abacus", "--out", out / "w", code=2)
    assert "abacus" in done.stderr, done.stderr


def check_contention(out):
    """Each device takes 1 + c times as long while the other one works, and both work all the time."""
    machine = {"name": "m", "devices": [
        {"name": "cpu", "class": "cpu", "seconds_per_unit": 1e-3, "contention": 0.25},
        {"name": "rest", "class": "cpu", "seconds_per_unit": 1.25e-3, "contention": 0.1},
        {"name": "gpu", "class": "gpu", "seconds_per_unit": 5e-4, "contention": 0.05}]}
    (out / "m.json").write_text(json.dumps(machine), encoding="utf-8")
    done = run(contention, "--machine", out / "m.json", "--device", "sim:gpu", "--cores", "sim:cpu", "--rest", "sim:rest", "--sizes", "400", "--repeats", 3,
               "--out", out / "c", "--json", out / "c.json")
    rows = {row["group"]: row for row in json.loads((out / "c.json").read_text(encoding="utf-8"))["rows"]}
    flops = 2 * 400 * 400 * 1e-9
    for group, host_s, gpu_s in (("all cores", 1e-3, None), ("rest", 1.25e-3, None), ("gpu", None, 5e-4),
                                 ("all + gpu", 1.25e-3, 5.25e-4), ("rest + gpu", 1.375e-3, 5.25e-4)):
        for name, seconds in (("cores", host_s), ("gpu", gpu_s)):
            speed = rows[group][name]
            assert (speed is None) == (seconds is None), rows[group]
            # the longer one works some time alone, as they do not lose alike
            assert speed is None or abs(speed["gflops"] / (flops / seconds) - 1) < (0.15 if "+" in group else 1e-6), (rows[group], flops / seconds)
    assert abs(rows["all + gpu"]["gpu_lost"] - 0.05 / 1.05) < 0.002 and rows["rest + gpu"]["cores_lost"] > 0.05, rows
    assert all(row["reliable"] and row["repeats"] == 3 for row in rows.values())
    assert "all + gpu" in done.stdout and (out / "c/contention.dat").exists()
    assert "--device opencl:0.0" in run(contention, "--out", out / "w", code=2).stderr


with tempfile.TemporaryDirectory() as directory:
    check_versions(pathlib.Path(directory))
    check_contention(pathlib.Path(directory))
