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

COMMANDS = [(["fem"], "yoke-fem"), (["reproduce"], "yoke-reproduce"), (["bench", "axmebe"], "yoke-bench-axmebe")]


def start(directory, command, path):
    return subprocess.run([directory / "yoke", *command, "one", "two three"], env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=500, check=False)


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def check(yoke, command, program):
    with tempfile.TemporaryDirectory() as tmp:
        here, elsewhere, libexec = pathlib.Path(tmp, "bin"), pathlib.Path(tmp, "elsewhere"), pathlib.Path(tmp, "libexec/yoke")
        here.mkdir()
        elsewhere.mkdir()
        shutil.copy(yoke, here / "yoke")

        done = start(here, command, str(elsewhere))
        assert done.returncode == 3, done
        assert program in done.stderr and "make install" in done.stderr, done

        script(elsewhere / program, 'echo "in PATH: $1, $2"; exit 7')
        done = start(here, command, str(elsewhere))
        assert (done.returncode, done.stdout) == (7, "in PATH: one, two three\n"), done

        script(libexec / program, 'echo "in libexec: $1, $2"; exit 5')
        done = start(here, command, str(elsewhere))
        assert (done.returncode, done.stdout) == (5, "in libexec: one, two three\n"), done

        script(here / program, 'echo "beside: $1, $2"; exit 130')
        done = start(here, command, str(elsewhere))
        assert (done.returncode, done.stdout) == (130, "beside: one, two three\n"), done

        script(here / program, "kill -TERM $$")
        assert start(here, command, str(elsewhere)).returncode == -signal.SIGTERM

        (here / program).write_text("not a program")
        (here / program).chmod(0o644)
        done = start(here, command, str(elsewhere))
        assert done.returncode == 1 and "cannot be started" in done.stderr, done


def main():
    for command, program in COMMANDS:
        check(sys.argv[1], command, program)


if __name__ == "__main__":
    main()
