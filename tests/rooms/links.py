#!/usr/bin/env python3
"""Checks that the documents' links lead somewhere, and that pages named in sources and messages exist.

    links.py DIRECTORY       checks a source tree; prints file:line: what is wrong
    links.py --self-test     checks that every kind of broken link is found
"""
import os
import pathlib
import re
import sys
import tempfile

LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
PAGE = re.compile(r"\bdocs/[\w/.-]+\.md\b")
SOURCES = {".c", ".h", ".py", ".yaml", ".json", ".txt", ".cmake", ".1", ".sh", ""}
LEFT_OUT = {"build", ".git", "out"}


def anchors(page):
    """The anchors of a page's headings, made as GitHub makes them."""
    found = set()
    for line in page.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"#+\s+(.*)", line):
            text = re.sub(r"[^\w\- ]", "", match[1].lower())
            found.add(text.strip().replace(" ", "-"))
    return found


def broken_links(page, line):
    for target, anchor in LINK.findall(line):
        if re.match(r"[a-z]+:", target):
            continue
        to = page.parent / target if target else page
        if not to.exists():
            yield f"there is no {target}"
        elif anchor and to.suffix == ".md" and anchor not in anchors(to):
            yield f"{target or 'this page'} has no heading #{anchor}"


def tree_files(tree):
    for directory, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        yield from (pathlib.Path(directory, name) for name in names)


def check(tree):
    wrong, count = [], 0
    for file in sorted(tree_files(tree)):
        if file.suffix != ".md" and (file.suffix not in SOURCES or file.name == "links.py"):
            continue
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (UnicodeDecodeError, OSError):  # a picture, or a link of a recorded machine that leads nowhere here
            continue
        name = file.relative_to(tree)
        for number, line in enumerate(lines, 1):
            problems = [f"there is no {page}" for page in PAGE.findall(line) if file.suffix != ".md" and not (tree / page).exists()]
            if file.suffix == ".md":
                count += 1
                problems += broken_links(file, line)
            wrong += [f"{name}:{number}: {problem}" for problem in problems]
    return wrong, count


def self_test():
    pages = {
        "README.md": "# A tour\n[right](docs/a.md#the-first-one) [other](https://example.org/x#y) [here](#a-tour)\n[wrong](docs/b.md)\n[no](docs/a.md#second)\n",
        "docs/a.md": "## The first one\n[up](../README.md)\n[up](README.md)\n",
        "src/a.c": "/* docs/a.md */\n/* docs/c.md */\n",
    }
    with tempfile.TemporaryDirectory() as directory:
        tree = pathlib.Path(directory)
        for path, text in pages.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text, encoding="utf-8")
        wrong, _ = check(tree)
    expected = ["README.md:3: ", "README.md:4: ", "docs/a.md:3: ", "src/a.c:2: "]
    return [] if len(wrong) == len(expected) and all(map(str.startswith, wrong, expected)) else [f"expected {expected}, found {wrong}"]


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
    else:
        wrong, count = check(pathlib.Path(sys.argv[1]))
        if count == 0:
            wrong.append(f"{sys.argv[1]}: no documents found")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
