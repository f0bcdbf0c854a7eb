"""The example of regions: without meters it says why, with declared powers the parts make up the whole."""
import pathlib
import re
import subprocess
import sys

program, machines = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True, env={"YOKE_SYSROOT": str(machines / "virtual-machine")})
    return done.stdout


text = run()
assert len(re.findall(r"s, energy not known: .*\w", text)) == 3, text
text = run("idle=20,busy=60")
joules = {what: float(value) for what, value in re.findall(r"^(\w+) +[\d.]+ s, ([-+.\de]+) J \+- .* J, estimated$", text, re.MULTILINE)}
assert set(joules) == {"forwards", "backwards", "whole"} and min(joules.values()) > 0, text
# Three digits are printed of each.
assert joules["whole"] >= 0.98 * (joules["forwards"] + joules["backwards"]), text
errors = [float(error) for error in re.findall(r"error ([\d.e+-]+)$", text, re.MULTILINE)]
assert len(errors) == 2 and errors[1] < errors[0] < 1e-6, text
refused = subprocess.run([program, "idle=much"], capture_output=True, text=True, check=False)
assert refused.returncode == 1 and "idle" in refused.stderr, refused
