"""yoke fem under mpirun: energy, power caps and kernels' energies on simulated nodes, against all choices that there are."""
import itertools
import json
import pathlib

from command import PROGRAM, SMALL, close_to, record, run, words
from ranks import MPIRUN, VARIABLES, assert_same_run, check_pieces, messages, need_mpi, on_ranks, solve

HOST_W = 15
# Of each node its levels: frequency, seconds for an element, watts at rest and at work.  The second one is faster, and draws much more.
NODES = (((1.0e9, 3.0e-6, 8, 30), (1.5e9, 2.2e-6, 10, 55), (2.0e9, 1.8e-6, 12, 95)),
         ((1.2e9, 1.6e-6, 30, 120), (1.8e9, 1.2e-6, 32, 260)))
KEYS = {"refine__steps": 3, "refine__initial": 1, "solver__preconditioner": "jacobi"}


def write_node(number, levels):
    """A machine of one device; its highest level is what the device says of itself."""
    def power(level):
        return {"idle_w": level[2], "busy_w": level[3]}
    clock = [{"frequency_hz": level[0], "seconds_per_unit": level[1], "power": power(level)} for level in levels]
    device = {"name": "cpu", "class": "cpu", "seconds_per_unit": levels[-1][1], "power": power(levels[-1]), "clock": {"levels": clock}}
    path = pathlib.Path(f"powered-{number}.json")
    path.write_text(json.dumps({"name": str(path), "host": {"idle_w": HOST_W}, "devices": [device]}), encoding="utf-8")
    return str(path)


def on_nodes(*options, nodes=NODES, out="out", code=0, **keys):
    """A run with a rank on each node."""
    lines = []
    for number, levels in enumerate(nodes):
        lines += [":", "-n", "1", *words(SMALL, "--machine", write_node(number, levels), *options, out=out, **{**KEYS, **keys})]
    return run([*MPIRUN, *lines[1:]], code, env=VARIABLES)


def steps_of(*options, out="out", **keys):
    on_nodes(*options, out=out, **keys)
    return check_pieces(out, len(keys.get("nodes", NODES)))["steps"]


def cost(units, levels):
    """Seconds and joules of a product: all rest as long as the slowest works."""
    busy = [n * level[1] for n, level in zip(units, levels)]
    seconds = max(busy)
    return seconds, sum((HOST_W + level[2]) * seconds + (level[3] - level[2]) * own for level, own in zip(levels, busy))


def peak(units, levels):
    """Nodes without elements rest at their least power."""
    return sum(HOST_W + (level[3] if n else level[2]) for n, level in zip(units, levels))


def choices(elements):
    for levels in itertools.product(*NODES):
        for first in range(elements + 1):
            units = (first, elements - first)
            if all(n or level[2] == min(of[2] for of in node) for n, level, node in zip(units, levels, NODES)):
                yield units, levels


def chosen(step):
    """What the step's parts are, as units and levels."""
    units, levels = [0] * len(NODES), [min(node, key=lambda level: level[2]) for node in NODES]
    for part in step["parts"]:
        units[part["rank"]] = part["elements"]
        levels[part["rank"]] = next(level for level in NODES[part["rank"]] if level[0] == part["frequency_hz"])
    return units, levels


def check_is_best(steps, value, allowed=lambda units, levels: True):
    for step in steps[1:]:
        units, levels = chosen(step)
        assert allowed(units, levels), (units, levels)
        best = min(value(*cost(*choice)) for choice in choices(step["elements"]) if allowed(*choice))
        close_to(max(best, value(*cost(units, levels))), best, 0.01, f"objective of step {step['step']} beside the least of all choices")


def check_energy(steps):
    """What the meters of both nodes show together, and what was predicted."""
    for step in steps[1:]:
        seconds, joules = (value * step["operator_applications"] for value in cost(*chosen(step)))
        close_to(step["measured"]["energy_j"], joules, 0.03, "energy of all nodes")
        close_to(step["measured"]["time_s"], seconds, 0.03, "time")
        close_to(step["predicted_with_l"]["energy_j"], joules, 0.03, "predicted energy")
        assert step["measured"]["energy_kind"] == "simulated" and step["partition"]["choice"] == "plan", step["partition"]


def test_objectives_with_energy_are_those_that_enumeration_finds():
    need_mpi()
    found = {}
    for name, value in (("energy", lambda t, e: e), ("edp", lambda t, e: e * t), ("ed2p", lambda t, e: e * t * t)):
        found[name] = steps_of("--objective", name, out=name)
        check_is_best(found[name], value)
        check_energy(found[name])
    found["time"] = steps_of("--objective", "time", out="time")
    assert found["energy"][-1]["measured"]["energy_j"] < 0.95 * found["time"][-1]["measured"]["energy_j"]
    assert all(step["measured"]["energy_kind"] == "simulated" for step in found["time"])  # added up whatever the objective
    names = [choice["name"] for choice in found["energy"][-1]["alternatives"]]
    assert names[0] == "best" and "only:0 sim:cpu" in names, names


def test_limits_hold_for_all_ranks_together():
    need_mpi()
    for cap in (420, 250):
        check_is_best(steps_of("--power-cap", str(cap), out=f"cap-{cap}"), lambda t, e: t, lambda units, levels, cap=cap: peak(units, levels) <= cap)
    told = messages(on_nodes("--power-cap", "60", out="refused", code=2))
    assert len(told) == 1 and "--power-cap 60: no choice of devices and frequencies of all ranks keeps it" in told[0], told
    steps = steps_of("--objective", "energy", "--max-slowdown", "1.1", out="slow")
    for step in steps[1:]:
        least = min(cost(*choice)[0] for choice in choices(step["elements"]))
        assert cost(*chosen(step))[0] <= 1.1 * 1.001 * least


def test_the_plan_of_all_ranks_can_be_written():
    need_mpi()
    step = steps_of("--objective", "energy", "--write-model", "model.json")[-1]
    run([PROGRAM, "plan", "model.json", "--objective", "energy", "--json", "plan.json", "--quiet"])
    plan = json.loads(pathlib.Path("plan.json").read_text(encoding="utf-8"))
    best = step["alternatives"][0]
    assert {part["device"]: part["units"] for part in plan["parts"]} == best["elements"], (plan["parts"], best)
    close_to(plan["energy_j"], best["energy_j"], 1e-9, "energy")
    assert sum(best["elements"].values()) == step["elements"]
    # Whatever the objective: what is known of all devices.
    steps_of("--write-model", "other.json", out="time")
    devices = json.loads(pathlib.Path("other.json").read_text(encoding="utf-8"))["devices"]
    assert [device["name"] for device in devices] == ["0 sim:cpu", "1 sim:cpu"], devices


def test_ranks_that_share_meters_need_declared_powers():
    need_mpi()
    line = words(SMALL, "--objective", "energy", "--threads", "1", out="refused", refine__steps=1)
    told = messages(on_ranks(2, line, 2))
    assert len(told) == 1 and "no meter that tells this rank's devices from those of the other ranks" in told[0], told
    powers = "{base_w: 40, devices: [{name: openmp, idle_w: 10, busy_w: 60}]}"
    on_ranks(2, [*words(SMALL, "--objective", "energy", out="declared", energy=powers, refine__steps=2), "--quiet"])
    found = check_pieces("declared", 2)
    assert all(step["powers"] == "declared" for step in found["steps"]), found["steps"][-1]["powers"]
    assert_same_run(solve(SMALL, "--objective", "energy", out="alone", energy=powers, refine__steps=2), found)


def test_kernels_of_all_ranks_are_profiled():
    need_mpi()
    done = on_nodes("--profile", **{"solver__preconditioner": "multigrid"})
    found = check_pieces("out", 2)
    rows = found["profile"]
    assert {row["rank"] for row in rows if row["kernel"] == "cg product"} == {0, 1}, rows
    known = [row for row in rows if row["energy_j"] is not None]
    for row in known:
        if row["kernel"] != "between kernels":
            watts = next(level for level in NODES[row["rank"]] if level[1] == min(of[1] for of in NODES[row["rank"]]))[3]
            assert abs(row["energy_j"] - watts * row["call_s"]) <= row["uncertainty_j"] + 1e-9 * row["energy_j"], row
    joules = sum(step["measured"]["energy_j"] for step in found["steps"])
    for row in known:
        close_to(row["share"], row["energy_j"] * row["calls"] / joules, 1e-6, "share of all nodes' energy")
    assert known and "1 sim:cpu" in done.stdout, done.stdout


def test_the_first_mesh_follows_what_stores_know():
    need_mpi()
    nodes = ((NODES[0][2],), (NODES[0][0],))  # 1.8 and 3 microseconds
    found = []
    for out in ("unknown", "known"):
        lines = []
        for number, levels in enumerate(nodes):
            lines += [":", "-n", "1", *words(SMALL, "--quiet", "--machine", write_node(number, levels), "--store", f"store-{number}.json", out=out, **KEYS)]
        run([*MPIRUN, *lines[1:]], env=VARIABLES)
        found.append(check_pieces(out, 2))
    (before, *_), (after, *_) = (run_of["steps"] for run_of in found)
    assert before["partition"]["choice"] == "equal" and after["partition"]["choice"] == "speeds", (before["partition"], after["partition"])
    units = [part["elements"] for part in after["parts"]]
    seconds = max(n * levels[0][1] for n, levels in zip(units, nodes))
    assert seconds <= 1.05 * sum(units) / sum(1 / levels[0][1] for levels in nodes), units
    assert_same_run(*found)


def test_one_store_of_several_ranks_stays_whole():
    need_mpi()
    line = [*words(SMALL, "--store", "store.json", "--quiet", out="first", refine__steps=2)]
    on_ranks(3, line)
    entries = json.loads(pathlib.Path("store.json").read_text(encoding="utf-8"))
    assert "openmp" in json.dumps(entries)
    on_ranks(3, [word.replace("=first", "=second") for word in line])
    json.loads(pathlib.Path("store.json").read_text(encoding="utf-8"))
    assert_same_run(check_pieces("first", 3), check_pieces("second", 3))


def test_a_device_that_one_rank_loses_is_left_out():
    need_mpi()
    keys = {"refine__steps": 2}
    alone = solve(SMALL, out="alone", **keys)
    for call in (60, 400, 2500):
        lines = []
        for rank in range(2):
            fast = {"name": "fast", "class": "gpu", "seconds_per_unit": 1e-6, **({"fault": {"call": call, "kind": "lost"}} if rank else {})}
            slow = {"name": "cpu", "class": "cpu", "seconds_per_unit": 2e-6}
            path = pathlib.Path(f"pair-{rank}.json")
            path.write_text(json.dumps({"name": str(path), "devices": [slow, fast]}), encoding="utf-8")
            lines += [":", "-n", "1", *words(SMALL, "--quiet", "--case", "both", "--machine", str(path), out=f"lost-{call}", **keys)]
        run([*MPIRUN, *lines[1:]], env=VARIABLES)
        found = check_pieces(f"lost-{call}", 2)
        assert_same_run(alone, found)
        failed = [(failure["rank"], failure["device"]) for row in found["steps"] for failure in row["failed_devices"]]
        assert failed == [(1, "sim:fast")], (call, failed)
        last = {(part["rank"], part["device"]) for part in found["steps"][-1]["parts"]}
        assert last == {(0, "sim:cpu"), (0, "sim:fast"), (1, "sim:cpu")}, last


def test_a_run_that_goes_on_plans_as_the_one_before():
    need_mpi()

    def planned(out):
        return [[(part["rank"], part["elements"], part["frequency_hz"]) for part in step["parts"]] for step in record(out)["steps"]]

    steps_of("--objective", "energy", out="whole")
    on_nodes("--objective", "energy", out="out", refine__steps=1, checkpoint__every=1)
    lines = [[":", "-n", "1", PROGRAM, "fem", "--restart", "out", "--machine", write_node(*node), "--set", "refine.steps=3"] for node in enumerate(NODES)]
    run([*MPIRUN, *list(itertools.chain(*lines))[1:]], env=VARIABLES)
    assert planned("out") == planned("whole"), (planned("out"), planned("whole"))
    assert {step["partition"]["choice"] for step in record("out")["steps"]} == {"plan"}
