"""What the tests of `yoke energy` and `yoke gather` share: running them, recorded machines, and what they wrote."""
import csv
import functools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import time

PROGRAM = os.environ["YOKE_PROGRAM"]  # `yoke`; set by run_topic.py
SOURCE = pathlib.Path(__file__).resolve().parents[2]
MACHINES = SOURCE / "tests/machines"
PATIENCE_S = 300


def environment(**changes):
    """The environment without what this machine may have: vendors' libraries are looked for nowhere; None removes a variable."""
    variables = {**os.environ, "YOKE_NVML": "", "YOKE_AMDSMI": "", "YOKE_ROCM_SMI": "", **changes}
    variables.pop("YOKE_SYSROOT", None)
    return {name: value for name, value in variables.items() if value is not None}


def run(*words, code=0, **more):
    """Runs yoke to its end and checks its exit code (negative: a signal), unless that is None."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), **more}
    line = [PROGRAM, *map(str, words)]
    done = subprocess.run(line, text=True, errors="replace", timeout=PATIENCE_S, check=False, **more)
    assert code is None or done.returncode == code, f"exit code {done.returncode}, expected {code}: {line}\n{done.stdout}\n{done.stderr}"
    return done


def start(*words, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), **more}
    return subprocess.Popen([PROGRAM, *map(str, words)], text=True, errors="replace", **more)


def end(process, code=0):
    """Waits for a started yoke and returns what it printed."""
    output, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, f"exit code {process.returncode}, expected {code}\n{output}\n{error}"
    return output, error


def wait_for(what, condition, process=None):
    """Waits until something is there that a started yoke (where it is given) makes; no time is asserted but that of a test that hangs."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert process is None or process.poll() is None, f"{what} never came: yoke ended with {process.returncode}\n{process.stderr.read() if process.stderr else ''}"
        assert time.monotonic() < until, f"{what} never came"
        time.sleep(0.01)


def python(text, *words):
    """A command line that runs a Python program."""
    return [sys.executable, "-c", text, *map(str, words)]


def machine(name, directory="machine"):
    """A copy of a recorded machine, whose counters may be changed."""
    shutil.copytree(MACHINES / name, directory, symlinks=True)
    return pathlib.Path(directory)


# A shell starts sooner than Python; joules that come at once are a fault; <> opens a file without making it empty.
ADVANCE = 'sleep 0.3; for word; do printf "%s\\n" "${word##*=}" 1<>"${word%=*}"; done'


def advance(**counts):
    """A command that writes counts into files: the hardware of a recorded machine at work.  Never fewer digits than before."""
    return ["sh", "-c", ADVANCE, "sh", *(f"{path}={count}" for path, count in counts.items())]


def with_counters_that_stand(test):
    """For tests whose command advances counters, which stand still until then.

    After a second that is a fault of the hardware ("stuck"), and a busy machine may need longer to start the command: then the test runs again.
    """
    @functools.wraps(test)
    def attempts():
        for attempt in range(50):
            os.mkdir(f"attempt-{attempt}")
            os.chdir(f"attempt-{attempt}")
            try:
                return test()
            except (AssertionError, ValueError):
                written = pathlib.Path("run.json")
                if attempt == 49 or not written.exists() or "stuck: it has shown the same" not in written.read_text(encoding="utf-8"):
                    raise
            finally:
                os.chdir("..")
        return None
    return attempts


def number(path):
    """Files of recorded machines are plain ones: what yoke writes to just now is empty for a moment, as those of the kernel never are."""
    text = []
    wait_for(f"a number in {path}", lambda: text.append(pathlib.Path(path).read_text(encoding="ascii")) or text[-1].strip())
    return int(text[-1])


def record(path="run.json"):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def rows(path="runs.csv"):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def close_to(value, expected, absolute, what=""):
    assert value is not None and math.isclose(value, expected, rel_tol=0, abs_tol=absolute), f"{what}: {value}, expected {expected} +- {absolute:g}"
