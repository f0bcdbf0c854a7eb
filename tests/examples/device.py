"""The device example compares with the exact solution itself; here: on cores, on a simulated GPU, on OpenCL where there is any, and on none."""
import math
import os
import re
import subprocess
import sys

program, machine = sys.argv[1:]
STEPS, RATE, WAVES, POINTS = 100, 0.05, 5000, 99999
factor = (1 - 4 * RATE * math.sin(math.pi / 2 * WAVES / (POINTS + 1)) ** 2) ** STEPS


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def expect(name, done):
    found = re.match(rf"{name}: {STEPS} steps in \S+ ms, factor ([\d.]+), largest error (\S+)$", done.stdout)
    assert done.returncode == 0 and found, done
    # The wave has become smaller by a fourth of what it was at least, so that a device that did nothing is seen.
    assert abs(float(found[1]) - factor) < 1e-4 and factor < 0.9 and float(found[2]) < 1e-5, (done, factor)


expect("openmp", run())
expect("openmp:0-0", run("openmp:0-0"))
expect("sim:gpu", run("sim:gpu", machine))
if os.path.isdir("/sys/devices/system/cpu"):  # without it PoCL ends the program that asks it
    opencl = run("opencl:0.0")
    if opencl.returncode == 0 or not re.search(r"opencl.*(not|no) |there is no device", opencl.stderr):
        expect("opencl:0.0", opencl)
refused = run("nosuch")
assert refused.returncode == 1 and 'called "nosuch"; the kinds are: openmp' in refused.stderr, refused
