"""The model's example measures eight sizes, and says a prediction with its uncertainty beside a measurement."""
import re
import subprocess
import sys

NUMBER = r"([\d.]+|nan)"
done = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True)
sizes = re.findall(rf"^ *(\d+) rows: +{NUMBER} us \+- {NUMBER} % \((\d+) calls, \d+ outliers\)$", done.stdout, re.MULTILINE)
assert [int(s[0]) for s in sizes] == [16, 64, 128, 256, 512, 1024, 2048, 4096], done.stdout
assert all(float(s[1]) > 0 and int(s[3]) >= 1 for s in sizes), done.stdout
assert re.search(r"^model: (constant|affine|piecewise|akima), [\d.]+ % off on samples held out$", done.stdout, re.MULTILINE), done.stdout
found = re.search(rf"^ *1500 rows: predicted {NUMBER} \+- {NUMBER} us, measured {NUMBER} us, [+-][\d.]+ %$", done.stdout, re.MULTILINE)
assert found, done.stdout
# No times are asserted: but what was fitted to sizes on both sides is of their order.
assert float(sizes[3][1]) < 10 * float(found[1]) and float(found[1]) < 10 * float(sizes[7][1]), done.stdout
