"""yoke fem under mpirun."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import command
from command import EXAMPLES, SMALL, close_to, contents, environment, read_vtu, record, run, solve, words

MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
# Waiting ranks let others run: there are more of them than cores.
VARIABLES = environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")


def need_mpi():
    # Started so, Open MPI leaves memory in more libraries than leaks-of-others.txt names.
    if shutil.which("mpirun") is None or command.SANITIZED:
        raise SystemExit(77)


def on_ranks(count, line, code=0):
    return run([*MPIRUN, "-n", str(count), *line], code, env=VARIABLES)


def messages(done):
    """What the ranks told, without what mpirun adds."""
    return [line for line in done.stderr.splitlines() if line.startswith("yoke fem: ")]


def test_an_error_is_told_once():
    need_mpi()
    for wrong, says in (
        ({"refine__stops": 2}, "unknown key 'stops'"),  # in the case
        ({"mesh": "/no/mesh.msh"}, "/no/mesh.msh"),  # in the mesh, which one rank reads
        ({"materials": "[{volume: nothing, youngs_modulus: 1, poisson_ratio: 0.3}]"}, "'nothing'"),  # in both together
    ):
        told = messages(on_ranks(3, words(SMALL, out="wrong", **wrong), 2))
        assert len(told) == 1 and told[0].startswith("yoke fem: error: ") and says in told[0], told
    assert not os.path.exists("wrong")


def test_a_warning_is_told_once():
    need_mpi()
    told = messages(on_ranks(2, words(SMALL, "--check", refine__steps=0, refine__tolerance=0.1), None))
    assert sum("refine.tolerance has no effect" in line for line in told) == 1, told


def test_help_is_told_once():
    need_mpi()
    assert on_ranks(2, [command.PROGRAM, "fem", "--help"]).stdout == run([command.PROGRAM, "fem", "--help"]).stdout


def test_all_ranks_solve_the_same_case():
    need_mpi()
    for other in (words(command.EXAMPLES / "lame.yaml", out="one"), words(SMALL, out="one", refine__steps=3), words(SMALL, "--profile", out="one"),
                  words(SMALL, "--check", out="one")):
        done = run([*MPIRUN, "-n", "1", *words(SMALL, out="one"), ":", "-n", "1", *other], 2, env=VARIABLES)
        assert "rank 1: this rank's command line names another case" in done.stderr, done.stderr


def test_the_first_rank_writes_the_record():
    need_mpi()
    line = words(SMALL, out="one", refine__steps=0)
    for one, other in (([], ["--json", "two.json"]), (["--json", "one.json"], ["--json", "two.json"])):
        done = run([*MPIRUN, "-n", "1", *line, *one, ":", "-n", "1", *line, *other], 2, env=VARIABLES)
        assert "rank 1: --json two.json: rank 0 writes the run record" in done.stderr, done.stderr
        assert not pathlib.Path("one").exists() and not pathlib.Path("one.json").exists() and not pathlib.Path("two.json").exists()
    run([*MPIRUN, "-n", "1", *line, "--json", "one.json", ":", "-n", "1", *line], env=VARIABLES)
    assert pathlib.Path("one.json").read_bytes() == pathlib.Path("one/run.json").read_bytes()


def test_all_ranks_go_on_with_the_same_run():
    need_mpi()
    line = words(SMALL, out="one", refine__steps=0, checkpoint__every=1)
    run(line)
    before = contents("one", True)
    for one, other in ((line, ["--restart", "one"]), ([*line, "--restart", "one"], []), ([*line, "--restart", "one"], ["--restart", "./one"])):
        done = run([*MPIRUN, "-n", "1", *one, ":", "-n", "1", *line, *other], 2, env=VARIABLES)
        assert "rank 1: this rank's command line has another --restart than that of rank 0" in done.stderr, done.stderr
    assert contents("one", True) == before


def test_all_ranks_read_the_same_case():
    """Files of one name, as on machines with file systems of their own."""
    need_mpi()
    heat, case = EXAMPLES / "hot-pipe-heat.yaml", EXAMPLES / "hot-pipe.yaml"
    for folder in "ab":
        shutil.copytree(EXAMPLES, folder)
    for changed, old, new in ((heat, "value: 100", "value: 50"), (heat, "steps: 2", "steps: 3"), (case, "steps: 2", "steps: 3")):
        text = changed.read_text(encoding="utf-8")
        pathlib.Path("b", changed.name).write_text(text.replace(old, new), encoding="utf-8")
        line = words(case.name, out=os.path.abspath("out"))
        done = run([*MPIRUN, "-n", "1", "-wdir", os.path.abspath("a"), *line, ":", "-n", "1", "-wdir", os.path.abspath("b"), *line], 2, env=VARIABLES)
        assert f"rank 1: {changed.name}: this rank reads another case under this name than rank 0 does" in done.stderr, done.stderr
        assert not os.path.exists("out") and not os.path.exists("a/out")
        pathlib.Path("b", changed.name).write_text(text, encoding="utf-8")


# ---------------------------------------------------------------------------------------------------- the whole run


def solve_on(count, case, *options, out=None, **keys):
    """The record of a run on so many ranks, each with one thread."""
    out = out or f"on-{count}"
    line = words(case, *options, out=out, **keys)
    line[line.index("--threads") + 1] = "1"
    on_ranks(count, [*line, "--quiet"])
    return check_pieces(out, count)


def check_pieces(out, count):
    """All files of a run on several ranks are there, and nothing else; the pieces add up to the mesh.  Returns the record."""
    written = record(out)
    assert written["ranks"] == count
    names = ["run.json", "series.pvd", *(["summary.txt"] if written["stopped_by"] else []), *(["probes.csv"] if written["probes"] else [])]
    series = xml.etree.ElementTree.parse(pathlib.Path(out, "series.pvd")).getroot()
    listed = [entry.attrib["file"] for entry in series.findall("Collection/DataSet")]
    for row, step in zip(written["steps"], listed, strict=True):
        pieces = [f"step-{row['step']:02d}-{rank}.vtu" for rank in range(count)]
        if count == 1:
            names.append(step)
            continue
        assert step == f"step-{row['step']:02d}.pvtu"
        root = xml.etree.ElementTree.parse(pathlib.Path(out, step)).getroot()
        assert root.attrib["type"] == "PUnstructuredGrid"
        assert [piece.attrib["Source"] for piece in root.findall("PUnstructuredGrid/Piece")] == pieces
        check_arrays(root, [xml_of_piece(pathlib.Path(out, piece)) for piece in pieces])
        found = [read_vtu(pathlib.Path(out, piece)) for piece in pieces if has_cells(pathlib.Path(out, piece))]
        assert sum(cells for _, cells, _ in found) == row["elements"]
        if row["max_von_mises_pa"] is not None:
            close_to(max(max(arrays["von_mises"][1]) for _, cells, arrays in found), row["max_von_mises_pa"], 1e-12, "largest von Mises")
        parts = sorted({part for _, _, arrays in found for part in arrays["part"][1]})
        assert parts == list(range(len(row["parts"]))), parts
        names += [step, *pieces]
    assert sorted(contents(out)) == sorted(names)
    for row in written["steps"]:
        assert sum(part["elements"] for part in row["parts"]) == row["elements"]
        ranks = [part["rank"] for part in row["parts"]]
        assert ranks == sorted(ranks) and ranks[-1] < count
    return written


def xml_of_piece(path):
    data = path.read_bytes()
    return xml.etree.ElementTree.fromstring(data[: data.index(b"<AppendedData")] + b"</VTKFile>")


def has_cells(path):
    return int(xml_of_piece(path).find("UnstructuredGrid/Piece").attrib["NumberOfCells"]) > 0


def check_arrays(whole, pieces):
    """Each piece has the arrays that the whole names, in its order."""
    for section in ("Points", "PointData", "CellData"):
        expected = [{key: value for key, value in array.attrib.items()} for array in whole.findall(f"PUnstructuredGrid/P{section}/PDataArray")]
        assert expected
        for piece in pieces:
            arrays = piece.findall(f"UnstructuredGrid/Piece/{section}/DataArray")
            assert [{key: value for key, value in array.attrib.items() if key not in ("format", "offset")} for array in arrays] == expected


def assert_same_run(one, other):
    """The same meshes, iterations within one, the same energy, extremes, forces and probes."""
    assert one["stopped_by"] == other["stopped_by"]
    for a, b in zip(one["steps"], other["steps"], strict=True):
        for key in ("elements", "dofs", "hanging_nodes", "preconditioner"):
            assert a[key] == b[key], (key, a[key], b[key])
        assert abs(a["iterations"] - b["iterations"]) <= 1
        close_to(a["strain_energy_j"], b["strain_energy_j"], 1e-8, "strain energy")
        close_to(a["error_estimate"], b["error_estimate"], 1e-5, "estimate")
        close_to(a["max_displacement_m"], b["max_displacement_m"], 1e-5, "largest value")
    if one["steps"][0]["max_von_mises_pa"] is not None:
        scale = max(abs(force) for reaction in one["reactions"] for force in reaction["force_n"])
        for a, b in zip(one["reactions"], other["reactions"], strict=True):
            assert a["face"] == b["face"]
            assert all(abs(x - y) < 1e-5 * scale for x, y in zip(a["force_n"], b["force_n"])), (a, b)
    for a, b in zip(one["probes"], other["probes"], strict=True):
        for key in ("displacement", "stress") if "stress" in a else ("gradient",):
            command.vectors_close(a[key], b[key], 1e-4, key)
    assert len(one["warnings"]) == len(other["warnings"])


def test_any_number_of_ranks_gives_the_same_results():
    need_mpi()
    for case, counts, keys in ((SMALL, (2, 3, 4), {"refine__steps": 3}), (EXAMPLES / "fichera.yaml", (4,), {"refine__steps": 4}),
                               (EXAMPLES / "drill-hole.yaml", (3,), {"refine__steps": 3, "element": "s2"})):
        alone = solve(case, out="alone", **keys)
        for count in counts:
            assert_same_run(alone, solve_on(count, case, **keys))


def test_two_devices_in_each_rank_give_the_same_results():
    need_mpi()
    alone = solve(SMALL, out="alone", refine__steps=2)
    pair = ["--machine", str(EXAMPLES / "machines/lang-ruenger-2014.json"), "--devices", "sim:cpu,sim:gpu"]
    for count, devices in ((2, ["--devices", "openmp,openmp:0-0"]), (3, pair)):
        found = solve_on(count, SMALL, *devices, refine__steps=2)
        assert_same_run(alone, found)
        first = found["steps"][0]["parts"]  # later shares follow from measurements
        assert [part["rank"] for part in first] == [rank for rank in range(count) for _ in range(2)], first
        assert {part["threads"] for part in first} <= {0, 1}, first


def test_messages_are_counted():
    need_mpi()
    keys = {"refine__steps": 0, "refine__initial": 1, "solver__preconditioner": "jacobi"}
    assert set(solve(SMALL, out="alone", **keys)["steps"][0]["messages"].values()) == {0}
    row = solve_on(2, SMALL, **keys)["steps"][0]
    sent = row["messages"]  # by each rank: the values of a product and of the preconditioner; further products before the first iteration and after the last
    assert row["iterations"] > 20
    close_to(sent["most_per_iteration"], 2, 0.2, "messages of a rank")
    close_to(sent["per_iteration"], 4, 0.2, "messages of both")
    close_to(sent["bytes_per_iteration"], 2 * sent["most_bytes_per_iteration"], 1e-9, "bytes")  # both have the nodes that they share
    assert sent["bytes_per_iteration"] > 3 * 8 * sent["per_iteration"]


def test_ranks_need_a_fifth_more_memory_at_most():
    need_mpi()
    def bytes_of(written):
        return written["steps"][0]["memory_bytes"] / written["steps"][0]["dofs"]
    keys = {"refine__steps": 0, "refine__initial": 1}
    alone = bytes_of(solve(EXAMPLES / "drill-hole.yaml", out="alone", **keys))
    for count in (2, 4):
        found = bytes_of(solve_on(count, EXAMPLES / "drill-hole.yaml", **keys))
        print(f"{found:.1f} bytes per unknown on {count} ranks, {alone:.1f} on one")
        assert found <= 1.2 * alone


def test_all_preconditioners_and_operators_work_on_ranks():
    need_mpi()
    for keys in ({"solver__preconditioner": "jacobi"}, {"solver__preconditioner": "direct"}, {"solver__operator": "stored", "element": "q1"}):
        keys = {"refine__steps": 2, "solver__energy_error": 1e-9, **keys}
        assert_same_run(solve(SMALL, out="alone", **keys), solve_on(3, SMALL, **keys))


def test_a_heat_case_before():
    need_mpi()
    assert_same_run(solve(EXAMPLES / "hot-pipe.yaml", out="alone", refine__steps=1), solve_on(3, EXAMPLES / "hot-pipe.yaml", refine__steps=1))


def test_more_ranks_than_elements():
    need_mpi()
    alone = solve(EXAMPLES / "fichera.yaml", out="alone", refine__initial=0, refine__steps=1)
    assert alone["steps"][0]["elements"] < 9
    assert_same_run(alone, solve_on(9, EXAMPLES / "fichera.yaml", refine__initial=0, refine__steps=1))


def test_a_second_run_replaces_pieces_of_the_first():
    need_mpi()
    solve_on(3, SMALL, out="out", refine__steps=2)
    solve_on(2, SMALL, out="out", refine__steps=1)
    solve(SMALL, refine__steps=1)
    command.check_results("out", 2)


def machine(path, *curves):
    """A simulated machine with a device for each curve: seconds for an element, or pairs of elements and seconds for one of so many."""
    devices = [{"name": f"cpu{i}", "class": "cpu", "memory_bytes": 1 << 36, "compute_units": 8, "seconds_per_unit": curve if isinstance(curve, list) else [[0, curve], [1000000, curve]], "start_s": 0, "power": {"idle_w": 10, "busy_w": 100}} for i, curve in enumerate(curves)]
    pathlib.Path(path).write_text(json.dumps({"name": path, "devices": devices}), encoding="utf-8")


def solve_on_nodes(nodes, out="out", **keys):
    """The record of a run on a simulated machine for each rank, of so many devices."""
    lines = []
    for i, curves in enumerate(nodes):
        machine(f"node-{i}.json", *curves)
        devices = ",".join(f"sim:cpu{k}" for k in range(len(curves)))
        lines += [":", "-n", "1", *words(SMALL, "--quiet", "--devices", devices, "--machine", f"node-{i}.json", out=out, **keys)]
    run([*MPIRUN, *lines[1:]], env=VARIABLES)
    return check_pieces(out, len(nodes))


def partition_of(row):
    """What the record says of the parts of a step's ranks; it agrees with the parts of devices."""
    ranks = row["partition"]["ranks"]
    for number, rank in enumerate(ranks):
        parts = [part for part in row["parts"] if part["rank"] == number]
        assert rank["elements"] == sum(part["elements"] for part in parts)
        assert abs(rank["share"] * row["elements"] - rank["elements"]) < 1e-6
        assert rank["seconds_per_product"] == (max(part["seconds_per_product"] for part in parts) if parts else None)
    return row["partition"]["choice"], [rank["elements"] for rank in ranks]


def test_elements_follow_the_speeds_of_nodes():
    need_mpi()
    keys = {"refine__steps": 4, "refine__initial": 1}
    for slow in (1.2e-6, 4e-6):
        written = solve_on_nodes([[1e-6], [slow]], **keys)
        (choice, first), *_, third, last = [partition_of(row) for row in written["steps"]]
        assert choice == "equal" and abs(first[0] - first[1]) <= 1, first
        for choice, elements in (third, last):  # within 5 % of the least time there is
            assert choice == "speeds", choice
            assert max(elements[0] * 1e-6, elements[1] * slow) <= 1.05 * sum(elements) / (1e6 + 1 / slow), (slow, elements)
        seconds = [max(part["seconds_per_product"] for part in row["parts"]) for row in written["steps"]]
        equal = [(row["elements"] + 1) // 2 * slow for row in written["steps"]]
        assert all(a <= 1.000001 * b for a, b in zip(seconds, equal)), (seconds, equal)  # never slower than equal parts
        for row in written["steps"][1:]:
            assert row["partition"]["moved_elements"] >= 0 and row["partition"]["gain_s"] is not None and row["partition"]["cost_s"] is None
    assert_same_run(solve(SMALL, out="alone", **keys), written)


def test_ranks_with_several_devices_count_as_one_node():
    need_mpi()
    # Beyond 200 elements the first node takes three times as long for each.
    cliff = [[0, 1e-6], [200, 1e-6], [260, 3e-6], [1000000, 3e-6]]
    written = solve_on_nodes([[cliff], [2e-6, 2e-6]], refine__steps=4, refine__initial=1)
    last = [rank["seconds_per_product"] for rank in written["steps"][-1]["partition"]["ranks"]]
    assert max(last) <= 1.05 * min(last), written["steps"][-1]["partition"]


def test_runs_on_ranks_repeat_bit_by_bit():
    need_mpi()
    results = []
    for out in ("one", "two"):
        written = solve_on_nodes(3 * [[1e-6]], out=out, refine__steps=3)
        assert [partition_of(row)[0] for row in written["steps"]] == 4 * ["equal"]
        results.append({name: data for name, data in contents(out).items() if name != "run.json"})
    assert len(results[0]) == 3 + 4 * 4  # three texts, and four steps of a file and three pieces each
    assert results[0] == results[1]


def test_check_tells_what_one_rank_tells():
    need_mpi()
    line = [command.PROGRAM, "fem", str(SMALL), "--check", "--set", "refine.initial=1"]
    alone, shared = run(line).stdout.splitlines(), on_ranks(3, line).stdout.splitlines()
    assert len(alone) == len(shared) > 5
    for a, b in zip(alone, shared):
        numbers = r"[-+]?\d+\.?\d*(?:e[-+]\d+)?"
        assert re.sub(numbers, "#", a) == re.sub(numbers, "#", b), (a, b)
        for x, y in zip(re.findall(numbers, a), re.findall(numbers, b)):
            assert abs(float(x) - float(y)) <= 1e-5 * max(abs(float(x)), 1e-9) or "total load" in a or "machine" in a, (a, b)


# ------------------------------------------------------------------------------------------------------ interruption


def start_long_run(out):
    line = words(EXAMPLES / "drill-hole.yaml", out=out, refine__steps=1000, refine__fraction=0.3)
    process = subprocess.Popen([*MPIRUN, "-n", "3", *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=VARIABLES, start_new_session=True)
    for row in process.stdout:
        if row.split()[0] == "2":
            break
    return process, [int(word) for word in subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True).stdout.split()]


def end_of(process):
    try:
        return process.communicate(timeout=command.PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError("the run hangs") from None


def test_a_signal_to_one_rank_ends_all_with_the_last_step():
    need_mpi()
    for rank, number in ((1, signal.SIGTERM), (0, signal.SIGINT)):
        process, ranks = start_long_run(f"out-{rank}")
        os.kill(ranks[rank], number)
        _, error = end_of(process)
        assert process.returncode == 128 + number, error
        assert sum(line.startswith("yoke fem: interrupted") for line in error.splitlines()) == 1, error
        assert check_pieces(f"out-{rank}", 3)["stopped_by"] == "interrupted"


def test_a_rank_that_is_killed_ends_all():
    need_mpi()
    process, ranks = start_long_run("out")
    os.kill(ranks[1], signal.SIGKILL)
    end_of(process)
    assert process.returncode != 0
    for step in pathlib.Path("out").glob("step-*.pvtu"):  # each has all of its pieces, whole
        for rank in range(3):
            assert read_vtu(step.with_name(f"{step.stem}-{rank}.vtu"))[1] > 0
