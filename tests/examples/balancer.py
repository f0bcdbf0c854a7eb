"""The balancer's example ends with 0, and in each of its rounds all units were done: the sum of 1/k^2 is that of all k."""
import re
import subprocess
import sys

done = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True)
rounds = re.findall(r"^round +(\d+): +(\d+) \+ +(\d+) units, .* sum ([\d.]+)$", done.stdout, re.MULTILINE)
expected = sum(1 / (k * k) for k in range(1, 600 * 2000 + 1))
assert [int(r[0]) for r in rounds] == list(range(1, 13)), done.stdout
for _, first, second, total in rounds:
    assert int(first) + int(second) == 600 and abs(float(total) - expected) < 1e-8, done.stdout
assert rounds[0][1:3] == ("300", "300") and rounds[-2][2] != "0" and rounds[-1][1:3] == ("600", "0"), done.stdout
assert "best share seen" in done.stdout, done.stdout
