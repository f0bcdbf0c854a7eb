"""docs/man/yoke.1 is whole: it names every command, option word and benchmark that the programs name, and the pages of the commands."""
import re

import tool

PAGE = (tool.SOURCE / "docs/man/yoke.1").read_text(encoding="utf-8")


def said(line):
    """A line of roff without its requests and marks."""
    return re.sub(r"\\f[BIRP]", "", re.sub(r"^\.\w+ ?", "", line)).replace("\\-", "-").replace('"', "")


TEXT = [said(line) for line in PAGE.splitlines()]


def listed(*command):
    """The first words of the list that a command prints."""
    return re.findall(r"^  (\S+) +\S", tool.run(*command).stdout, re.MULTILINE)


def paragraph(heading):
    """The lines below the .TP whose heading begins so, up to the next .TP or section."""
    below = PAGE.partition(f"\n.TP\n{heading}")[2]
    assert below, f"the page does not explain {heading!r}"
    return re.split(r"^\.(?:TP|SH)", below, flags=re.MULTILINE)[0]


def test_every_line_is_text_or_a_request():
    for line in PAGE.splitlines():
        assert re.match(r"\.(TH|SH|TP|PP|B|I|BR|BI|RB|RI|IR|IB) ?|[^<>=|.']", line), f"no text and no request: {line!r}"


def test_every_command_is_explained_and_has_a_page():
    commands = listed("--help")
    assert len(commands) > 5
    for command in commands:
        assert re.search(rf"^\.TP\n\.\w+ \"?{command}\b", PAGE, re.MULTILINE), f"{command} is not explained"
        assert f"yoke-{command} (1)," in TEXT or f"yoke-{command} (1)" in TEXT, f"yoke-{command}(1) is not named"


def test_every_benchmark_is_named():
    words = [said(line) for line in paragraph(".BI bench ").splitlines()]
    names = listed("bench")
    assert len(names) > 10
    for name in names:
        assert name in words, f"the benchmark {name} is not named"


def test_options_of_energy_are_all_explained():
    options = re.findall(r"^  (--\w[\w-]*)", tool.run("energy", "--help").stdout, re.MULTILINE)
    assert len(options) > 10
    for option in options:
        assert option[2:] in PAGE.replace("\\-", "-"), f"{option} of yoke energy is not explained"


def test_options_of_fmm_are_all_explained():
    common = {"--json", "--quiet", "--help", "--version"}  # of every command
    options = set(re.findall(r"^  (--\w[\w-]*)", tool.run("fmm", "--help").stdout, re.MULTILINE)) - common
    assert len(options) > 30
    section = PAGE.partition("\n.SH FMM\n")[2].partition("\n.SH ")[0]
    explained = set(re.findall(r"^\.TP\n\.\w+ (--\S+)", section.replace("\\-", "-"), re.MULTILINE))
    assert explained == options, f"not explained: {options - explained}; no options of yoke fmm: {explained - options}"
