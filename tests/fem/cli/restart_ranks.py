"""--restart on ranks: checkpoints of ranks, the speeds of nodes in them, and ranks that are killed."""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import command
import ranks
from command import PROGRAM, SANITIZED, SMALL, contents, record, run, words
from restart import check_equal, check_same, checkpoints, restart, set_value, state_of, with_state


def on_ranks(count, *options):
    return ranks.on_ranks(count, [PROGRAM, "fem", "--restart", "two", "--threads", "1", *options])


def test_on_another_number_of_ranks_the_result_is_the_same():
    ranks.need_mpi()
    keys = {"checkpoint__every": 1, "refine__initial": 1}
    run(words(SMALL, out="one", refine__steps=4, **keys))
    ranks.on_ranks(3, words(SMALL, out="two", refine__steps=1, **keys))
    done = on_ranks(2, "--set", "refine.steps=3")
    assert done.stdout.startswith("continuing after step 1, from two/checkpoint-1.bin\n"), done.stdout
    restart("two", "--set", "refine.steps=4")
    check_equal("two", "one")
    assert [len(step["parts"]) for step in record("two")["steps"]] == [3, 3, 2, 2, 1]


def test_a_solve_on_ranks_goes_on_where_it_was():
    ranks.need_mpi()
    keys = {"refine__steps": 0, "refine__initial": 1, "solver__preconditioner": "jacobi", "solver__relative_residual": 1e-10}
    run(words(SMALL, out="one", **keys))
    needed = record("one")["steps"][0]["iterations"]
    ranks.on_ranks(2, words(SMALL, out="two", checkpoint="{every: 0, minutes: 1e-9}", solver__max_iterations=needed * 3 // 4, **keys), None)
    on_ranks(3, "--set", "solver.max_iterations=10000")
    (item,) = record("two")["restarts"]
    assert item["iterations"] >= needed // 2 and not item["solved"], (item, needed)
    check_equal("two", "one")


def test_a_first_rank_without_elements_leaves_a_checkpoint_to_go_on_from():
    ranks.need_mpi()
    keys = {"checkpoint__every": 1, "refine__initial": 1}
    run(words(SMALL, out="one", refine__steps=4, **keys))
    steps = ranks.solve_on_nodes([[1], [1e-6]], out="two", refine__steps=3, **keys)["steps"]
    assert steps[-1]["partition"]["ranks"][0]["elements"] == 0, steps[-1]["partition"]
    restart("two", "--set", "refine.steps=4")
    check_equal("two", "one")


def restart_on_nodes(nodes, *options, code=0):
    """Goes on with the run in "two" on these simulated machines, one for each rank; several ranks may have the same one."""
    lines = []
    for node in nodes:
        lines += [":", "-n", "1", PROGRAM, "fem", "--restart", "two", "--quiet", "--devices", "sim:cpu0", "--machine", f"node-{node}.json", *options]
    return run([*ranks.MPIRUN, *lines[1:]], code, env=ranks.VARIABLES)


def check_speeds(row, *seconds):
    """A step whose elements follow these seconds of an element, to 5 % of the least time there is."""
    choice, elements = ranks.partition_of(row)
    assert choice == "speeds", (choice, elements)
    least = sum(elements) / sum(1 / second for second in seconds)
    assert max(count * second for count, second in zip(elements, seconds)) <= 1.05 * least, (elements, seconds)


def parts_of(out, step):
    return [(part["rank"], part["elements"]) for part in record(out)["steps"][step]["parts"]]


def test_a_run_that_goes_on_knows_the_speeds_of_nodes():
    ranks.need_mpi()
    keys = {"checkpoint__every": 1, "refine__initial": 1}
    run(words(SMALL, out="one", refine__steps=4, **keys))
    for slow in (1.3e-6, 4e-6):
        ranks.solve_on_nodes([[1e-6], [slow]], out="whole", refine__steps=4, **keys)
        ranks.solve_on_nodes([[1e-6], [slow]], out="two", refine__steps=2, **keys)
        for steps in (3, 4):
            restart_on_nodes((0, 1), "--set", f"refine.steps={steps}")
            check_speeds(record("two")["steps"][steps], 1e-6, slow)
            assert parts_of("two", steps) == parts_of("whole", steps), (parts_of("two", steps), parts_of("whole", steps))
        check_equal("two", "one")
        shutil.rmtree("two")


def test_other_nodes_begin_with_equal_parts_and_known_ones_with_their_speeds():
    ranks.need_mpi()
    keys = {"checkpoint__every": 1, "refine__initial": 1}
    run(words(SMALL, out="one", refine__steps=3, **keys))
    ranks.machine("node-2.json", 2e-6)  # which the run before did not know
    for nodes in ((1, 0), (0, 1, 0), (0, 2), (0, 1, 2)):
        ranks.solve_on_nodes([[1e-6], [4e-6]], out="two", refine__steps=2, **keys)
        restart_on_nodes(nodes, "--set", "refine.steps=3")
        row = record("two")["steps"][3]
        if 2 not in nodes:
            check_speeds(row, *((1e-6, 4e-6)[node] for node in nodes))
        else:
            choice, elements = ranks.partition_of(row)
            assert choice == "equal" and max(elements) - min(elements) <= 1, (choice, elements)
        check_equal("two", "one")
        shutil.rmtree("two")


def test_within_a_solve_a_run_goes_on_with_the_speeds_of_nodes():
    ranks.need_mpi()
    keys = {"refine__initial": 1, "solver__preconditioner": "jacobi", "solver__relative_residual": 1e-10}
    run(words(SMALL, out="one", refine__steps=1, **keys))
    needed = record("one")["steps"][1]["iterations"]
    ranks.solve_on_nodes([[1e-6], [4e-6]], out="two", refine__steps=0, checkpoint="{every: 1, minutes: 1e-9}", **keys)
    restart_on_nodes((0, 1), "--set", "refine.steps=1", "--set", f"solver.max_iterations={needed * 3 // 4}", code=1)
    restart_on_nodes((0, 1), "--set", "refine.steps=1", "--set", "solver.max_iterations=10000")
    item = record("two")["restarts"][-1]
    assert item["step"] == 1 and not item["solved"] and item["iterations"] > 0, item
    check_speeds(record("two")["steps"][1], 1e-6, 4e-6)
    check_equal("two", "one")


def test_speeds_that_make_no_sense_are_refused_or_ignored():
    run(words(SMALL, out="one", refine__steps=2, checkpoint__every=1))
    run(words(SMALL, out="kept", refine__steps=1, checkpoint="{every: 1, keep: 1}"))
    data = pathlib.Path("kept/checkpoint-1.bin").read_bytes()
    path = pathlib.Path("out/checkpoint-1.bin")

    def with_value(*place, value):
        shutil.rmtree("out", ignore_errors=True)
        shutil.copytree("kept", "out")
        path.write_bytes(with_state(data, lambda state: set_value(state, ("speeds", *place), value)))

    refused = ((("ranks", "move_s"), -1), (("ranks", "products"), None), (("ranks", "errors"), [1]), (("ranks", "errors"), [1, 2, 3, "x"]), (("known",), {}),
               (("known",), [1]), (("ranks",), None), (("ranks", "count"), 1e30), ((), 7), ((), None), (("ranks", "num_errors"), -1))
    for place, value in refused[:: 3 if SANITIZED else 1]:
        with_value(*place, value=value)
        found = restart("out", "--set", "refine.steps=2", code=2).stderr
        assert "out/checkpoint-1.bin: is damaged: what it says of speeds is invalid" in found, (place, value, found)
    (text,) = state_of(data)["speeds"]["known"]
    seconds = re.search(r'"seconds": ([^,]+)', text)[1]
    unlikely = [text.replace(seconds, "1e308")], [text.replace(seconds, "1e-300")]
    others = [], [text] * 3, [text.replace('"machine": "', '"machine": "another ')], [text.replace('"format": 2', '"format": 9')]
    wrong = ["{}"], ["no JSON"], [text.replace(seconds, "-1")], [text[: len(text) // 2], text]
    for known in (*unlikely, *others, *wrong)[:: 3 if SANITIZED else 1]:
        with_value("known", value=known)
        done = restart("out", "--set", "refine.steps=2")
        assert ("yoke fem: warning: what an earlier run knew" in done.stderr) == (known in wrong), (known, done.stderr)
        check_same("out", "one")
    path.write_bytes(with_state(data, lambda state: state.pop("speeds") and None))  # of a version that had none
    restart("out", "--set", "refine.steps=2")
    check_same("out", "one")


def ranks_of(process):
    """The processes that mpirun has started."""
    children = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = path.read_text(encoding="ascii", errors="replace").rsplit(")", 1)
        except OSError:
            continue
        if int(fields.split()[1]) == process.pid and "yoke-fem" in name:
            children.append(int(path.parent.name))
    return children


def run_with_a_rank_killed(line, rank, step, after_s):
    """Starts a run on two ranks, and kills one of them so long after it has shown a step (-1: its start).  The last step that it showed, or None: it had ended before."""
    process = subprocess.Popen([*ranks.MPIRUN, "-n", "2", *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ranks.VARIABLES)
    shown = -1
    while shown < step and (row := process.stdout.readline()):
        shown = int(row.split()[0]) if row.split() and row.split()[0].isdigit() else shown
    there = ranks_of(process)
    while len(there) < 2 and process.poll() is None:
        time.sleep(0.01)
        there = ranks_of(process)
    time.sleep(after_s)
    try:
        os.kill(sorted(there)[rank], signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        pass
    rest = process.stdout.read().splitlines()
    if process.wait(command.PATIENCE_S) == 0:
        return None
    return max([int(row.split()[0]) for row in rest if row.split() and row.split()[0].isdigit()], default=shown)


def test_ranks_that_are_killed_at_random_moments_cost_one_step_at_most():
    ranks.need_mpi()
    last = 6
    keys = {"refine__steps": last, "checkpoint__every": 1}
    begin = time.monotonic()
    ranks.on_ranks(2, words(SMALL, out="one", **keys))
    step_s = (time.monotonic() - begin) / (last + 2)
    chance, moments, killed = random.Random(17), int(os.environ.get("YOKE_KILLED", 3)), 0
    while killed < moments:
        shutil.rmtree("two", ignore_errors=True)
        rank, step, after_s, count = chance.randrange(2), chance.randrange(-1, last), chance.uniform(0, 2) * step_s, killed % 3 + 1
        shown = run_with_a_rank_killed(words(SMALL, out="two", **keys), rank, step, after_s)
        if shown is None:
            continue
        killed += 1
        kept = checkpoints("two")[-1] if os.path.isdir("two") and checkpoints("two") else -1
        assert kept >= shown - 1, (kept, shown)  # a step is shown before its checkpoint is written
        line = [PROGRAM, "fem", "--restart", "two", "--threads", "1"] if kept >= 0 else words(SMALL, out="two", **keys)
        ranks.on_ranks(count, line)
        check_equal("two", "one")
        assert not [name for name in contents("two", True) if name.endswith(".part")]
        print(f"rank {rank} killed {after_s:.2f} s after step {step}; step {shown} shown, checkpoint of step {kept}, restart on {count}", flush=True)
