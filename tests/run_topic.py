#!/usr/bin/env python3
"""Runs one test of a command.

    run_topic.py TOPIC.py PROGRAM NAME    the function test_NAME of TOPIC.py, in a fresh directory as working directory; exit code 77: left out

PROGRAM is `yoke`, which topics find in the environment as YOKE_PROGRAM; yoke-fem and the others lie beside it.
"""
import importlib
import os
import pathlib
import signal
import sys
import tempfile


def main():
    topic = pathlib.Path(sys.argv[1]).resolve()
    # A shell starts what it runs in the background with this signal ignored, and tests send it to what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    program, name = sys.argv[2:]
    os.environ["YOKE_PROGRAM"] = os.path.abspath(program)
    sys.path.insert(0, str(topic.parent))
    test = getattr(importlib.import_module(topic.stem), "test_" + name)
    with tempfile.TemporaryDirectory(prefix="yoke-test-") as directory:
        os.chdir(directory)
        try:
            test()
        finally:
            os.chdir("/")


if __name__ == "__main__":
    main()
