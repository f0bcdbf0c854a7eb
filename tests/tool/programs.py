#!/usr/bin/env python3
"""Commands that become programs of their own, where the program is missing, cannot run, or lies in PATH: a copy of yoke in an empty directory.

    programs.py YOKE
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

# words of the command, the program, the words that it gets before the others
COMMANDS = [(["fem"], "yoke-fem", ""), (["fmm"], "yoke-fmm", ""), (["dense"], "yoke-dense", ""), (["reproduce"], "yoke-reproduce", ""), (["bench", "axmebe"], "yoke-bench-axmebe", ""),
            (["calibrate", "--kernel", "axmebe"], "yoke-fem", "calibrate,--kernel,axmebe,")]


def start(directory, command, path):
    return subprocess.run([directory / "yoke", *command, "one", "two three"], env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=500, check=False)


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def check(yoke, command, program, before):
    words = before + "one,two three\n"
    with tempfile.TemporaryDirectory() as tmp:
        here, elsewhere, libexec = pathlib.Path(tmp, "bin"), pathlib.Path(tmp, "elsewhere"), pathlib.Path(tmp, "libexec/yoke")
        here.mkdir()
        elsewhere.mkdir()
        shutil.copy(yoke, here / "yoke")

        done = start(here, command, str(elsewhere))
        assert done.returncode == 3, done
        assert program in done.stderr and "make install" in done.stderr, done

        script(elsewhere / program, 'IFS=,; echo "in PATH: $*"; exit 7')
        done = start(here, command, str(elsewhere))
        assert (done.returncode, done.stdout) == (7, "in PATH: " + words), done

        script(libexec / program, 'IFS=,; echo "in libexec: $*"; exit 5')
        done = start(here, command, str(elsewhere))
        assert (done.returncode, done.stdout) == (5, "in libexec: " + words), done

        script(here / program, 'IFS=,; echo "beside: $*"; exit 130')
        done = start(here, command, str(elsewhere))
        assert (done.returncode, done.stdout) == (130, "beside: " + words), done

        script(here / program, "kill -TERM $$")
        assert start(here, command, str(elsewhere)).returncode == -signal.SIGTERM

        (here / program).write_text("not a program")
        (here / program).chmod(0o644)
        done = start(here, command, str(elsewhere))
        assert done.returncode == 1 and "cannot be started" in done.stderr, done


def main():
    for command, program, before in COMMANDS:
        check(sys.argv[1], command, program, before)


if __name__ == "__main__":
    main()
