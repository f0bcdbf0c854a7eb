#!/usr/bin/env python3
"""Where the user has OpenMP bind threads, yoke and the programs that it becomes or starts may still use all cores of the process.

    binding.py YOKE
"""
import json
import os
import re
import subprocess
import sys


def run(yoke, binding, *words):
    variables = {name: value for name, value in os.environ.items() if name not in ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY")}
    done = subprocess.run([yoke, *words], env={**variables, **binding}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, (binding, done)
    return done.stdout


def check(yoke, binding, allowed):
    found = json.loads(run(yoke, binding, "info", "--quiet", "--json", "/dev/stdout"))["topology"]
    assert found["hardware_threads"] == len(allowed), (binding, found)
    last = found["cores"] - 1
    assert f"openmp:0-{last}" in run(yoke, binding, "dense", "transpose", "-n", "64", "--store", "none", "--devices", f"openmp:0-{last}"), binding
    status = run(yoke, binding, "energy", "--quiet", "--", "cat", "/proc/self/status")
    cores = set()
    for part in re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)[1].split(","):
        first, _, end = part.partition("-")
        cores |= set(range(int(first), int(end or first) + 1))
    assert cores == allowed, (binding, cores)


def main():
    yoke, allowed = sys.argv[1], os.sched_getaffinity(0)
    for binding in ({}, {"OMP_PROC_BIND": "true"}, {"OMP_PROC_BIND": "spread"}, {"OMP_PLACES": "threads"}, {"OMP_PROC_BIND": "false"}):
        check(yoke, binding, allowed)
    os.sched_setaffinity(0, {min(allowed)})  # as taskset does
    check(yoke, {"OMP_PROC_BIND": "true"}, {min(allowed)})


if __name__ == "__main__":
    main()
