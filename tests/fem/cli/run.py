#!/usr/bin/env python3
"""Runs one test of `yoke fem` as a command.

    run.py PROGRAM TOPIC NAME     the function test_NAME of TOPIC.py, in a fresh directory as working directory; exit code 77: left out
    run.py TOPIC                  prints the names in TOPIC.py

PROGRAM is `yoke`; yoke-fem lies beside it.
"""
import importlib
import os
import pathlib
import re
import sys
import tempfile

import command


def main():
    if len(sys.argv) == 2:
        text = pathlib.Path(__file__).with_name(sys.argv[1] + ".py").read_text(encoding="utf-8")
        print("\n".join(re.findall(r"^def test_(\w+)\(\):", text, re.MULTILINE)))
        return
    program, topic, name = sys.argv[1:]
    command.PROGRAM = os.path.abspath(program)
    test = getattr(importlib.import_module(topic), "test_" + name)
    with tempfile.TemporaryDirectory(prefix="yoke-cli-") as directory:
        os.chdir(directory)
        try:
            test()
        finally:
            os.chdir("/")


if __name__ == "__main__":
    main()
