"""`yoke energy --watch` on a pipe, on a terminal, beside a command."""
import math
import os
import pathlib
import pty
import re
import signal
import statistics
import subprocess
import threading

import terminals
import tool
from energy_command import read_terminal

SERVER = ["--sysroot", tool.MACHINES / "intel-server"]


def test_a_pipe_gets_plain_lines_until_an_interrupt():
    process = tool.start("energy", *SERVER, "--watch", "0.05", "--csv", "runs.csv", "--json", "run.json")
    lines = [process.stdout.readline() for _ in range(8)]
    process.send_signal(signal.SIGINT)
    error = tool.end(process, 130)[1]
    for line in lines:
        assert re.fullmatch(r"\d+\.\d\d s(  \S+ (\S+|-) W)+( \(.*\))?\n", line) and "  total " in line and "\r" not in line, lines
    assert "the machine\n" in error and "  time: " in error, error
    rows = tool.rows()
    assert len(rows) >= 8 and {row["run"] for row in rows} == {"1"} and {row["exit_code"] for row in rows} == {""}, rows
    starts = [float(row["start_s"]) for row in rows]
    # The next interval begins where this one ends; a busy machine may stop the program between the two, or between reading a counter and the clock.
    gaps = [following - start - float(row["seconds"]) for row, start, following in zip(rows, starts, starts[1:])]
    assert abs(statistics.median(gaps)) < 0.02, gaps
    assert tool.record()["num_samples"] == len(rows) == len(tool.record()["samples"]), tool.record()


def test_the_second_is_the_default_and_options_may_follow():
    for words in (["--watch"], ["--watch", "--quiet"], ["--watch=1", "--quiet"]):
        process = tool.start("energy", *SERVER, "--csv", "/dev/stderr", *words)
        assert process.stderr.readline().startswith("run,start_s,seconds,")
        row = process.stderr.readline().split(",")
        process.send_signal(signal.SIGTERM)
        output = tool.end(process, 143)[0]
        assert float(row[2]) > 0.9 and bool(output) == ("--quiet" not in words), (row, output)


def test_a_terminal_gets_one_line_that_is_written_over():
    terminals.require()
    words = [tool.PROGRAM, "energy", *map(str, SERVER), "--watch", "0.05"]
    child, master = pty.fork()
    if child == 0:
        os.execve(words[0], words, tool.environment(TERM="xterm"))
    text = ""
    while text.count("\r\033[K") < 4:
        text += os.read(master, 4096).decode("utf-8", "replace")
    os.write(master, b"\x03")
    text += read_terminal(master)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130, text
    live = text.split("\r\033[K")[1:-1]
    assert live and all("\n" not in line and len(line) <= 80 and " s  " in line for line in live), text
    assert "  time: " in text, text


def test_nobody_who_reads_ends_watching():
    line = f"'{tool.PROGRAM}' energy --sysroot '{SERVER[1]}' --watch=0.02 2>error | head -n 2; cat error"
    done = subprocess.run(["sh", "-c", line], env=tool.environment(), capture_output=True, text=True, timeout=tool.PATIENCE_S, check=False)
    assert done.stdout.count(" total ") == 2 and "standard output cannot be written" in done.stdout, done


def test_a_full_disk_ends_watching():
    done = tool.run("energy", *SERVER, "--watch=0.02", "--csv", "/dev/full", code=1)
    assert "/dev/full could not be written" in done.stderr, done


def test_a_command_can_be_watched_and_keeps_its_output():
    done = tool.run("energy", *SERVER, "--watch=0.05", "--csv", "runs.csv", "--", "sh", "-c", "sleep 1; echo out; exit 3", code=3)
    assert done.stdout == "out\n" and done.stderr.count("  total ") >= 2 and "  time: " in done.stderr, done
    assert len(tool.rows()) >= 2, tool.rows()


def test_without_a_meter_there_is_nothing_to_watch():
    done = tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--watch", code=3)
    assert "there is no meter to watch" in done.stderr and done.stdout == "", done


def test_power_is_energy_over_time():
    machine = tool.machine("intel-server")
    zone = machine / "sys/class/powercap/intel-rapl:0/energy_uj"
    before, ended = tool.number(zone), threading.Event()

    def draw():
        used = 0
        with zone.open("r+", encoding="ascii") as file:
            while not ended.wait(0.02):
                used += 1_000_000
                os.pwrite(file.fileno(), f"{before + used}\n".encode(), 0)

    drawing = threading.Thread(target=draw, daemon=True)
    drawing.start()
    process = tool.start("energy", "--sysroot", machine, "--meter", "powercap:package-0", "--watch=0.3", "--csv", "runs.csv")
    seen = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    tool.end(process, 130)
    ended.set()
    drawing.join()
    rows = tool.rows()
    compared = 0
    for line, row in zip(seen, rows):  # an interval in which a busy machine stopped the reading has no number, and says why
        shown = re.search(r"total ([\d.]+) W", line)
        assert bool(shown) == bool(row["total_j"]), (line, row)
        if shown:
            assert math.isclose(float(shown[1]), float(row["total_j"]) / float(row["seconds"]), rel_tol=0.01, abs_tol=0.05), (line, row)
            compared += 1
    assert compared, rows
    energy = sum(float(row["total_j"] or 0) for row in rows)
    assert 0 < energy <= (tool.number(zone) - before) / 1e6 + len(rows), rows  # one interval begins just before the last one ends
    assert pathlib.Path("runs.csv").exists()
