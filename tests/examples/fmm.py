"""Ions of the fast multipole example keep their energy (the method of leapfrog does, to second order), and the tree that was chosen first."""
import pathlib
import re
import subprocess
import sys
import tempfile

program, = sys.argv[1:]
with tempfile.TemporaryDirectory() as directory:
    done = subprocess.run([program, pathlib.Path(directory, "costs.json")], capture_output=True, text=True, check=False)
steps = re.findall(r"^step (\d): depth (\d+)( chosen)?, energy (\S+), error of potentials (\S+)$", done.stdout, re.MULTILINE)
assert done.returncode == 0 and [step[0] for step in steps] == list("12345"), done
assert len(re.findall(r"^\w+ +\d+\* ", done.stdout, re.MULTILINE)) == 1 and not any(step[2] for step in steps), done
energies = [float(step[3]) for step in steps]
# A crystal of N ions has the energy -N 1.7476/2 (Madelung, by the nearest distance), less at its surface, and 0.1 of disorder.
assert -4096 * 1.7476 / 2 * 1.05 < energies[0] < -4096 * 1.7476 / 2 * 0.9, energies
assert max(energies) - min(energies) < 1e-6 * abs(energies[0]), energies
assert all(0 < float(step[4]) < 1e-4 or step[1] in "01" for step in steps), steps
