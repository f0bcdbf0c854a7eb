"""bench/clarke-node: Table 1.2 of Clarke's chapter by runs of yoke dense on a simulated node."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAM = os.environ["YOKE_PROGRAM"]
BENCH = pathlib.Path(os.environ["YOKE_SOURCE_DIR"], "bench/clarke-node")


def bench(*words, code=0):
    done = subprocess.run([sys.executable, str(BENCH), "--yoke", PROGRAM, "--out", "out", "--no-cores", *words], check=False, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=500)
    assert done.returncode == code, done
    return done


def test_functional_models_share_the_node_of_table_1_2():
    done = bench("--sizes", "40,60", "--scale", "40")
    assert "(" in done.stdout and "constant" in done.stdout
    nodes = json.loads(pathlib.Path("out/clarke-node.json").read_text(encoding="utf-8"))["nodes"]
    assert [row["blocks"] for row in nodes] == [40, 60]
    for row in nodes:
        published = row["published_s"]
        assert row["check"] is True
        # what the machine file is made of
        assert abs(row["gtx680_s"] / published["gtx680"] - 1) < 1e-3, row
        # what follows from it: 26.6 and 114.4 s are printed
        assert abs(row["functional_s"] / published["hybrid"] - 1) < 0.1, row
        assert row["imbalance"] <= 0.05 and row["rounds"] == 1 and row["runs"] <= 5, row
        assert row["functional_s"] < row["constant_s"] < row["even_s"], row
        assert sum(row["units"]) == 16 * row["blocks"]
    # beyond the memory of the cards constant shares lose much
    assert nodes[1]["constant_s"] > 1.3 * nodes[1]["functional_s"]
    assert len(pathlib.Path("out/clarke-node.csv").read_text(encoding="utf-8").splitlines()) == 3


def test_sizes_that_the_table_does_not_have_are_refused():
    done = bench("--sizes", "45", code=1)
    assert "--sizes 45: of 40, 50, 60, 70" in done.stderr
