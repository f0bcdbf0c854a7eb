#!/usr/bin/env python3
"""Sizes, offsets and values of what yoke/*.h and yoke_fmm.h show of structs and enumerations are those of a table, which stands for one version of the interface.

    struct_layout.py COMPILER INCLUDE_DIRECTORY TABLE             compares
    struct_layout.py COMPILER INCLUDE_DIRECTORY TABLE --write     writes the table anew
    struct_layout.py COMPILER INCLUDE_DIRECTORY TABLE --self-test changes copies of the headers, and shows that each change is seen

A program that was built with another layout would read wrong numbers.  So a released layout changes together with YOKE_INTERFACE (yoke/core.h) only: the first
line of the table says which interface it is of, and whether that was released.  Until then --write is enough.  Exit status 77: the table is for 64 bits.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MEMBER = re.compile(r"(?:\(\s*\*\s*(?P<function>\w+)\s*\)\s*\(.*\)|(?P<name>\w+)\s*(?:\[[^\]]*\]\s*)*)$", re.DOTALL)


def split(text, separator):
    """Parts between separators that are in no bracket."""
    parts, depth, begin = [], 0, 0
    for at, c in enumerate(text):
        depth += (c in "({[") - (c in ")}]")
        if c == separator and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [part for part in [*parts, text[begin:].strip()] if part]


def members(body, prefix=""):
    """Names and types of the members of a struct, those of structs and unions inside with the name before them."""
    found = []
    for declaration in split(" ".join(body.split()), ";"):
        inner = re.match(r"(?:struct|union)\s*\{(.*)\}\s*(\w+)$", declaration, re.DOTALL)
        if inner:
            found += [(prefix + inner[2], declaration.split()[0]), *members(inner[1], prefix + inner[2] + ".")]
            continue
        base = None  # the type that all declarators begin with
        for declarator in split(declaration, ","):
            match = MEMBER.search(declarator)
            if not match:
                sys.exit(f"struct_layout.py does not understand the member '{declarator}'")
            before = declarator[:match.start()].strip()
            stars = before[len(before.rstrip("* ")):] if base is None else before
            base = before.rstrip("* ") if base is None else base
            kind = "function" if match["function"] else (base + " " + stars.replace(" ", "")).strip()
            found.append((prefix + (match["function"] or match["name"]), kind))
    return found


def probe(headers):
    """The program that prints the table."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", *[f'#include "{header.resolve()}"' for header in headers], "int main(void)", "{",
             "    if (sizeof(void *) != 8) return 77;", '    printf("interface %d\\n", YOKE_INTERFACE);']
    for header in headers:
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"^\s*#.*(?:\\\n.*)*", "", text, flags=re.MULTILINE)
        for kind, name, body in re.findall(r"\b(struct|enum)\s+(yoke_\w+)\s*\{((?:[^{}]|\{[^{}]*\})*)\}", text) + [
                ("enum", "", body) for body in re.findall(r"\benum\s*\{([^}]*)\}", text)]:
            if kind == "enum":
                lines.append(f'    printf("enum {name or "of " + header.name}\\n");')
                for constant in split(body, ","):
                    lines.append(f'    printf("  {constant.split()[0]} %d\\n", (int){constant.split()[0]});')
                continue
            lines.append(f'    printf("struct {name} %zu\\n", sizeof(struct {name}));')
            for member, kind in members(body):
                lines.append(f'    printf("  {member} %zu %zu {kind}\\n", offsetof(struct {name}, {member}), sizeof(((struct {name} *)0)->{member}));')
    return "\n".join([*lines, "    return 0;", "}", ""])


def layout(compiler, include):
    """The lines of the table, or None where it is not for this machine."""
    with tempfile.TemporaryDirectory() as directory:
        source, program = pathlib.Path(directory, "probe.c"), pathlib.Path(directory, "probe")
        headers = [header for header in sorted(pathlib.Path(include, "yoke").glob("*.h")) if header.name not in ("yoke.h", "dialect.h")]
        headers += sorted(pathlib.Path(include).glob("*.h"))
        source.write_text(probe(headers), encoding="utf-8")
        subprocess.run([compiler, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-I", include, source, "-o", program], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
    return None if done.returncode == 77 else done.stdout.splitlines()


def read(table):
    """Interface, whether it was released, and the lines below."""
    with open(table, encoding="utf-8") as file:
        first, *lines = file.read().splitlines()
    words = re.fullmatch(r"(interface \d+) (released|not released)", first)
    if not words:
        sys.exit(f"{table}: its first line must be 'interface NUMBER released' or '... not released', not '{first}'")
    return words[1], words[2] == "released", lines


def differences(old, new):
    """Where the tables differ, with the struct or enumeration."""
    def entries(lines):
        group, found = "", {}
        for line in lines:
            if line.startswith("  "):
                found[f"{group}: {line.split()[0]}"] = line.split(maxsplit=1)[1]
            else:
                group = " ".join(line.split()[:2])
                found[line if line.startswith("enum") else group] = " ".join(line.split()[2:])
        return found
    before, after = entries(old), entries(new)
    return [f"{name}: {before.get(name, 'not there')} -> {after.get(name, 'not there')}" for name in sorted(before.keys() | after.keys())
            if before.get(name) != after.get(name)]


def compare(compiler, include, table):
    """What is wrong, one text each; None: not for this machine."""
    found = layout(compiler, include)
    if found is None:
        return None
    interface, released, lines = read(table)
    changed = differences(lines, found[1:])
    if not changed and interface == found[0]:
        return []
    if released and interface == found[0]:
        return [*changed, f"{interface} was released with another layout: raise YOKE_VERSION_MINOR in yoke/core.h, then write the table (--write)"]
    return [*changed, f"the table is of {interface}, the headers are of {found[0]}: write it anew (tests/base/struct_layout.py cc include {table} --write)"]


def write(compiler, include, table):
    found = layout(compiler, include)
    interface, released, lines = read(table)
    if released and interface == found[0] and lines != found[1:]:
        sys.exit(f"{interface} was released with another layout: raise YOKE_VERSION_MINOR in yoke/core.h first")
    state = "released" if released and interface == found[0] else "not released"
    with open(table, "w", encoding="utf-8") as file:
        file.write("\n".join([f"{found[0]} {state}", *found[1:], ""]))


def self_test(compiler, include, table):
    """Each of these changes of a header must be seen: file, old text, new text, what the message names."""
    cases = [("run.h", "double time_s, energy_j, peak_power_w;", "double energy_j, time_s, peak_power_w;", "struct yoke_cost: time_s"),
             ("model.h", "int64_t repeats,", "int32_t repeats,", "struct yoke_sample: repeats"),
             ("balancer.h", "    double energy_j;", "    double energy_j, power_w;", "struct yoke_share_report: power_w: not there ->"),
             ("meter.h", "    double period_s;", "    int64_t period_s;", "struct yoke_meter_info: period_s: 1272 8 double -> 1272 8 int64_t"),
             ("core.h", "YOKE_ERROR_INPUT = 3", "YOKE_ERROR_INPUT = 30", "enum yoke_status: YOKE_ERROR_INPUT: 3 -> 30"),
             ("device.h", "        int32_t int32;", "        int64_t int32;", "struct yoke_argument: value.int32"),
             ("core.h", "#define YOKE_VERSION_MINOR 1", "#define YOKE_VERSION_MINOR 2", "the headers are of interface 2")]
    with tempfile.TemporaryDirectory() as directory:
        copy, released = pathlib.Path(directory, "include"), pathlib.Path(directory, "table.txt")
        with open(table, encoding="utf-8") as file:
            released.write_text(file.read().replace("not released", "released", 1), encoding="utf-8")
        for name, old, new, expected in cases:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(include, copy)
            header = copy / "yoke" / name
            text = header.read_text(encoding="utf-8")
            if text.count(old) != 1:
                return [f"{name} has '{old}' {text.count(old)} times: the case needs another"]
            header.write_text(text.replace(old, new), encoding="utf-8")
            said = compare(compiler, str(copy), str(released))
            if said is None:
                return None
            if not any(expected in line for line in said):
                return [f"'{new}' in {name} was not seen; said: {said}"]
            if "VERSION" not in new and "was released with another layout" not in said[-1]:
                return [f"'{new}' in {name}: a released layout may not change so; said: {said[-1]}"]
    return []


def main():
    compiler, include, table, *mode = sys.argv[1:]
    if mode == ["--write"]:
        return write(compiler, include, table)
    wrong = (self_test if mode == ["--self-test"] else compare)(compiler, include, table)
    if wrong is None:
        print("left out: the table is for 64 bits")
        return 77
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
