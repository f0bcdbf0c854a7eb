"""SIGINT and SIGTERM: a run ends soon, with what it has finished whole on disk."""
import os
import pathlib
import re
import signal
import subprocess
import time

from command import EXAMPLES, PATIENCE_S, SANITIZED, check_results, contents, environment, fill_disk, words


def start(*options, **keys):
    """A long run of the drill hole, without limits that would end it soon."""
    keys = {"refine__steps": 1000, "refine__fraction": 0.3, **keys}
    return subprocess.Popen(words(EXAMPLES / "drill-hole.yaml", *options, **keys), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True)


def wait_for_row(process, step):
    """Reads the table until the row of a step is there; what was read."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.split()[0] == str(step):
            return lines
    raise AssertionError(f"the run ended too soon: {lines} {process.communicate()}")


def wait_until_caught(process, number):
    """Waits until the process catches a signal: before, it ends the process as any other.  `yoke`, which becomes `yoke-fem`, does not catch it."""
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        if int(re.search(r"^SigCgt:\t(\w+)$", status, re.MULTILINE)[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.005)
    raise AssertionError(f"the run ended too soon: {process.communicate()}")


def interrupt(process, number):
    """Interrupts a run and waits for its end, whose exit code and message are checked; what it still printed."""
    sent = time.monotonic()
    process.send_signal(number)
    try:
        output, error = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(f"{PATIENCE_S} s after {number.name} it still runs") from None
    print(f"ended {time.monotonic() - sent:.2f} s after {number.name}")
    assert process.returncode == 128 + number, f"exit code {process.returncode} after {number.name}\n{output}\n{error}"
    *progress, message = error.splitlines()
    assert message.startswith("yoke fem: interrupted ") and all(line.startswith("step ") for line in progress), error
    return output


def check_interrupted_at(step, delay_s, number, **keys):
    """Interrupts some time after a step's row was printed."""
    process = start("--json", "copy.json", **keys)
    lines = wait_for_row(process, step)
    time.sleep(delay_s)
    lines += interrupt(process, number).splitlines()
    found = check_results("out")
    assert found["stopped_by"] == "interrupted"
    # Every step that the table shows is on disk; a step more may be, whose row was still to be printed.
    assert len(lines) - 1 <= len(found["steps"]) <= len(lines), (lines, len(found["steps"]))
    assert pathlib.Path("copy.json").read_bytes() == pathlib.Path("out/run.json").read_bytes()
    assert sorted(os.listdir()) == ["copy.json", "out"]


def test_an_interrupted_run_with_a_checkpoint_says_how_to_go_on():
    process = start(checkpoint__every=1)
    wait_for_row(process, 1)  # its checkpoint comes after that of step 0
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 130 and error.splitlines()[-1].endswith("; yoke fem --restart out goes on"), error
    done = subprocess.run([*words(EXAMPLES / "drill-hole.yaml")[:2], "--restart", "out", "--set", "refine.steps=2", "--quiet"], capture_output=True, text=True,
                          env=environment(), check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr


def test_interrupt_just_after_the_first_step():
    check_interrupted_at(0, 0, signal.SIGINT)


def test_interrupt_while_refining_and_setting_up():
    check_interrupted_at(2, 0.2 if SANITIZED else 0.01, signal.SIGINT)


def test_interrupt_in_the_middle_of_a_step():
    check_interrupted_at(3, 0.2, signal.SIGINT, refine__fraction=0.6)


def test_interrupt_late_on_a_large_mesh():
    check_interrupted_at(1, 1.0, signal.SIGINT, refine__fraction=1)


def test_terminate_just_after_the_first_step():
    check_interrupted_at(0, 0, signal.SIGTERM)


def test_terminate_in_the_middle_of_a_step():
    check_interrupted_at(3, 0.15, signal.SIGTERM, refine__fraction=0.6)


def test_terminate_with_stored_operator():
    check_interrupted_at(2, 0.1, signal.SIGTERM, solver__operator="stored")


def test_interrupt_before_the_first_step_leaves_an_earlier_run_whole():
    before = fill_disk("out")
    for delay_s in (0.3, 0.6):
        process = start(refine__initial=3)
        wait_until_caught(process, signal.SIGINT)
        time.sleep(delay_s)
        if interrupt(process, signal.SIGINT).count("\n") <= 1:  # the header at most
            assert contents("out") == before, f"after {delay_s} s: {sorted(contents('out'))}"
        else:
            raise AssertionError("the first step of 1.5 million dofs was done too soon for this test")


def test_terminate_before_the_first_step_leaves_no_files():
    process = start(refine__initial=3)
    wait_until_caught(process, signal.SIGTERM)
    time.sleep(0.5)
    interrupt(process, signal.SIGTERM)
    assert not contents("."), sorted(contents("."))


def test_reader_of_the_output_that_goes_away_leaves_whole_files():
    """As in `yoke fem CASE | head -2`."""
    process = start()
    wait_for_row(process, 0)
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(timeout=PATIENCE_S) in (1, -signal.SIGPIPE), error
    assert len(check_results("out")["steps"]) >= 1
