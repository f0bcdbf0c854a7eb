"""Builds the Fortran example with the module of libyoke_fmm, and compares with the exact field that it prints.

    fmm_fortran.py FORTRAN_COMPILER SOURCE_DIRECTORY LIBRARY_DIRECTORY
"""
import os
import re
import subprocess
import sys
import tempfile

compiler, source, library = sys.argv[1:]
if not compiler or compiler.endswith("-NOTFOUND"):
    print("left out: no Fortran compiler; on Debian and Ubuntu: apt install gfortran")
    sys.exit(77)
with tempfile.TemporaryDirectory() as directory:
    files = [f"{source}/include/yoke_fmm.f90", f"{source}/examples/fmm/fmm.f90"]
    subprocess.run([compiler, "-std=f2008", "-Wall", "-Wextra", "-Werror", *files, "-L", library, "-lyoke_fmm", "-lyoke", "-o", "ring"], cwd=directory, check=True)
    done = subprocess.run(["./ring"], cwd=directory, env={**os.environ, "LD_LIBRARY_PATH": library}, capture_output=True, text=True, check=False)
found = re.fullmatch(r"depth (\d+), order (\d+), error of potentials on the axis +(\S+), of gradients +(\S+), of potentials at 50 particles +(\S+)\n"
                     r"(\d+) stages\nthe options give the tree\s*\n", done.stdout)
assert done.returncode == 0 and found, done
assert found[1] == "4" and found[2] == "12" and 0 < float(found[3]) < 1e-3 and 0 < float(found[4]) < 1e-3 and 0 < float(found[5]) < 1e-4 and int(found[6]) >= 2, done
