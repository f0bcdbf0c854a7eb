"""yoke fmm: what is computed, and the records of it."""
import json
import math
import os
import pathlib
import re

from command import FEW, check_few, record, rows, run, sums, write_few


def test_several_ranks_are_refused():
    words = ("--generate", "grid", "--particles", 8, "--direct", "--save", "kept.txt")
    run(*words, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "1"})
    kept = pathlib.Path("kept.txt").read_text(encoding="utf-8")
    done = run(*words, "--seed", 2, "--charges", "random", code=2, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"})
    assert "started with 2 MPI ranks, but yoke fmm runs on one" in done.stderr, done.stderr
    assert pathlib.Path("kept.txt").read_text(encoding="utf-8") == kept


def test_columns_of_the_output_are_those_of_plain_sums():
    run(write_few(), "--direct", "--output", "out.txt")
    check_few(rows("out.txt"))
    run("out.txt", "--direct", "--output", "out.csv")  # results are read again
    check_few(rows("out.csv", ","))


def test_forces_that_are_zero_have_no_sign():
    pathlib.Path("a.txt").write_text("0 0 0 1\n1 0 0 -1\n", encoding="utf-8")
    run("a.txt", "--direct", "--output", "b.txt")
    assert "-0" not in pathlib.Path("b.txt").read_text(encoding="utf-8").split()


def test_the_record_has_its_keys():
    got = record(write_few())
    energy = sum(FEW[i][3] * sums(i)[0] for i in range(5)) / 2
    assert math.isclose(got["total_energy"], energy, rel_tol=1e-14)
    assert got["program"] == "yoke fmm" and got["particles"] == 5 and got["method"] == "direct" and got["gradient"] is True
    assert got["order"] is None and got["depth"] is None and got["sampled_error"] is None and got["model"] == {"costs": []}
    assert got["frame"] == got["frames"] == 1 and got["input"] == "few.txt"
    assert set(got["seconds"]) == {"read", "memory", "tree", "tune", "near", "far", "check", "write", "total"}
    assert got["seconds"]["total"] >= got["seconds"]["near"] > 0 and got["seconds"]["far"] is None
    assert max(map(abs, got["total_force"])) < 1e-14
    only = record("few.txt", "--potential-only")
    assert only["gradient"] is False and only["total_force"] == [None, None, None]
    assert math.isclose(only["total_energy"], got["total_energy"], rel_tol=1e-15)


def test_the_record_of_the_fast_multipole_method():
    run("--generate", "grid", "--particles", 4096, "--charges", "random", "--depth", 3, "--order", 9, "--check", 4096, "--output", "fast.txt", "--json", "run.json")
    got = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    assert got["method"] == "fmm" and got["depth"] == 3 and got["order"] == 9 and got["sampled_particles"] == 4096
    assert got["pairs"] == 4096 * 8 * (8 + 14)**3 / 8**3 - 4096  # 8^3 cells of 8 particles, 22^3 ordered pairs of cells that touch
    assert all(got["seconds"][part] > 0 for part in ("read", "tree", "near", "far", "check", "write", "total"))
    run("--generate", "grid", "--particles", 4096, "--charges", "random", "--direct", "--output", "exact.txt")
    fast, exact = rows("fast.txt"), rows("exact.txt")

    def error(names):
        difference = sum((a[name] - b[name])**2 for a, b in zip(fast, exact) for name in names)
        return math.sqrt(difference / sum(b[name]**2 for b in exact for name in names))
    assert 1e-7 < error(["potential"]) < 1e-4
    assert math.isclose(got["sampled_error"], error(["potential"]), rel_tol=1e-6)
    assert math.isclose(got["sampled_error_of_forces"], error(["fx", "fy", "fz"]), rel_tol=1e-6)


def test_the_record_of_an_adaptive_tree():
    got = record("--generate", "xenon", "--particles", 5000, "--charges", "random", method=("--leaf", 50, "--order", 8, "--check", 5000))
    assert got["leaf_capacity"] == 50 and got["leaves"] >= 100 and got["depth"] > 6 and got["order"] == 8
    assert got["sampled_error"] < 1e-4 and got["sampled_error_of_forces"] < 1e-3
    assert 0 < got["pairs"] < 5000 * 4999 / 4 and got["far_pairs"] > 0 and got["w_pairs"] > 0
    uniform = record("--generate", "grid", "--particles", 4096, method=("--depth", 3, "--order", 3, "--check", 0))
    assert uniform["leaf_capacity"] is None and uniform["leaves"] == 512 and uniform["w_pairs"] == 0


def test_the_record_of_a_requested_error():
    for of, key in (("potentials", "sampled_error"), ("forces", "sampled_error_of_forces")):
        got = record("--generate", "shells", "--particles", 4000, "--charges", "random", "--error", 1e-5, "--error-of", of,
                     method=("--depth", 3, "--check", 4000))
        assert got["requested_error"] == 1e-5 and got["error_of"] == of and got["order_raised"] >= 0
        predicted = got["predicted_error" if of == "potentials" else "predicted_error_of_forces"]
        assert 0.1e-5 < got[key] <= 1e-5 and 0.4 < predicted / got[key] < 2.5
        assert got["order"] > 4 and got["seconds"]["tune"] > 0
    got = record("--generate", "shells", "--particles", 4000, "--charges", "equal", "--error", 1e-6, "--error-of", "energy", method=("--depth", 3, "--check", 4000))
    exact = record("--generate", "shells", "--particles", 4000, "--charges", "equal")["total_energy"]
    error = abs(got["total_energy"] / exact - 1)
    assert error <= 1e-6 and got["error_of"] == "energy" and got["requested_error"] == 1e-6
    assert math.isclose(got["sampled_error_of_energy"], error, rel_tol=1e-3) and error / 5 < got["predicted_error_of_energy"] <= 1e-6
    given = record("--generate", "shells", "--particles", 500, method=("--depth", 2, "--order", 3))
    assert given["requested_error"] is None and given["predicted_error"] is None and given["error_of"] is None


def test_json_on_standard_output_is_one_document():
    done = run("--generate", "shells", "--particles", 80, "--direct", "--json", "-")
    assert json.loads(done.stdout)["particles"] == 80 and "total energy" in done.stderr


def test_a_record_without_particles_counts_no_pairs():
    assert math.copysign(1, record("--generate", "grid", "--particles", 0)["pairs"]) == 1  # and not -0


def test_published_energies_of_xenon():
    """Energies by direct summation elsewhere; what rounding may add is in proportion to the sum of the terms' sizes, the energy of equal charges."""
    equal = 1326686674711.92
    for charges, energy in (("alternating", -47727534.9538887), ("random", 30578627.9226119)):
        got = record("--generate", "xenon", "--charges", charges, "--potential-only")
        assert got["particles"] == 113000
        assert abs(got["total_energy"] - energy) < 1e-15 * equal, (charges, got["total_energy"])


def test_published_energies_are_within_the_request():
    """Energies by direct summation elsewhere, of alternating and of equal charges; on trees that are given, with orders for the error."""
    published = {("grid", "--depth", 4): (-14607775.3169956, 64660746957.0891), ("shells", "--leaf", 96): (-44479543.3182807, 114133470056.282),
                 ("xenon", "--leaf", 96): (-47727534.9538887, 1326686674711.92)}
    for tree, energies in published.items():
        for charges, energy in zip(("alternating", "equal"), energies):
            for error in (1e-3, 1e-6):
                got = record("--generate", *tree, "--charges", charges, "--error", error, "--potential-only", "--check", 0, method=())["total_energy"]
                assert math.isclose(got, energy, rel_tol=error), (tree, charges, error, got)


def test_coincident_charges_are_named_or_skipped():
    pathlib.Path("a.txt").write_text("0 0 0 1\n1 2 3 1\n5 5 5 0\n1 2 3 -4\n5 5 5 2\n", encoding="utf-8")
    for method in (("--direct",), ("--depth", 2), ("--leaf", 2), ()):
        done = run("a.txt", *method, code=2)
        assert re.search(r"particles 2 and 4 have charges and lie at the same place \(1, 2, 3\)", done.stderr), done.stderr
    run("a.txt", "--direct", "--skip-coincident", "--output", "b.txt")
    found = rows("b.txt")
    assert math.isclose(found[1]["potential"], 1 / math.sqrt(14) + 2 / math.sqrt(29), rel_tol=1e-15)


def test_charges_that_are_nearly_at_one_place_are_not_lost_silently():
    pathlib.Path("a.txt").write_text("0 0 0 1\n1e-200 0 0 1\n1 1 1 1\n", encoding="utf-8")
    done = run("a.txt", "--direct", code=2)
    assert "particles 1 and 2 have charges and lie at the same place, but for less than 4e-87 of the largest coordinate: (0, 0, 0)" in done.stderr, done.stderr


def test_huge_and_tiny_numbers_are_answered():
    pathlib.Path("a.txt").write_text("0 0 0 1e-300\n1 0 0 1e-300\n", encoding="utf-8")
    done = run("a.txt", "--direct")
    assert "total energy 0" in done.stdout and "choose units in which charges are larger" in done.stderr, done.stderr
    pathlib.Path("a.txt").write_text("0 0 0 1e-300\n1e-300 0 0 1e-300\n", encoding="utf-8")
    assert record("a.txt", "--potential-only")["total_energy"] == 1e-300
    pathlib.Path("a.txt").write_text("0 0 0 1e300\n1e250 0 0 1e300\n", encoding="utf-8")
    got = record("a.txt", "--output", "b.txt")  # the force is 1e100; the energy is 1e350
    assert got["total_energy"] is None and math.isclose(rows("b.txt")[0]["fx"], -1e100, rel_tol=1e-14)
    pathlib.Path("a.txt").write_text("0 0 0 1e300\n1 0 0 1e300\n", encoding="utf-8")
    done = run("a.txt", "--direct", code=2)
    assert "particle 1 is larger than the largest double" in done.stderr
    done = run("a.txt", "--direct", "--potential-only")
    assert "warning: the total energy is larger than the largest double" in done.stderr


def test_the_near_field_is_in_single_precision_where_the_error_allows_it():
    words = ("--generate", "grid", "--particles", 8000, "--charges", "random", "--depth", 3)
    single = record(*words, "--error", "1e-3", "--check", 8000, method=())
    assert single["near_precision"] == "single" and single["sampled_error"] <= 1e-3, single
    assert "pairs in single precision" in run(*words, "--error", "1e-3").stdout
    for more in (("--error", "1e-6"), ("--error-of", "energy"), ("--order", 6), ("--softening", 1e-3)):
        assert record(*words, *more, method=())["near_precision"] == "double", more
    assert record(*words[:-2])["near_precision"] is None  # --direct
