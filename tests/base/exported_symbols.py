#!/usr/bin/env python3
"""What libyoke.so exports, what yoke/*.h declare and what the list says must be the same, and not more than fits one's head.

    exported_symbols.py NM LIBRARY LIST HEADER...
"""
import re
import subprocess
import sys

MAX_FUNCTIONS = 86  # beside those of backend.h, which authors of devices call

def main():
    nm, library, listed, *headers = sys.argv[1:]
    output = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[2] for line in output.splitlines()}
    with open(listed, encoding="utf-8") as file:
        names = set(file.read().split())
    declared = set()
    backend = 0
    for header in headers:
        with open(header, encoding="utf-8") as file:
            found = set(re.findall(r"^YOKE_API [^;(]*?\b(yoke_\w+)\(", file.read(), re.MULTILINE))
        declared |= found
        backend += len(found) if header.endswith("backend.h") else 0
    wrong = [f"exported, but not in {listed}: {name}" for name in sorted(exported - names)]
    wrong += [f"in {listed}, but not exported: {name}" for name in sorted(names - exported)]
    wrong += [f"declared in a header, but not exported: {name}" for name in sorted(declared - exported)]
    wrong += [f"exported, but declared in no header: {name}" for name in sorted(exported - declared)]
    if len(exported) - backend > MAX_FUNCTIONS:
        wrong.append(f"{len(exported) - backend} functions beside those of backend.h are exported; at most {MAX_FUNCTIONS} shall be: merge, or make private")
    print("\n".join(wrong))
    return 1 if wrong or not exported else 0


if __name__ == "__main__":
    sys.exit(main())
