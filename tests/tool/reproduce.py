"""`yoke reproduce` against the golden numbers (tests/golden/README.md)."""
import copy
import csv
import json
import math
import pathlib

from tool import SOURCE, run

GOLDEN = SOURCE / "tests/golden/models.json"
STATUSES = {"reproducible": 126, "derived": 35, "inconsistent": 44, "under-determined": 5}
NUMBERS_OF_NO_CLAIM = {"integer_optimum_is_one_of_possibly_many"}


def entries():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))["entries"]


def reproduced(*words):
    run("reproduce", *words, "--quiet", "--json", "out.json")
    return json.loads(pathlib.Path("out.json").read_text(encoding="utf-8"))


def numbers(value, path=""):
    """(path, number) of every number and truth value in a value."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from numbers(member, f"{path}/{key}" if path else key)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from numbers(member, f"{path}/{index}" if path else str(index))
    elif isinstance(value, (bool, int, float)):
        yield path, float(value)


def tolerance_of(entry, path, reference):
    """How far a number may be from a reference by the tolerance of its entry."""
    tolerance = entry["tolerance"]
    if path in tolerance:
        return tolerance[path]
    absolute = tolerance.get(f"{path}_abs", tolerance.get("abs", 0))
    return max(absolute, tolerance.get(f"{path}_rel", tolerance.get("rel", 0)) * abs(reference))


def own_tolerance(entry, path, golden):
    """How far our number may be from the golden one."""
    if "decimals" in entry:
        return 0.5000001 * 10 ** -entry["decimals"]
    if entry["status"] == "derived" and entry["tolerance"]:
        return tolerance_of(entry, path, golden)
    return max(1e-6 * abs(golden), 5e-9)  # stored with 8 decimals


def one_of_many(entry, path):
    """A distribution that is not the only best one: its units count, not who has them."""
    return isinstance(entry["recomputed"], dict) and entry["recomputed"].get("integer_optimum_is_one_of_possibly_many") \
        and path.startswith("integer_distribution/")


def entry_problems(entry, rows):
    """What is wrong with the rows of an entry, which are by their part."""
    identifier, problems = entry["id"], []
    if not rows:
        return [f"{identifier}: missing"]
    if any(row["status"] != entry["status"] for row in rows.values()):
        problems.append(f"{identifier}: status {sorted({row['status'] for row in rows.values()})}, expected {entry['status']}")
    if entry["status"] == "inconsistent" and not any(row["remark"] for row in rows.values()):
        problems.append(f"{identifier}: no remark says what is wrong")
    golden = {path: number for path, number in numbers(entry["recomputed"]) if path not in NUMBERS_OF_NO_CLAIM}
    published = dict(numbers(entry["published"]))
    for path, expected in golden.items():
        row = rows.get(path)
        if row is None or not isinstance(row["recomputed"], (bool, int, float)):
            problems.append(f"{identifier} {path}: no number")
            continue
        ours = float(row["recomputed"])
        if not one_of_many(entry, path) and not abs(ours - expected) <= own_tolerance(entry, path, expected) * (1 + 1e-9):
            problems.append(f"{identifier} {path}: {ours!r}, expected {expected!r}")
        if path not in published:
            continue
        if not isinstance(row["published"], (bool, int, float)) or not math.isclose(row["published"], published[path], rel_tol=1e-9):
            problems.append(f"{identifier} {path}: published {row['published']!r}, expected {published[path]!r}")
        if entry["status"] == "reproducible" and not abs(ours - published[path]) <= tolerance_of(entry, path, published[path]) * (1 + 1e-9):
            problems.append(f"{identifier} {path}: {ours!r} is too far from the published {published[path]!r}")
    shares = [path for path in golden if one_of_many(entry, path)]
    if shares and sum(golden[path] for path in shares) != sum(float(rows[path]["recomputed"]) for path in shares if path in rows):
        problems.append(f"{identifier}: the distribution has another number of units")
    if any(row["met"] is False for row in rows.values()):
        problems.append(f"{identifier}: not met by yoke's own account")
    return problems


def rows_of(document):
    rows = {}
    for row in document["rows"]:
        rows.setdefault(row["id"], {})[row["part"] or ""] = row
    return rows


def test_every_golden_number_is_recomputed():
    document, golden = reproduced("all"), entries()
    counts = {status: sum(entry["status"] == status for entry in golden) for status in STATUSES}
    assert counts == STATUSES, counts
    rows = rows_of(document)
    problems = [problem for entry in golden for problem in entry_problems(entry, rows.get(entry["id"], {}))]
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems)
    assert document["missed"] == 0


def test_a_number_that_is_off_would_be_noticed():
    """The comparison itself: every number of every entry that has to be met is put off, one after the other, and every entry is left out once."""
    rows, tried = rows_of(reproduced("all")), 0
    for entry in entries():
        assert entry_problems(entry, {}), f"{entry['id']} may be missing"
        good = rows[entry["id"]]
        for path, expected in numbers(entry["recomputed"]):
            if path in NUMBERS_OF_NO_CLAIM:
                continue
            bad = copy.deepcopy(good)
            off = max(4 * own_tolerance(entry, path, expected), 1e-5 * abs(expected), 1e-7)
            bad[path]["recomputed"] = float(good[path]["recomputed"]) + off
            assert entry_problems(entry, bad), f"{entry['id']} {path} may be off by {off}"
            del bad[path]
            assert entry_problems(entry, bad), f"{entry['id']} {path} may be missing"
            tried += 1
        if entry["status"] == "inconsistent":
            silent = {path: {**row, "remark": None} for path, row in good.items()}
            assert entry_problems(entry, silent), f"{entry['id']} needs no remark"
    assert tried > 600, tried


def test_the_parts_make_up_the_whole():
    whole = reproduced("all")
    parts = [reproduced(name)["rows"] for name in ("peach", "lang", "clarke")]
    assert whole["rows"] == sum(parts, [])
    assert all(parts)
    assert whole == reproduced(), "without an operand it is not all"


def within(row):
    """Whether a row is within its tolerance, worked out anew; None: it is not compared."""
    if row["kind"] in ("unchecked", "not evaluated"):
        return None
    to_check = row["kind"] == "derived" or (row["kind"] == "repeated" and row["published"] is None)
    reference, ours = float(row["check"] if to_check else row["published"]), float(row["recomputed"])
    tolerance = max(row["tolerance_absolute"], row["tolerance_relative"] * abs(reference)) + 1e-12 * abs(reference)
    return abs(ours - reference) <= tolerance and (row["check"] is None or to_check or math.isclose(ours, row["check"], rel_tol=1e-9))


def test_what_each_number_is_compared_with():
    """Kind, reasons and ways of every number; what is counted as within its tolerance is; printed numbers are counted once in an entry."""
    document, counted, counts, problems = reproduced("all"), set(), {}, []
    for row in document["rows"]:
        name, kind = f"{row['id']} {row['part']}", row["kind"]
        compared = kind in ("published", "repeated", "derived", "property")
        if not compared and kind not in ("unchecked", "not evaluated"):
            problems.append(f"{name}: kind {kind!r}")
        if compared and not (row["tolerance_reason"] and row["by"]):
            problems.append(f"{name}: no reason of its tolerance, or no way")
        if row["check"] is not None and (not row["check_by"] or row["by"] == row["check_by"]):
            problems.append(f"{name}: compared with itself")
        if kind in ("repeated", "unchecked", "not evaluated") and not row["reason"]:
            problems.append(f"{name}: no reason")
        if row["tolerance_reason"] == "half a unit of the last printed digit" and \
                (row["tolerance_relative"] or not math.log10(2 * row["tolerance_absolute"]).is_integer()):
            problems.append(f"{name}: {row['tolerance_absolute']} is no half unit")
        if row["within"] != within(row):
            problems.append(f"{name}: within is {row['within']!r}")
        if row["met"] is not None and row["met"] != row["within"]:
            problems.append(f"{name}: met is {row['met']!r}")
        if kind == "published" and row["within"]:
            if (row["id"], row["published"]) in counted:
                problems.append(f"{name}: {row['published']} is counted twice")
            counted.add((row["id"], row["published"]))
        if row["within"] is False and not (row["status"] in ("inconsistent", "under-determined") and row["met"] is None):
            problems.append(f"{name}: outside its tolerance, and nothing explains it")
        verdict = {True: "within", False: "outside", None: None}[row["within"]]
        counts[kind, verdict] = counts.get((kind, verdict), 0) + 1
    assert not problems, "\n".join(problems)
    kinds = document["kinds"]
    for kind in ("published", "repeated", "derived", "property"):
        assert kinds[kind] == {"within": counts.get((kind, "within"), 0), "outside": counts.get((kind, "outside"), 0), "missed": 0}, kind
    assert kinds["unchecked"] == counts["unchecked", None] and kinds["not_evaluated"] == counts["not evaluated", None]
    assert document["numbers"] == sum(kinds[kind]["within"] for kind in ("published", "repeated", "derived", "property"))
    assert kinds["published"]["within"] == len(counted) > 250


def test_the_summary_counts():
    document = reproduced("all")
    summary = run("reproduce", "all").stdout.rsplit("\n\n", 1)[-1].split("\n")
    kinds, text = document["kinds"], " ".join(" ".join(summary).split())
    assert summary[0] == "Numbers by what they are compared with", summary[0]
    for kind, words in (("published", "published"), ("repeated", "published, again"), ("derived", "derived"), ("property", "properties")):
        assert f" {words} {kinds[kind]['within']} of {kinds[kind]['within']} " in text, (kind, text)
    outside = sum(kinds[kind]["outside"] for kind in ("published", "repeated"))
    assert f" {outside} others are not, " in text and f" unchecked {kinds['unchecked']} " in text, text
    assert f" not evaluated {kinds['not_evaluated']} " in text, text
    guide = (SOURCE / "docs/guide/reproduce.md").read_text(encoding="utf-8")
    assert f"{kinds['published']['within']} are within their tolerances" in guide and f"{outside} comparisons are outside" in guide


def test_the_tables_are_readable():
    printed = run("reproduce", "all").stdout
    assert max(map(len, printed.splitlines())) <= 160, max(printed.splitlines(), key=len)
    for text in ("78: (1336, 2.58) +0.27 +0.71", "24.6 % of energy are saved, not 32.6 %", "20.1 % of energy are saved", "27.5 % more efficient",
                 "A printed fits, grid 2 %, P_OH=30               0  0.265  1.020 |  0  0.223  0.842", "MISSED"):
        assert (text in printed) == (text != "MISSED"), text


def test_csv_has_all_rows():
    run("reproduce", "all", "--quiet", "--json", "out.json", "--csv", "out.csv")
    rows = json.loads(pathlib.Path("out.json").read_text(encoding="utf-8"))["rows"]
    with open("out.csv", encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(rows) > 700
    for row, line in zip(rows, table):
        assert line["id"] == row["id"] and line["part"] == (row["part"] or "") and line["remark"] == (row["remark"] or "")
        assert set(line) == set(row), "the guide says that both have the same keys"
        for key in ("recomputed", "check", "tolerance_absolute", "tolerance_relative"):
            if isinstance(row[key], float):
                assert float(line[key]) == row[key], (key, line, row)


def test_what_is_printed_goes_nowhere_else():
    done = run("reproduce", "lang", "--quiet")
    assert done.stdout == "" and done.stderr == ""


def test_a_full_disk_is_an_error():
    if not pathlib.Path("/dev/full").exists():
        raise SystemExit(77)
    with open("/dev/full", "w", encoding="ascii") as full:
        assert run("reproduce", "peach", code=1, stdout=full).returncode == 1
