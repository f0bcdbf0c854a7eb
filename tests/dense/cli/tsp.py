"""yoke dense tsp: tours, records, and shares."""
import json
import math
import os
import pathlib
import subprocess

PROGRAM = os.environ["YOKE_PROGRAM"]
BERLIN = pathlib.Path(os.environ["YOKE_SOURCE_DIR"], "tests/dense/instances/berlin52.tsp")


def run(*words, code=0):
    if "--machine" not in words:
        words += ("--devices", "openmp")
    done = subprocess.run([PROGRAM, "dense", "tsp", *map(str, words), "--store", "none"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=500, check=False)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {words}\n{done.stdout}\n{done.stderr}"
    return done


def length(tour):
    """By the definition of EUC_2D, from the file."""
    lines = BERLIN.read_text(encoding="utf-8").splitlines()
    places = {int(line.split()[0]): tuple(map(float, line.split()[1:])) for line in lines if line[:1].isdigit()}
    assert sorted(tour) == sorted(places)
    return sum(math.floor(math.dist(places[a], places[b]) + 0.5) for a, b in zip(tour, tour[1:] + tour[:1]))


def test_the_tour_has_the_length_that_is_printed():
    done = run(BERLIN, "--restarts", 50, "--output", "best.tour", "--json", "run.json", "--check")
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    lines = pathlib.Path("best.tour").read_text(encoding="utf-8").splitlines()
    at = lines.index("TOUR_SECTION")
    assert "TYPE : TOUR" in lines[:at] and "DIMENSION : 52" in lines[:at] and lines[-2:] == ["-1", "EOF"]
    tour = list(map(int, lines[at + 1:-2]))
    assert tour == got["tour"] and length(tour) == got["length"] and f"length {got['length']}," in done.stdout
    assert 7542 <= got["length"] < 8200 and got["length"] < got["mean_length"] and got["found_by"] >= 1
    assert (got["operation"], got["name"], got["n"], got["restarts"], got["seed"]) == ("tsp", "berlin52", 52, 50, 1)
    assert got["check"]["passed"] is True and got["exchanges_per_s"] > 0


def test_seeds_differ_and_repeat():
    found = []
    for seed in (3, 3, 4):
        run("-n", 40, "--restarts", 5, "--seed", seed, "--json", "run.json")
        got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
        found.append((got["length"], got["tour"], got["mean_length"]))
    assert found[0] == found[1] != found[2]


def test_a_card_shares_the_restarts():
    pathlib.Path("m.json").write_text(json.dumps({"name": "m", "devices": [
        {"name": "cpu", "class": "cpu", "seconds_per_unit": 2e-3},
        {"name": "gpu", "class": "gpu", "seconds_per_unit": 1e-3, "copy": {"latency_s": 1e-5, "bytes_per_s": 1e6}}]}), encoding="utf-8")
    run("-n", 12, "--restarts", 3000, "--machine", "m.json", "--json", "run.json")
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    run("-n", 12, "--restarts", 3000, "--json", "here.json")
    here = json.loads(pathlib.Path("here.json").read_text(encoding="utf-8"))
    assert got["tour"] == here["tour"] and got["mean_length"] == here["mean_length"]
    last = got["rounds"][-1]
    assert last["imbalance"] < 0.05 and 0.6 < got["parts"][1]["share"] < 0.7, got["parts"]
    assert got["measured"]["time_s"] < 1.05 * 3000 / (1 / 2e-3 + 1 / 1e-3)


def test_a_bad_file_names_its_line():
    pathlib.Path("bad.tsp").write_text("TYPE : TSP\nDIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 here 0\n", encoding="utf-8")
    done = run("bad.tsp", code=2)
    assert 'bad.tsp:6: "2 here 0"; expected the number of a city and its two coordinates' in done.stderr, done.stderr
