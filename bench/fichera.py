#!/usr/bin/env python3
"""Fichera's corner with q2 elements: energy error against degrees of freedom, uniform and adaptive.

Usage: bench/fichera.py YOKE [OUT_DIRECTORY]

The solution is not known in closed form.  With u = 0 on the surface, |u - u_h|^2 in the energy norm is 2 (E - E_h), E the strain energy.  E is
extrapolated from the last three energies of an adaptive run that goes well beyond the table, E - E_h = C N^(-2 s) fitted to them; the
table ends where the error is 2.5 times that of the finest mesh.  Writes fichera.dat (and fichera.svg if gnuplot is there) and prints the table.
"""
import json
import math
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def run(yoke, out, name, *settings):
    record = out / f"fichera-{name}.json"
    command = [yoke, "fem", str(SOURCE / "examples/fichera.yaml"), "--quiet", "--json", str(record)]
    for setting in (f"output.directory={out / ('fichera-' + name)}", "solver.relative_residual=1e-10", "refine.tolerance=0", *settings):
        command += ["--set", setting]
    subprocess.run(command, check=True)
    return [(step["dofs"], step["strain_energy_j"], step["relative_error_estimate"]) for step in json.loads(record.read_text())["steps"]]


def extrapolate(steps):
    """E from three energies: the exponent that makes E - E_h a power of N, found by bisection."""
    (n0, e0, _), (n1, e1, _), (n2, e2, _) = steps

    def mismatch(energy):
        return math.log((energy - e1) / (energy - e0)) / math.log(n1 / n0) - math.log((energy - e2) / (energy - e1)) / math.log(n2 / n1)

    low, high = e2 + 1e-6 * (e2 - e1), e2 + 20 * (e2 - e1)
    if mismatch(low) * mismatch(high) > 0:  # the last energies are not a clean power: take the optimal rate of quadratic elements
        ratio = (n1 / n2) ** (4 / 3)
        return e2 + (e2 - e1) * ratio / (1 - ratio)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if mismatch(middle) * mismatch(low) > 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def slope(rows):
    """Least-squares exponent s of error = C N^(-s)."""
    x = [math.log(n) for n, *_ in rows]
    y = [math.log(error) for _, error, *_ in rows]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return -sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def main():
    yoke = sys.argv[1]
    out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "out/bench")
    out.mkdir(parents=True, exist_ok=True)
    adaptive = run(yoke, out, "adaptive", "refine.fraction=0.5", "refine.steps=40", "refine.max_elements=150000")
    uniform = run(yoke, out, "uniform", "refine.fraction=1", "refine.steps=4", "refine.max_elements=60000")
    energy = extrapolate(adaptive[-5::2])
    finest = math.sqrt(2 * (energy - adaptive[-1][1]))
    print(f"extrapolated energy {energy:.9g} J; error of the finest adaptive mesh {finest / math.sqrt(2 * energy):.2e}")
    with open(out / "fichera.dat", "w", encoding="utf-8") as data:
        for name, steps in (("uniform", uniform), ("adaptive", adaptive)):
            rows = []
            print(f"\n{name}\n{'dofs':>9} {'error/energy norm':>18} {'estimate/error':>15}")
            data.write(f"# {name}: dofs, relative energy error, effectivity\n")
            for dofs, value, estimate in steps:
                error = math.sqrt(2 * (energy - value)) / math.sqrt(2 * energy)
                if name == "adaptive" and error < 2.5 * finest / math.sqrt(2 * energy):
                    continue
                rows.append((dofs, error))
                print(f"{dofs:9d} {error:18.3e} {estimate * math.sqrt(value / energy) / error:15.2f}")
                data.write(f"{dofs} {error:.6e} {estimate * math.sqrt(value / energy) / error:.3f}\n")
            data.write("\n\n")
            tail = rows[len(rows) // 2:] if name == "adaptive" else rows[-3:]
            print(f"slope of the last {len(tail)} rows: {slope(tail):.3f}")
    if shutil.which("gnuplot"):
        script = (f"set terminal svg size 640,480; set output '{out}/fichera.svg'; set logscale; set xlabel 'degrees of freedom'; "
                  f"set ylabel 'energy error / energy norm'; set key bottom left; "
                  f"plot '{out}/fichera.dat' index 0 with linespoints title 'uniform', '' index 1 with linespoints title 'adaptive'")
        subprocess.run(["gnuplot", "-e", script], check=True)


if __name__ == "__main__":
    main()
