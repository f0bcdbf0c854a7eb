#!/usr/bin/env python3
"""Runs one of examples/run: it checks its results against a plain loop itself; here is checked what it says.

    example_loops.py PROGRAM DEVICES [MACHINE_FILE SPEED_UP]

Exit status 77: the devices are not here.  SPEED_UP: by virtual time, so that it is the same on every machine.
"""
import json
import os
import re
import subprocess
import sys
import tempfile


def main():
    program, devices, *rest = sys.argv[1:]
    if "openmp:0-0" in devices and not {0, 1} <= os.sched_getaffinity(0):
        print("left out: there are no two cores here")
        return 77
    if "opencl" in devices and not os.path.isdir("/sys/devices/system/cpu"):
        print("left out: /sys is not mounted, without which PoCL ends the program that asks it")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        record = os.path.join(directory, "record.json")
        done = subprocess.run([program, devices, *rest[:1], *[record for _ in rest[:1]]], capture_output=True, text=True, check=False)
        recorded = {}
        if os.path.exists(record):
            with open(record, encoding="utf-8") as file:
                recorded = {part["device"]: part["units"] for part in json.load(file)["parts"]}
    print(done.stdout + done.stderr)
    if done.returncode and re.search(r"opencl.*(not|no) |there is no device", done.stderr):
        print("left out: there is no such device here")
        return 77
    if done.returncode:
        return f"exit status {done.returncode}"
    parts = re.findall(r"^  (\S+) +(\d+) units, +([\d.]+) %", done.stdout, re.MULTILINE)
    names = devices.split(",")
    if [name for name, _, _ in parts[:len(names)]] != names:
        return f"expected the devices {names}, found {parts}"
    total = int(re.search(r"^[^,\n]+, (\d+) units, least time", done.stdout, re.MULTILINE)[1])
    if devices == "openmp,opencl:0.0" and ("rests: it would use the cores of the hosts" not in done.stdout or parts[1][1] != "0"):
        return f"{names[1]} does not rest"
    if "openmp:0-0" in devices and "rests:" in done.stdout:
        return "a device rests, though each has a core"
    if sum(int(units) for _, units, _ in parts[:len(names)]) > total:
        return f"the devices have more than {total} units: {parts}"
    if (len(recorded) > 0) != (len(rest) > 0 and "axpy" in program):
        return f"the record has {recorded}"
    if recorded and recorded != {name: int(units) for name, units, _ in parts[:len(names)]}:
        return f"the record has {recorded}, not {parts}"
    speed_up = float(re.search(r"speed-up ([\d.]+)", done.stdout)[1])
    if len(rest) > 1 and not abs(speed_up / float(rest[1]) - 1) < 0.03:
        return f"a speed-up of {speed_up} instead of {rest[1]}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
