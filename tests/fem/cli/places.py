"""Where results go: a directory by the case's name, an old run replaced as a whole, one run at a time."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from command import EXAMPLES, PATIENCE_S, SMALL, check_results, contents, environment, run, solve, words


def start(out="out", **keys):
    """A long run; its first row is there when this returns."""
    keys = {"refine__steps": 1000, "refine__fraction": 0.5, **keys}
    process = subprocess.Popen(words(EXAMPLES / "drill-hole.yaml", out=out, **keys), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment())
    for line in process.stdout:
        if line.split()[0] == "0":
            return process
    raise AssertionError(f"the run ended too soon: {process.communicate()}")


def test_default_directory_has_the_name_of_the_case():
    text = SMALL.read_text(encoding="utf-8")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("output:"))
    shutil.copytree(EXAMPLES / "meshes", "meshes")
    for name, directory in (("bar.yaml", "out/bar"), ("bar.v2.yml", "out/bar.v2"), ("bar", "out/bar")):
        pathlib.Path(name).write_text(text, encoding="utf-8")
        shutil.rmtree("out", ignore_errors=True)
        line = words(name, refine__steps=0)
        at = line.index("output.directory=out")
        done = run(line[: at - 1] + line[at + 1 :])
        check_results(directory, 1)
        assert os.listdir("out") == [pathlib.Path(directory).name] and f"results in {directory}" in done.stdout


def test_shorter_run_replaces_the_old_one_as_a_whole():
    solve(SMALL, refine__steps=3)
    check_results("out", 4)
    before = contents("out")
    strangers = {"notes.txt": b"mine", "step-1.vtu": b"mine", "step-aa.vtu": b"mine", "step-02.vtu.bak": b"mine", "old-step-02.vtu": b"mine",
                 "picture.99-0.part": b"mine"}
    for name, data in strangers.items():
        pathlib.Path("out", name).write_bytes(data)
    pathlib.Path("out/step-77.vtu").mkdir()
    pathlib.Path("out/step-03.vtu.4000000-0.part").write_bytes(b"of a run that was killed")
    solve(SMALL, refine__steps=1, refine__fraction=0.6)
    found = contents("out")
    for name, data in strangers.items():
        assert found.pop(name) == data, f"{name}, which no run of yoke wrote, was touched"
        os.remove(f"out/{name}")
    os.rmdir("out/step-77.vtu")
    check_results("out", 2)
    assert all(found[name] != before[name] for name in ("run.json", "step-01.vtu")) and "step-03.vtu.4000000-0.part" not in found


def test_killed_run_leaves_no_mixture():
    """The old run whole, or nothing but files of the new one."""
    solve(SMALL, refine__steps=3)
    old = contents("out")
    for delay_s in (0, 0.01, 0.05, 0.2):
        shutil.rmtree("out")
        for name, data in old.items():
            pathlib.Path("out").mkdir(exist_ok=True)
            pathlib.Path("out", name).write_bytes(data)
        process = start()
        time.sleep(delay_s)
        process.kill()
        process.communicate()
        found = {name: data for name, data in contents("out").items() if not name.endswith(".part")}
        left = [name for name, data in found.items() if old.get(name) == data and name != "series.pvd"]  # as many steps make the same series
        assert not left, f"killed {delay_s} s after the first row: {left} of the old run beside {sorted(found)}"
        listed = re.findall(rb'file="([^"]*)"', found.get("series.pvd", b""))
        assert {"step-00.vtu", *(name.decode() for name in listed)} <= set(found), sorted(found)


def test_run_that_fails_before_its_first_step_leaves_the_old_one():
    solve(SMALL, refine__steps=2)
    old = contents("out")
    run(words(SMALL, refine__steps=1, solver__max_iterations=1, solver__preconditioner="jacobi"), 1)
    assert contents("out") == old


def test_second_run_in_the_same_directory_is_refused():
    first = start()
    done = run(words(SMALL, refine__steps=0), 2)
    assert "another run writes its results there" in done.stderr and "output.directory" in done.stderr, done.stderr
    solve(SMALL, refine__steps=0, out="beside")
    run(words(SMALL, "--check"))  # writes nothing, and may look
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=PATIENCE_S)
    assert check_results("out")["stopped_by"] == "interrupted"
    killed = start()
    killed.kill()
    killed.communicate()
    solve(SMALL, refine__steps=0)  # the lock went with the process
    check_results("out", 1)
