#!/usr/bin/env python3
"""What libyoke.so (or libyoke_fmm.so) exports, what yoke/*.h (or yoke_fmm.h) declare and what the list says must be the same, and not more than fits one's head; and every function has a caller.

    exported_symbols.py NM LIBRARY LIST SOURCE_DIRECTORY HEADER...
"""
import pathlib
import re
import subprocess
import sys

MAX_FUNCTIONS = 87  # beside those of backend.h, which authors of devices call

# Programs that ship: what none of them calls is private.  Benchmarks are no reason for a function, nor are tests.
CALLERS = ("tool", "apps", "examples")


def code_of(path):
    """The text of a C file without its comments."""
    return re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.DOTALL)


def declarations(headers):
    """The functions that the headers declare, those of backend.h, and the names that inline functions and macros use."""
    declared, backend, used = set(), set(), set()
    for header in headers:
        text = code_of(header)
        declaration = r"^YOKE_API [^;(]*?\b(yoke_\w+)\([^;]*;"
        found = set(re.findall(declaration, text, re.MULTILINE))
        declared |= found
        backend |= found if header.endswith("backend.h") else set()
        used |= set(re.findall(r"\byoke_\w+", re.sub(declaration, "", text, flags=re.MULTILINE)))
    return declared, backend, used


def called(source):
    """All names in the programs that ship."""
    names = set()
    for room in CALLERS:
        for path in pathlib.Path(source, room).rglob("*.[ch]"):
            names |= set(re.findall(r"\byoke_\w+", code_of(path)))
    return names


def main():
    nm, library, listed, source, *headers = sys.argv[1:]
    output = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[2] for line in output.splitlines()}
    with open(listed, encoding="utf-8") as file:
        names = set(file.read().split())
    declared, backend, used = declarations(headers)
    idle = exported - backend - used - called(source)
    wrong = [f"exported, but not in {listed}: {name}" for name in sorted(exported - names)]
    wrong += [f"in {listed}, but not exported: {name}" for name in sorted(names - exported)]
    wrong += [f"declared in a header, but not exported: {name}" for name in sorted(declared - exported)]
    wrong += [f"exported, but declared in no header: {name}" for name in sorted(exported - declared)]
    wrong += [f"no program that ships calls {name}: make it private, or show it in an example" for name in sorted(idle)]
    if len(exported - backend) > MAX_FUNCTIONS:
        wrong.append(f"{len(exported - backend)} functions beside those of backend.h are exported; at most {MAX_FUNCTIONS} shall be: merge, or make private")
    print("\n".join(wrong))
    return 1 if wrong or not exported else 0


if __name__ == "__main__":
    sys.exit(main())
