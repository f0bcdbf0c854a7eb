"""`yoke energy -- COMMAND` leaves the command alone: its streams, environment, signals and exit status."""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess

import terminals
import tool

VIRTUAL = ["--sysroot", tool.MACHINES / "virtual-machine"]
COUNT_SIGNALS = """
import os, signal, sys, time
count = 0
def note(number, frame):
    global count
    count += 1
signal.signal(int(sys.argv[1]), note)
open("ready", "w").close()
until = time.monotonic() + 60
while count == 0 and time.monotonic() < until:
    time.sleep(0.01)
time.sleep(0.3)
print("came", count, flush=True)
sys.exit(42)
"""


def energy(*words, **more):
    return tool.run("energy", *VIRTUAL, *words, **more)


def test_the_exit_status_is_the_commands():
    for code in (0, 1, 2, 3, 42, 125, 126, 127, 128, 130, 255):
        done = energy("--", "sh", "-c", f"exit {code}", code=code)
        assert "  time: " in done.stderr, done


def test_a_command_that_a_signal_ends_ends_yoke_by_the_same():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE, signal.SIGHUP):
        done = energy("--", "sh", "-c", f"kill -{number.value} $$", code=-number)
        assert "  time: " in done.stderr, done


def test_what_is_not_found_is_127():
    for command in ("no-such-command-anywhere", "./no-such-command", "/no/such/directory/command"):
        done = energy("--", command, code=127)
        assert f"{command} cannot be executed: No such file or directory" in done.stderr, done


def test_what_cannot_be_executed_is_126():
    pathlib.Path("directory").mkdir()
    pathlib.Path("plain.txt").write_text("no program", encoding="ascii")
    pathlib.Path("plain.txt").chmod(0o644)
    for command in ("./directory", "./plain.txt", "/dev/null"):
        done = energy("--", command, code=126)
        assert f"{command} cannot be executed: " in done.stderr, done


def test_failures_of_yoke_itself_are_125():
    for options in (["--frobnicate"], ["--repeat", "0"], ["--json", "missing/run.json"], ["--csv", "."], ["--sysroot", "missing"]):
        done = tool.run("energy", *options, "--", "touch", "ran", code=125)
        assert "error: " in done.stderr and not pathlib.Path("ran").exists(), done
    assert "a command is missing" in tool.run("energy", "--", code=125).stderr
    assert "a command is missing" in tool.run("energy", code=2).stderr
    assert "unexpected argument sleep" in tool.run("energy", "sleep", "1", code=2).stderr


def test_a_script_without_a_shell_in_its_first_line_runs_as_a_shell_would_run_it():
    path = pathlib.Path("script")
    path.write_text("echo $1, $2\nexit 9\n", encoding="ascii")
    path.chmod(0o755)
    assert energy("--", "./script", "one", "two three", code=9).stdout == "one, two three\n"
    inherited = tool.environment(PATH=f"{os.getcwd()}:{os.environ['PATH']}")
    assert energy("--", "script", "in PATH", code=9, env=inherited).stdout == "in PATH,\n"


def test_streams_pass_through():
    done = energy("--", "sh", "-c", "cat; echo to-stderr >&2", stdin=None, input="to-stdin")
    assert done.stdout == "to-stdin", done
    assert "to-stderr\n" in done.stderr and "  time: " in done.stderr, done
    assert energy("--quiet", "--", "sh", "-c", "echo out; echo err >&2").stderr == "err\n"


def test_the_command_inherits_no_files():
    inherited = tool.machine("intel-server")
    listing = tool.python("import os; print(sorted(f for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)))")
    plain = subprocess.run(listing, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    done = tool.run("energy", "--sysroot", inherited, "--csv", "runs.csv", "--json", "run.json", "--", *listing)
    assert done.stdout == plain, (done.stdout, plain)


def test_environment_and_signals_are_as_without_yoke():
    looks = (["env"], ["grep", "-E", "SigBlk|SigIgn", "/proc/self/status"])
    own = 0x180000000  # signals 32 and 33 are the C library's; its posix_spawn leaves them ignored

    def plainly(text):
        return re.sub(r"(?<=:\t)[0-9a-f]{16}", lambda mask: hex(int(mask[0], 16) & ~own), text)

    def prepare():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

    for setup in (None, prepare):
        for variables in (tool.environment(), {**tool.environment(), "YOKE_SYSROOT": str(tool.MACHINES / "intel-server")}):
            for look in looks:
                plain = subprocess.run(look, capture_output=True, text=True, check=True, env=variables, preexec_fn=setup).stdout
                done = energy("--json", "run.json", "--", *look, env=variables, preexec_fn=setup)
                assert plain and plainly(done.stdout) == plainly(plain), (done.stdout, plain)


def test_signals_are_handed_on_and_the_report_is_printed():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        pathlib.Path("ready").unlink(missing_ok=True)
        process = tool.start("energy", *VIRTUAL, "--", *tool.python(COUNT_SIGNALS, number.value))
        tool.wait_for("the command", pathlib.Path("ready").exists, process)
        process.send_signal(number)
        output, error = tool.end(process, 42)
        assert output == "came 1\n" and "  time: " in error, (output, error)


def test_a_signal_that_ends_the_command_ends_yoke_after_the_report():
    process = tool.start("energy", *VIRTUAL, "--json", "run.json", "--", "sh", "-c", "touch ready; exec sleep 100")
    tool.wait_for("the command", pathlib.Path("ready").exists, process)
    process.send_signal(signal.SIGTERM)
    error = tool.end(process, -signal.SIGTERM)[1]
    assert "  time: " in error, error
    assert tool.record()["exit_code"] == 143 and tool.record()["signal"] == 15, tool.record()


def read_terminal(master):
    """All that comes until the other side is closed."""
    text = b""
    while select.select([master], [], [], tool.PATIENCE_S)[0]:
        try:
            got = os.read(master, 4096)
        except OSError:
            break
        if not got:
            break
        text += got
    return text.decode("utf-8", "replace")


def test_ctrl_c_of_a_terminal_reaches_the_command_once():
    terminals.require()
    words = [tool.PROGRAM, "energy", *map(str, VIRTUAL), "--", *tool.python(COUNT_SIGNALS, signal.SIGINT.value)]
    child, master = pty.fork()
    if child == 0:
        os.execve(words[0], words, tool.environment(TERM="xterm"))
    tool.wait_for("the command", pathlib.Path("ready").exists)
    os.write(master, b"\x03")
    text = read_terminal(master)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42, text
    assert "came 1" in text and "time: " in text, text


def test_a_closed_or_full_standard_error_changes_nothing():
    with open("/dev/full", "w", encoding="ascii") as full:
        assert energy("--", "sh", "-c", "echo out; exit 5", stderr=full, code=5).stdout == "out\n"
    done = subprocess.run(["sh", "-c", f"'{tool.PROGRAM}' energy --sysroot '{VIRTUAL[1]}' -- sh -c 'exit 6' 2>&-"], env=tool.environment(), check=False)
    assert done.returncode == 6, done
    read, write = os.pipe()
    os.close(read)
    energy("--", "sh", "-c", "exit 7", stderr=write, code=7)
    os.close(write)


def test_a_closed_standard_output_is_the_commands_own_affair():
    line = f"'{tool.PROGRAM}' energy --sysroot '{VIRTUAL[1]}' -- sh -c 'echo text 2>/dev/null || exit 8' >&-"
    done = subprocess.run(["sh", "-c", line], env=tool.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 8 and "  time: " in done.stderr, done


def test_a_record_that_cannot_be_written_is_a_failure_of_yoke():
    for option in ("--json", "--csv"):
        done = energy(option, "/dev/full", "--", "touch", "ran", code=125)
        assert "error: /dev/full could not be written" in done.stderr and pathlib.Path("ran").exists(), done


def test_dashes_after_the_command_are_the_commands():
    assert energy("--", "echo", "--help", "--", "--json", "x").stdout == "--help -- --json x\n"


def test_ignored_ends_of_children_do_no_harm():
    done = energy("--", "sh", "-c", "exit 4", code=4, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert "  time: " in done.stderr, done
