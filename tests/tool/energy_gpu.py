"""`yoke energy` with NVIDIA cards: the stand-in of NVML, whose counter the command advances (tests/meter/stub/nvml.c)."""
import os
import pathlib
import sys

import tool

WORK = """
import os, sys, time
time.sleep(0.3)
open("new", "w").write(sys.argv[1])
os.rename("new", "settings")
"""


def energy(before, after, *options):
    library = pathlib.Path(os.environ["YOKE_BUILD_DIR"], "tests/stub/libstub_nvml.so")
    if not library.exists():
        sys.exit(77)
    pathlib.Path("settings").write_text(before, encoding="ascii")
    variables = tool.environment(YOKE_NVML=str(library), YOKE_STUB_NVML_FILE=os.path.abspath("settings"))
    done = tool.run("energy", "--sysroot", tool.MACHINES / "virtual-machine", "--json", "run.json", *options, "--", *tool.python(WORK, after), env=variables)
    return done, tool.record()


@tool.with_counters_that_stand
def test_cards_like_a100_and_h100_to_the_millijoule():
    for capability in (80, 90):
        common = f"capability={capability}\ndevices=2\n"
        done, record = energy(common + "energy_mj.0=1000000\nenergy_mj.1=5000\n", common + "energy_mj.0=1012345\nenergy_mj.1=12001\n")
        values = {energy["meter"]: energy for energy in record["energies"]}
        tool.close_to(values["nvml:0"]["value_j"], 12.345, 1e-9, "card 0")
        tool.close_to(values["nvml:1"]["value_j"], 7.001, 1e-9, "card 1")
        tool.close_to(record["total"]["value_j"], 19.346, 1e-9, "total")
        assert record["total"]["kind"] == "measured" and "nvml:0:" in done.stderr, (record["total"], done)


@tool.with_counters_that_stand
def test_a_card_without_a_counter_integrates_its_power():
    settings = "fail.nvmlDeviceGetTotalEnergyConsumption=3\npower_mw=50000\naverage_mw=50000\nusage_mw=50000\nfield.185.0=50000\nfield.186.0=50000\n"
    record = energy(settings, settings)[1]
    (energy_of_card,) = record["energies"]
    expected = 50 * record["seconds"]
    assert abs(energy_of_card["value_j"] - expected) <= energy_of_card["uncertainty_j"], (energy_of_card, expected)


@tool.with_counters_that_stand
def test_a_lost_card_is_no_number():
    record = energy("energy_mj=1000000\n", "lost=1\n")[1]
    assert record["energies"][0]["value_j"] is None and record["energies"][0]["why_not"] and record["total"]["value_j"] is None, record["energies"]
