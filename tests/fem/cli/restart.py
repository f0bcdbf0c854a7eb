"""Checkpoints and --restart: a run that was killed goes on, and ends with what an undisturbed run gives."""
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import time
import zlib

import command
from command import EXAMPLES, PROGRAM, SANITIZED, SMALL, close_to, contents, environment, record, run, words

# Of which there is no second one: times, powers, and what is predicted from them.
TIMES = {"date", "command", "elapsed_s", "machine", "restarts", "parts", "seconds", "predicted", "predicted_with_l", "measured", "prediction_errors", "decision",
         "alternatives"}


def checkpoints(out="out"):
    """Numbers of the checkpoints that are there."""
    return sorted(int(match[1]) for path in pathlib.Path(out).iterdir() if (match := re.fullmatch(r"checkpoint-(\d+)\.bin", path.name)))


def restart(out="out", *options, code=0):
    return run([PROGRAM, "fem", "--restart", out, *options], code)


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def results(out):
    """All files but checkpoints and the record, with their bytes; and the record without times."""
    files = {name: data for name, data in contents(out).items() if name != "run.json"}
    return files, without_times(record(out))


def check_same(out, reference):
    """The results of a run are bit for bit those of another one."""
    (files, written), (expected_files, expected) = results(out), results(reference)
    for text in (written, expected):
        text["case"]["refine"]["steps"] = 0  # a limit may have been raised
    assert sorted(files) == sorted(expected_files)
    assert [name for name in files if files[name] != expected_files[name]] == [], "these files differ"
    assert written == expected, (written, expected)


def check_equal(out, reference):
    """The meshes are the same, the energies to 1e-8, and the iterations of steps that were begun anew to one."""
    written, expected = record(out), record(reference)
    within = {item["step"] for item in written["restarts"] if not item["solved"]}
    assert [step["elements"] for step in written["steps"]] == [step["elements"] for step in expected["steps"]]
    for step, other in zip(written["steps"], expected["steps"], strict=True):
        close_to(step["strain_energy_j"], other["strain_energy_j"], 1e-8, f"energy of step {step['step']}")
        assert step["step"] in within or abs(step["iterations"] - other["iterations"]) <= 1, (step["step"], step["iterations"], other["iterations"])
    assert written["stopped_by"] == expected["stopped_by"]


def test_a_run_that_goes_on_gives_every_bit_of_one_run():
    keys = {"checkpoint__every": 1, "element": "q2"}
    run(words(SMALL, out="one", refine__steps=4, **keys))
    run(words(SMALL, out="two", refine__steps=1, **keys))
    done = restart("two", "--set", "refine.steps=4")
    assert done.stdout.startswith("continuing after step 1, from two/checkpoint-1.bin\n"), done.stdout
    check_same("two", "one")
    assert checkpoints("two") == [3, 4]
    (item,) = record("two")["restarts"]
    assert (item["step"], item["solved"], item["iterations"], item["checkpoint"]) == (1, True, 0, "checkpoint-1.bin"), item
    assert item["command"][1:] == ["--restart", "two", "--set", "refine.steps=4"], item


def test_a_heat_problem_goes_on_too():
    case = EXAMPLES / "hot-pipe-heat.yaml"
    keys = {"checkpoint__every": 1, "element": "s2"}
    run(words(case, out="one", refine__steps=2, **keys))
    run(words(case, out="two", refine__steps=0, **keys))
    restart("two", "--set", "refine.steps=2")
    check_same("two", "one")


def test_a_run_that_has_ended_says_so():
    run(words(SMALL, refine__steps=1, checkpoint__every=1))
    before = contents("out", True)
    done = restart("out")
    assert "the run in out has ended (stopped by: steps), and nothing is left to do" in done.stdout, done.stdout
    assert contents("out", True) == before


def test_an_ended_run_says_how_to_go_on_and_does_so():
    for limit in ("refine.steps=1", "refine.tolerance=0.2", "refine.max_elements=40"):
        run(words(SMALL, "--set", "refine.steps=3", "--set", limit, checkpoint__every=1))
        rows = len(record()["steps"])
        said = restart("out").stdout.splitlines()[-1].split()
        assert said[:5] == ["yoke", "fem", "--restart", "out", "--set"] and said[5].split("=")[0] == limit.split("=")[0], said
        restart("out", *said[4:])
        assert len(record()["steps"]) > rows, (limit, said)


def test_a_tighter_goal_goes_on():
    run(words(SMALL, out="one", refine__steps=4))
    expected = record("one")["steps"]
    goals = [1.001 * expected[step]["relative_error_estimate"] for step in (1, 4)]
    run(words(SMALL, out="two", refine__steps=9, refine__tolerance=goals[0], checkpoint__every=1))
    assert (len(record("two")["steps"]), record("two")["stopped_by"]) == (2, "tolerance")
    restart("two", "--set", f"refine.tolerance={goals[1]}")
    written = record("two")
    assert written["stopped_by"] == "tolerance"
    assert [step["relative_error_estimate"] for step in written["steps"]] == [step["relative_error_estimate"] for step in expected]


def test_a_short_run_writes_none_of_its_own_accord():
    run(words(SMALL, refine__steps=2))
    assert checkpoints() == []
    done = restart("out", code=2)
    assert "--restart out: there is no checkpoint" in done.stderr, done.stderr


def test_as_many_are_kept_as_asked_for():
    run(words(SMALL, refine__steps=5, checkpoint="{every: 2, keep: 2}"))
    assert checkpoints() == [1, 2]  # after the 4th and the 6th solve; that after the 2nd is gone
    run(words(SMALL, refine__steps=2, checkpoint="{every: 1, keep: 10}"))  # another run: those of the first one go
    assert checkpoints() == [3, 4, 5]
    run(words(SMALL, refine__steps=2, checkpoint__every=0))
    assert checkpoints() == []


def test_checkpoints_stay_until_a_new_one_is_complete():
    run(words(SMALL, out="one", refine__steps=3, checkpoint__every=1))
    run(words(SMALL, out="two", refine__steps=2, checkpoint="{every: 1, keep: 3}"))
    # The next solve fails before it has one; a lower number of those to keep is none to remove at once.
    restart("two", "--set", "refine.steps=3", "--set", "solver.max_iterations=1", "--set", "checkpoint.keep=2", code=1)
    assert checkpoints("two") == [0, 1, 2]
    pathlib.Path("two/checkpoint-2.bin").write_bytes(b"damaged")
    done = restart("two", "--set", "refine.steps=3", "--set", "checkpoint.keep=2")
    assert done.stdout.startswith("continuing after step 1, from two/checkpoint-1.bin\n"), done.stdout
    assert checkpoints("two") == [2, 3, 4], checkpoints("two")  # the damaged one is in nobody's way
    check_same("two", "one")


def test_what_may_not_change_is_named():
    run(words(SMALL, refine__steps=0, checkpoint__every=1))
    before = contents("out", True)
    changed = (("materials[0].youngs_modulus=1e9", "materials[0].youngs_modulus was 210000000000, and is 1000000000"),
               ("element=q1", "element was q2, and is q1"), ("refine.initial=1", "refine.initial was 0, and is 1"), ("mesh_scale=2", "mesh_scale was not given, and is 2"))
    for change, says in changed:
        found = restart("out", "--set", "refine.steps=1", "--set", change, code=2).stderr
        assert "out/checkpoint-0.bin belongs to another case: " in found and says in found, (change, found)
    assert contents("out", True) == before
    may_change = ("solver.preconditioner=jacobi", "solver.energy_error=1e-8", "objective.max_slowdown=2", "output.fields=[level]", "checkpoint.keep=1")
    restart("out", "--set", "refine.steps=1", *(word for change in may_change for word in ("--set", change)))
    assert record()["steps"][1]["preconditioner"] == "jacobi"


def test_another_mesh_is_refused():
    shutil.copytree(EXAMPLES, "examples")
    run(words("examples/two-materials.yaml", refine__steps=0, checkpoint__every=1))
    before = contents("out", True)
    mesh = pathlib.Path("examples", re.search(r"mesh: (\S+)", pathlib.Path("examples/two-materials.yaml").read_text(encoding="utf-8"))[1])
    shutil.copy(EXAMPLES / "meshes" / "lame.msh", mesh)
    found = restart("out", "--set", "refine.steps=1", code=2).stderr
    assert "belongs to another mesh" in found or "group" in found, found
    assert contents("out", True) == before


def test_another_heat_case_is_refused():
    shutil.copytree(EXAMPLES, "examples")
    case, heat = "examples/hot-pipe.yaml", pathlib.Path("examples/hot-pipe-heat.yaml")
    run(words(case, refine__steps=0, checkpoint__every=1))
    before, text = contents("out", True), heat.read_text(encoding="utf-8")
    heat.write_text(text + "# another one\n", encoding="utf-8")
    found = restart("out", "--set", "refine.steps=1", code=2).stderr
    assert "belongs to another heat case: examples/hot-pipe-heat.yaml" in found, found
    assert contents("out", True) == before
    heat.write_text(text, encoding="utf-8")
    restart("out", "--set", "refine.steps=1")


def test_options_of_the_run_hold_unless_given_again():
    run(words(SMALL, "--json", "copy.json", refine__steps=0, checkpoint__every=1))
    os.remove("copy.json")
    restart("out", "--set", "refine.steps=1", "--threads", "1")
    assert json.loads(pathlib.Path("copy.json").read_bytes()) == record()
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    found = restart("../out", "--set", "refine.steps=2", code=2).stderr
    assert "the run was started in the directory " in found, found
    run([PROGRAM, "fem", str(SMALL), "--restart", "../out", "--set", "refine.steps=2"])
    assert len(record("../out")["steps"]) == 3


def test_a_case_after_two_dashes():
    line = words(SMALL, "--quiet", refine__steps=0, checkpoint__every=1)
    run([*(word for word in line if word != str(SMALL)), "--", str(SMALL)])
    restart("out", "--set", "refine.steps=1")
    run([PROGRAM, "fem", "--restart", "out", "--set", "refine.steps=2", "--", str(SMALL)])
    restart("out", "--set", "refine.steps=3")
    assert len(record()["steps"]) == 4


def test_results_stay_in_their_directory():
    run(words(SMALL, refine__steps=0, checkpoint__every=1))
    before = contents("out", True)
    found = restart("out", "--set", "refine.steps=1", "--set", "output.directory=new", code=2).stderr
    assert "--set output.directory=new: --restart out writes its results there" in found, found
    assert contents("out", True) == before and not os.path.exists("new")
    restart("out", "--set", "refine.steps=1", "--set", "output.directory=./out")
    assert len(record()["steps"]) == 2


def damaged(data):
    """The same file, damaged in ways that happen, with what is said of each; the unit test checkpoint has more."""
    yield data[: len(data) // 2], "is damaged: it has"
    yield data[:8] + bytes([data[8] + 1]) + data[9:], "has version 2 of the format"
    yield data[:-9] + bytes([data[-9] ^ 4]) + data[-8:], "is damaged: the checksum of its indicators is wrong"


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before():
    run(words(SMALL, out="one", refine__steps=3, checkpoint__every=1))
    run(words(SMALL, out="two", refine__steps=2, checkpoint__every=1))
    data = pathlib.Path("two/checkpoint-2.bin").read_bytes()
    for bad, says in damaged(data):
        shutil.copytree("two", "bad")
        pathlib.Path("bad/checkpoint-2.bin").write_bytes(bad)
        done = restart("bad", "--set", "refine.steps=3")
        assert says in done.stderr and "trying the checkpoint before it" in done.stderr, done.stderr
        assert done.stdout.startswith("continuing after step 1, from bad/checkpoint-1.bin\n"), done.stdout
        check_same("bad", "one")
        shutil.rmtree("bad")
    for number in (1, 2):
        pathlib.Path(f"two/checkpoint-{number}.bin").write_bytes(data[:-1])
    before = contents("two", True)
    found = restart("two", "--set", "refine.steps=3", code=2).stderr
    assert "--restart two: every checkpoint there is damaged" in found, found
    assert contents("two", True) == before


HEAD = "<8s2I3Q2I4I2I"


def with_state(data, change):
    """The same checkpoint, its state changed by somebody who knows the format."""
    head = list(struct.unpack_from(HEAD, data))
    size = struct.calcsize(HEAD)
    rest = data[size + -(-head[3] // 8) * 8 :]
    state = json.loads(data[size : size + head[3]])
    text = json.dumps(change(state) or state).encode()
    head[3], head[8] = len(text), zlib.crc32(text)
    head[-1] = zlib.crc32(struct.pack(HEAD, *head)[:-4])
    return struct.pack(HEAD, *head) + text + bytes(-len(text) % 8) + rest


def state_of(data):
    size = struct.calcsize(HEAD)
    return json.loads(data[size : size + struct.unpack_from(HEAD, data)[3]])


def all_values(value, path=()):
    """The path of every value of a JSON document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from all_values(item, path + (key,))


def set_value(state, path, value):
    if not path:
        return value
    at = state
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return None


def test_a_state_that_makes_no_sense_is_refused():
    run(words(SMALL, refine__steps=1, checkpoint="{every: 1, keep: 1}"))
    path = pathlib.Path("out/checkpoint-1.bin")
    data = path.read_bytes()
    assert with_state(data, lambda state: None)[72:80] == data[72:80]
    for place, value in ((("step",), 7), (("step",), -1), (("identity",), 3), (("record", "steps"), {}), (("choice",), [1]), (("forecast", "levels"), 5),
                         (("words",), [1, 2]), (("summary", "reactions"), [[99, 0, 0, 0, 0, 0, 0]]), (("directory",), None))[:: 3 if SANITIZED else 1]:
        path.write_bytes(with_state(data, lambda state: set_value(state, place, value)))
        found = restart("out", "--set", "refine.steps=2", code=2).stderr
        assert "out/checkpoint-1.bin" in found and "damaged" in found, (place, value, found)


def run_killed(line, after_s):
    """Starts a run and kills it after some time; whether it was killed."""
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return process.returncode < 0


def check_killed(moments, case, **keys):
    """Kills runs at random moments, again and again until one ends, and compares with an undisturbed run."""
    begin = time.monotonic()
    run(words(case, out="one", **keys))
    duration = time.monotonic() - begin
    chance = random.Random(moments)
    killed = lost = 0
    while killed < moments:
        shutil.rmtree("two", ignore_errors=True)
        line = words(case, out="two", **keys)
        while run_killed(line, chance.uniform(0.02, 0.6) * duration) and killed < moments:
            killed += 1
            there = checkpoints("two") if os.path.isdir("two") else []
            line = [PROGRAM, "fem", "--restart", "two"] if there else words(case, out="two", **keys)
            lost += not there
        if record("two")["stopped_by"] is None if os.path.exists("two/run.json") else True:
            run(line)
        check_equal("two", "one")
        assert sorted(path.name for path in pathlib.Path("two").iterdir() if path.suffix == ".part") == []
    print(f"{killed} killed, {lost} of them before the first checkpoint; an undisturbed run takes {duration:.2f} s")


MOMENTS = int(os.environ.get("YOKE_KILLED", 2 if SANITIZED else 4))


def test_runs_that_are_killed_at_random_moments_end_as_undisturbed_ones():
    check_killed(MOMENTS, SMALL, refine__steps=3 if SANITIZED else 6, checkpoint__every=1)


def test_runs_that_are_killed_within_long_solves_end_as_undisturbed_ones():
    # Each iteration writes one; more accurate than usual, since the energy error is what the iteration leaves.
    check_killed(MOMENTS, SMALL, refine__steps=0, refine__initial=1, solver__preconditioner="jacobi", solver__relative_residual=1e-10,
                 checkpoint="{every: 0, minutes: 1e-9}")


def test_a_solve_goes_on_where_it_was():
    keys = {"refine__steps": 0, "refine__initial": 1, "solver__preconditioner": "jacobi", "solver__relative_residual": 1e-8}
    run(words(SMALL, out="one", **keys))
    line = words(SMALL, out="two", checkpoint="{every: 0, minutes: 1e-9}", **keys)
    needed = record("one")["steps"][0]["iterations"]
    # The limit of iterations ends it in the middle of the solve.
    run(line + ["--set", f"solver.max_iterations={needed * 3 // 4}"], 1)
    done = restart("two", "--set", "solver.max_iterations=10000")
    (item,) = record("two")["restarts"]
    assert item["iterations"] >= needed // 2 and not item["solved"] and item["step"] == 0, (item, needed)
    assert f"continuing within step 0, after {item['iterations']} iterations" in done.stdout, done.stdout
    again = record("two")["steps"][0]["iterations"]
    print(f"{needed} iterations at once, {item['iterations']} + {again} with a restart")
    assert again < needed
    close_to(record("two")["steps"][0]["strain_energy_j"], record("one")["steps"][0]["strain_energy_j"], 1e-8, "energy")


def test_on_other_devices_the_result_is_the_same():
    keys = {"checkpoint__every": 1}
    run(words(SMALL, out="one", refine__steps=4, **keys))
    run(words(SMALL, out="two", refine__steps=2, **keys))
    machine = command.SOURCE / "examples" / "machines" / "lang-ruenger-2014.json"
    restart("two", "--set", "refine.steps=4", "--machine", str(machine), "--devices", "auto")
    assert {part["device"][:4] for part in record("two")["steps"][4]["parts"]} == {"sim:"}
    check_equal("two", "one")


def test_a_full_disk_costs_the_checkpoint_and_not_the_run():
    case, keys = EXAMPLES / "drill-hole.yaml", {"refine__steps": 3}
    run(words(case, out="one", checkpoint="{every: 1, keep: 4}", **keys))
    pages = {name: -(-len(data) // 4096) for name, data in contents("one", True).items()}
    # Room for all but the last checkpoint, with some for the record, of which there are two while it is written.
    room = sum(size for name, size in pages.items() if not name.startswith("checkpoint-")) + pages["checkpoint-2.bin"] + 2 * pages["run.json"] + 4
    assert pages["checkpoint-3.bin"] > 2 * pages["run.json"] + 4, pages
    mount = f'mount -t tmpfs -o size={4 * room}k none out && {{ "$@"; code=$?; cp -a out kept; exit $code; }}'
    os.mkdir("out")
    unshare = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "sh", "-c"]
    if subprocess.run([*unshare, "mount -t tmpfs none out"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        raise SystemExit(77)
    done = run([*unshare, mount, "sh", *words(case, checkpoint="{every: 1, keep: 1}", **keys)])
    assert "step 3: there is no checkpoint of it, and the run goes on: out/checkpoint-3.bin" in done.stderr, done.stderr
    assert checkpoints("kept") == [2], checkpoints("kept")
    written = record("kept")
    assert written["stopped_by"] == "steps" and any("there is no checkpoint" in warning for warning in written["warnings"])
    assert not [name for name in contents("kept", True) if name.endswith(".part")]
