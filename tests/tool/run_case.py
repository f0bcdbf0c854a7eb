#!/usr/bin/env python3
"""Runs one line of a table of command-line tests.

    run_case.py PROGRAM TABLE NAME
    run_case.py TABLE                  prints the names in the table

A line of the table is   name | arguments | exit code | standard output | standard error
Empty lines and lines that begin with # are skipped.  The arguments are split as a shell does; {tmp} is a fresh directory, in which the program
also runs, {source} is the source tree, {bin} the directory of the program.  The two outputs are regular expressions that must be found
somewhere (^ and $ match at lines); an empty one means that nothing must be printed, and * that anything may.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile


def read_cases(table):
    cases = {}
    with open(table, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, *fields = [field.strip() for field in re.split(r" \|(?= |$)", line.rstrip())]
            if len(fields) != 4 or name in cases:
                sys.exit(f"{table}:{number}: expected a new name and 4 fields, between ' | '")
            cases[name] = fields
    return cases


def check(what, pattern, text):
    if pattern == "*":
        return []
    if pattern == "":
        return [f"{what}: expected nothing"] if text else []
    return [] if re.search(pattern, text, re.MULTILINE) else [f"{what}: {pattern!r} not found"]


def main():
    if len(sys.argv) == 2:
        print("\n".join(read_cases(sys.argv[1])))
        return 0
    program, table, name = sys.argv[1:]
    arguments, code, output, error = read_cases(table)[name]
    with tempfile.TemporaryDirectory() as tmp:
        places = {"tmp": tmp, "source": os.environ["YOKE_SOURCE_DIR"], "bin": os.path.dirname(program)}
        words = [re.sub(r"\{(tmp|source|bin)\}", lambda match: places[match[1]], word) for word in shlex.split(arguments)]
        done = subprocess.run([program, *words], cwd=tmp, stdin=subprocess.DEVNULL, capture_output=True, timeout=500, check=False)
    stdout = done.stdout.decode("utf-8", "replace")
    stderr = done.stderr.decode("utf-8", "replace")
    wrong = [] if done.returncode == int(code) else [f"exit code: expected {code}, got {done.returncode}"]
    wrong += check("standard output", output, stdout) + check("standard error", error, stderr)
    if wrong:
        print("\n".join(wrong), f"--- {program} {' '.join(words)}", "--- standard output", stdout, "--- standard error", stderr, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
