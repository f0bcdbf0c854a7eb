#!/usr/bin/env python3
"""`yoke fem` where yoke-fem is missing, cannot run, or lies in PATH: a copy of yoke in an empty directory.

    fem_missing.py YOKE
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def fem(directory, path):
    return subprocess.run([directory / "yoke", "fem", "one", "two three"], env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        here, elsewhere = pathlib.Path(tmp, "here"), pathlib.Path(tmp, "elsewhere")
        here.mkdir()
        elsewhere.mkdir()
        shutil.copy(sys.argv[1], here / "yoke")

        done = fem(here, str(elsewhere))
        assert done.returncode == 3, done
        assert "yoke-fem" in done.stderr and "make install" in done.stderr, done

        script(elsewhere / "yoke-fem", 'echo "in PATH: $1, $2"; exit 7')
        done = fem(here, str(elsewhere))
        assert (done.returncode, done.stdout) == (7, "in PATH: one, two three\n"), done

        script(here / "yoke-fem", 'echo "beside: $1, $2"; exit 130')
        done = fem(here, str(elsewhere))
        assert (done.returncode, done.stdout) == (130, "beside: one, two three\n"), done

        (here / "yoke-fem").write_text("not a program")
        (here / "yoke-fem").chmod(0o644)
        done = fem(here, str(elsewhere))
        assert done.returncode == 1 and "cannot be started" in done.stderr, done


if __name__ == "__main__":
    main()
