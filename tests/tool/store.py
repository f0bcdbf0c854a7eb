"""What is kept from run to run where there is no place for it: results are computed all the same, and one message says why nothing is kept."""
import pathlib
import signal

import tool

# A file where a directory is needed: no user may write below it, root neither.
NO_PLACE = {"HOME": "file", "XDG_DATA_HOME": None, "YOKE_STORE": None}


def place(**changes):
    pathlib.Path("file").write_text("", encoding="utf-8")
    return tool.environment(**{**NO_PLACE, "HOME": str(pathlib.Path("file").resolve()), **changes})


def without_home():
    return place(HOME=None)


def test_products_need_no_home():
    done = tool.run("dense", "gemm", "-n", 64, "--check", "--devices", "openmp", env=without_home(), code=None)
    if done.returncode == 3:  # no BLAS here
        raise SystemExit(77)
    assert done.returncode == 0 and "passed" in done.stdout, done.stderr
    assert done.stderr.count("measurements are not kept: there is no HOME for a store; name a file (--store FILE)") == 1, done.stderr
    done = tool.run("dense", "gemm", "-n", 64, "--check", "--devices", "openmp", env=place())
    assert done.stderr.count("warning: the measurements could not be written to the store") == 1, done.stderr
    assert "directory" in done.stderr and "cannot be made: Not a directory" in done.stderr, done.stderr


def test_a_calibration_says_before_it_measures_that_its_results_cannot_be_kept():
    done = tool.run("calibrate", "--seconds", 3600, env=place(), code=1)
    assert done.stderr.count("cannot be made: Not a directory; name another store, or none") == 1, done.stderr
    assert "units/s" not in done.stdout
    done = tool.run("calibrate", "--seconds", 1, "--model", "model.json", "--machine", tool.SOURCE / "examples/machines/node-2026.json", env=without_home())
    assert done.stderr.count("measurements are not kept") == 1 and "kept in" not in done.stdout, done
    assert "model for `yoke plan` in model.json" in done.stdout


PARTICLES = ("fmm", "--generate", "grid", "--particles", 1000, "--order", 3, "--check", 0)


def test_particles_need_no_store():
    done = tool.run(*PARTICLES, env=place())
    assert "total energy" in done.stdout, done.stdout
    assert done.stderr.count("cannot be made: Not a directory") == 1, done.stderr


def test_a_home_that_is_not_there_is_told_once_before_particles_are_worked_on():
    process = tool.start(*PARTICLES, env=without_home())
    assert "measuring the costs of operations" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=tool.PATIENCE_S)
    assert process.returncode == 130, errors
    assert errors.count("measurements are not kept: there is no HOME") == 1, errors


def test_a_named_store_that_cannot_be_written_is_an_error():
    place()
    done = tool.run("calibrate", "--seconds", 3600, "--store", "file/store.json", code=2)
    assert "file/store.json cannot be written: Not a directory" in done.stderr, done.stderr
