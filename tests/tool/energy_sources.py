"""`yoke energy --source`: recorded streams of power, merged by time.  Energies are compared with exact integrals of the recorded straight lines."""
import csv
import datetime
import math
import pathlib
import random
from fractions import Fraction

import tool


def write(name, head, rows):
    pathlib.Path(name).write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return name


def merge(*words, code=0):
    sources = [word for name in words if not str(name).startswith("--") for word in ("--source", name)]
    done = tool.run("energy", *sources, *[word for name in words if str(name).startswith("--") for word in str(name).split(" ")], "--json", "run.json", code=code)
    return (tool.record(), done) if code == 0 else done


def values(record):
    return {energy["meter"]: energy["value_j"] for energy in record["energies"]}


def exact(points, first, last):
    """The integral of the straight lines between points (time, power), in whole numbers' fractions."""
    total = Fraction(0)
    for (a, p), (b, q) in zip(points, points[1:]):
        begin, end = max(a, first), min(b, last)
        if begin < end:
            slope = Fraction(q - p) / Fraction(b - a)
            total += (end - begin) * (p + slope * ((begin + end) / 2 - a))
    return total


def stream(rate, offset, seconds, seed):
    """Readings that are whole numbers of 1/1024 s and of watts, irregular in time."""
    numbers = random.Random(seed)
    points, at = [], Fraction(offset)
    while at <= offset + seconds:
        points.append((at, Fraction(numbers.randint(0, 300))))
        at += Fraction(numbers.randint(1, 2 * 1024 // rate - 1), 1024)
    return points


def test_streams_of_different_rates_and_offsets_give_the_exact_integral():
    package, card, wall = stream(100, 0, 20, 1), stream(8, Fraction(5, 4), 17, 2), stream(1, -3, 40, 3)
    assert len(package) > 10 * len(card) > 20 * len(wall)
    write("package.csv", "time_s,package_w", ((float(t), float(p)) for t, p in package))
    write("card.csv", "timestamp, power.draw [mW]", ((float(t - 1000), f"{float(1000 * p)} mW") for t, p in card))
    write("wall.csv", "t,volts,wall (W)", ((float(t), 230, float(p)) for t, p in wall))
    first, last = max(s[0][0] for s in (package, card, wall)), min(s[-1][0] for s in (package, card, wall))
    record, _ = merge("package.csv", "card.csv,offset=1000", "wall.csv")
    expected = {"package.csv:package_w": exact(package, first, last), "card.csv:power.draw": exact(card, first, last), "wall.csv:wall": exact(wall, first, last)}
    got = values(record)
    for name, energy in expected.items():
        assert math.isclose(got[name], energy, rel_tol=1e-12), (name, got, float(energy))
    assert math.isclose(record["total"]["value_j"], sum(expected.values()), rel_tol=1e-12)
    assert math.isclose(record["from_s"], first, rel_tol=1e-12) and math.isclose(record["to_s"], last, rel_tol=1e-12)
    assert math.isclose(record["seconds"], last - first, rel_tol=1e-12) and record["total"]["kind"] == "replayed"
    record, _ = merge("package.csv", "card.csv,offset=1000", "--from 3.21875", "--to 4.0")  # ends lie between readings
    assert math.isclose(record["total"]["value_j"], sum(exact(s, Fraction(103, 32), 4) for s in (package, card)), rel_tol=1e-12)


def test_a_smooth_power_is_approached_with_the_square_of_the_rate():
    """100 + 50 sin t from 0 to 3: 300 + 50 (1 - cos 3) J.  The trapezoid rule errs by h^2/12 times the difference of the slopes at the ends."""
    truth, errors = 300 + 50 * (1 - math.cos(3)), []
    for steps in (30, 60):
        write("p.csv", "time_s,p_w", ((3 * i / steps, repr(100 + 50 * math.sin(3 * i / steps))) for i in range(steps + 1)))
        record, _ = merge("p.csv")
        errors.append(record["total"]["value_j"] - truth)
        assert abs(errors[-1]) <= record["total"]["uncertainty_j"]
        assert math.isclose(errors[-1], (3 / steps) ** 2 / 12 * 50 * (math.cos(3) - 1), rel_tol=1e-3)
    assert math.isclose(errors[0] / errors[1], 4, rel_tol=1e-2)


def test_the_merged_rows_are_the_streams_and_can_be_read_again():
    write("a.csv", "time_s,a_w", [(0, 10), (1, 20), (2, 20), (4, 0)])
    write("b.csv", "time_s,b_w", [(0.5, 100), (2.5, 100), (3.5, 200)])
    record, _ = merge("a.csv", "b.csv", "--csv merged.csv")
    with open("merged.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(float(row["start_s"]), float(row["seconds"])) for row in rows] == [(0, 0.5), (0.5, 1), (1.5, 0.5), (2, 1)]
    assert [float(row["a.csv:a_w_j"]) for row in rows] == [8.75, 20, 8.75, 10] and [float(row["b.csv:b_w_j"]) for row in rows] == [50, 100, 50, 150]
    assert [float(row["total_j"]) for row in rows] == [58.75, 120, 58.75, 160] and record["total"]["value_j"] == 397.5
    assert [sample["total_j"] for sample in record["samples"]] == [58.75, 120, 58.75, 160]
    again, _ = merge("merged.csv")
    assert again["total"]["value_j"] == 397.5 and again["seconds"] == 3
    half, _ = merge("merged.csv", "--from 1", "--to 2.5")  # half of the second row, the third, half of the fourth
    assert half["total"]["value_j"] == 60 + 58.75 + 80 and half["total"]["uncertainty_j"] == 60 + 80


def test_nothing_is_written_over_what_was_recorded():
    write("a.csv", "time_s,a_w", [(0, 10), (1, 20)])
    before = pathlib.Path("a.csv").read_bytes()
    assert "--source and --csv both name a.csv" in merge("a.csv,gap=10", "--csv a.csv", code=2).stderr
    assert "--csv and --json both name run.json" in merge("a.csv", "--csv run.json", code=2).stderr
    assert pathlib.Path("a.csv").read_bytes() == before


def test_what_yoke_energy_watched_is_a_source():
    done = tool.run("energy", "--declare", "idle=20,busy=60", "--watch", "0.05", "--csv", "watch.csv", "--json", "run.json", "--quiet", "--", "sleep", "0.4")
    samples = [s for s in tool.record()["samples"] if s["total_j"] is not None]
    assert len(samples) >= 2, done.stderr
    assert samples[0]["start_s"] > 0  # the first interval is metered from when the command had been started
    record, _ = merge("watch.csv,gap=10")  # on a busy machine
    # An interval begins about where the one before ends: what both have counts once, and between them the power stays.
    parts = [after["start_s"] - s["start_s"] for s, after in zip(samples, samples[1:])] + [samples[-1]["seconds"]]
    expected = sum(s["total_j"] * part / s["seconds"] for s, part in zip(samples, parts))
    assert math.isclose(record["total"]["value_j"], expected, rel_tol=1e-6), (record["total"], samples)


def test_a_gap_leaves_no_number_and_is_named():
    write("a.csv", "time_s,a_w", [(i / 10, 10) for i in range(50)] + [(20 + i / 10, 10) for i in range(50)])
    write("b.csv", "time_s,b_w", [(i, 7) for i in range(26)])
    record, done = merge("a.csv", "b.csv")
    energies = {energy["meter"]: energy for energy in record["energies"]}
    assert record["total"]["value_j"] is None and record["mean_power_w"] is None and energies["a.csv:a_w"]["value_j"] is None
    assert energies["a.csv:a_w"]["why_not"] == "a.csv:a_w: nothing is recorded from 4.9 to 20 s" == record["total"]["why_not"]
    assert energies["b.csv:b_w"]["value_j"] == 7 * (24.9 - 0) and "not metered (a.csv:a_w: nothing is recorded from 4.9 to 20 s)" in done.stderr
    assert [s["total_j"] is None for s in record["samples"]].count(True) == 16  # the seconds of b between 4.9 and 20
    record, _ = merge("a.csv", "b.csv", "--from 0", "--to 4.9")
    assert math.isclose(record["total"]["value_j"], 17 * 4.9)
    record, _ = merge("a.csv,gap=16", "b.csv")
    assert math.isclose(record["total"]["value_j"], 17 * 24.9)
    record, _ = merge("a.csv", "--from -1", "--to 3")
    assert record["total"]["value_j"] is None and "from -1 to 0 s" in record["total"]["why_not"]


def test_failed_readings_are_left_out_and_never_zero():
    write("a.csv", "time_s,a_w", [(0, 10), (1, "[N/A]"), (2, "-"), (3, ""), (4, 30)])
    record, _ = merge("a.csv,gap=10")
    assert record["total"]["value_j"] == 80  # the straight line from 10 to 30 W
    assert "all readings are further apart than the gap" in merge("a.csv,gap=3.9", code=2).stderr


def test_a_counter_counts_on_over_a_gap_and_may_be_split():
    write("c.csv", "time_s,package_uj", [(0, 5e6), (1, 15e6), (100, 1005e6)])
    record, _ = merge("c.csv")
    assert record["total"]["value_j"] == 1000 and record["total"]["uncertainty_j"] == 0
    record, _ = merge("c.csv", "--from 0.25", "--to 1")
    assert record["total"]["value_j"] == 7.5 and record["total"]["uncertainty_j"] == 7.5  # all of the 10 J, or nothing


def test_dates_are_seconds_of_utc():
    start = datetime.datetime(2026, 2, 28, 23, 59, 59, tzinfo=datetime.timezone.utc)
    epoch = int(start.timestamp())
    write("g.csv", "timestamp, power.draw [W]", [("2026/02/28 23:59:59.500", " 50.00 W"), ("2026/03/01 00:00:01.500", " 70.00 W")])
    write("z.csv", "time,p_w", [("2026-03-01T01:59:59+02:00", 1), ("2026-03-01 00:00:02Z", 1)])
    write("s.csv", "time_s,p_w", [(epoch, 3), (epoch + 4, 3)])
    record, _ = merge("g.csv", "z.csv", "s.csv")
    assert (record["from_s"], record["to_s"]) == (epoch + 0.5, epoch + 2.5) and record["total"]["value_j"] == 120 + 2 + 6


def test_columns_are_chosen_and_a_sum_does_not_count_twice():
    write("a.csv", "time_s,cpu_w,dram_w,total_w", [(0, 10, 2, 12), (1, 10, 2, 12)])
    assert "a.csv:1: column total_w seems to be the sum of others" in merge("a.csv", code=2).stderr
    for words, expected in (("a.csv,column=total_w", 12), ("a.csv,column=cpu_w,column=dram_w", 12), ("a.csv,column=dram_w,offset=5", 2)):
        record, _ = merge(words)
        assert record["total"]["value_j"] == expected
    pathlib.Path("odd,offset.csv").write_text(pathlib.Path("a.csv").read_text(encoding="utf-8"), encoding="utf-8")
    record, _ = merge("odd,offset.csv,column=cpu_w")
    assert record["total"]["value_j"] == 10
    assert "column=gpu_w: there is no such column" in merge("a.csv,column=gpu_w", code=2).stderr


def test_bad_files_are_refused_with_their_place():
    good = "time_s,a_w\n0,1\n1,1\n"
    for text, message in (
            ("", "bad.csv is empty"),
            ("# only\n\n", "bad.csv is empty"),
            ("a_w,b_w\n1,2\n", "bad.csv:1: no column of time in the head"),
            ("time_s,temperature\n1,2\n", "bad.csv:1: no column of power or energy in the head"),
            ("time_s,a_w\n", "column a_w has 0 readings; a stream has at least two"),
            ("time_s,a_w\n0,1\n", "column a_w has 1 readings"),
            (good + "2\n", "bad.csv:4: 1 fields; the head has 2 columns: the line may be cut"),
            (good + "1,5\n", 'bad.csv:4: time "1"; expected one that is later'),
            (good + "0.5,5\n", 'bad.csv:4: time "0.5"; expected one that is later'),
            (good + "nan,5\n", 'bad.csv:4: time "nan"; expected seconds'),
            (good + "inf,5\n", 'bad.csv:4: time "inf"; expected seconds'),
            (good + "1e300,5\n", 'bad.csv:4: time "1e300"; expected at most 1e12 s'),
            (good + "2026/13/01 00:00:00,5\n", 'bad.csv:4: time "2026/13/01 00:00:00"; expected seconds'),
            (good + "2,five\n", 'bad.csv:4: a_w "five"; expected a number'),
            (good + "2,0x10\n", 'bad.csv:4: a_w "0x10"; expected a number'),
            (good + "2,inf\n", 'bad.csv:4: a_w "inf"; expected a number'),
            (good + "2,5 J\n", 'bad.csv:4: a_w "5 J"; expected a number'),
            (good + "2,-5\n", 'bad.csv:4: a_w "-5"; expected a power from 0'),
            (good + "2,1e200\n", 'bad.csv:4: a_w "1e200"; expected a power from 0'),
            ("time_s,a_j\n0,5\n1,4\n", "bad.csv:3: a_j \"4\"; expected an energy that is not less"),
            ("time_s,a_w\n0,1\0\n", "bad.csv:2: a zero byte"),
            ("time_s,a_w\n" + "9" * 70000, "bad.csv:2: a zero byte, or a line of more than"),
            ("t," * 300 + "a_w\n", "bad.csv:1: more than 256 columns"),
            ("run,start_s,seconds,total_j\n1,0,1,5\n1,0,1,5\n", 'bad.csv:3: start_s "0"; expected one that is later'),
            ("run,start_s,seconds,total_j\n1,0,-1,5\n", 'bad.csv:2: seconds "-1"; expected more than 0'),
            ("run,start_s,seconds,total_j\n1,0,1,\n", "bad.csv: no row has an energy in total_j")):
        pathlib.Path("bad.csv").write_text(text, encoding="utf-8")
        done = merge("bad.csv", code=2)
        assert message in done.stderr, (text[:60], message, done.stderr)
    assert "missing.csv cannot be opened: No such file" in merge("missing.csv", code=2).stderr
    assert "cannot be read: Is a directory" in merge("/", code=2).stderr


def test_what_does_not_go_together_is_refused():
    write("a.csv", "time_s,a_w", [(0, 1), (1, 1)])
    write("b.csv", "time_s,b_w", [(5, 1), (6, 1)])
    assert "the streams have no time in common: a.csv:a_w ends at 1 s, and b.csv:b_w begins at 5 s; FILE,offset=S" in merge("a.csv", "b.csv", code=2).stderr
    assert "from 1 to 0.5 s is no interval" in merge("a.csv", "--from 1", "--to 0.5", code=2).stderr
    assert "--from nan" in merge("a.csv", "--from nan", code=2).stderr
    assert "offset" in merge("a.csv,offset=far", code=2).stderr
    assert "nothing is measured" in tool.run("energy", "--source", "a.csv", "--", "true", code=125).stderr
    assert "--from and --to are times of recorded streams" in tool.run("energy", "--from", "1", "--", "true", code=125).stderr
    assert "at most 16 files" in merge(*["a.csv"] * 17, code=2).stderr
