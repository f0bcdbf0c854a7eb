"""The shipped machine files: the numbers of Lang and Ruenger 2014 come out of a run on them."""
import json

from command import EXAMPLES, close_to, solve

MACHINES = EXAMPLES / "machines"
STEPS = 3


def shared(machine):
    """The steps of the drill hole, shared by the paper's rule on a machine."""
    return solve(EXAMPLES / "drill-hole.yaml", "--machine", str(MACHINES / f"{machine}.json"), "--devices", "sim:cpu,sim:gpu", "--balance", "paper",
                 refine__steps=STEPS)["steps"]


def per_element(step):
    times = {part["device"]: part["seconds_per_element"] for part in step["parts"]}
    return times["sim:cpu"], times["sim:gpu"]


def check_shares(steps, expected):
    """It starts with halves; then every share is what eq. 26 says, up to an element or two."""
    assert steps[0]["gpu_share"] == 0.5
    for step in steps[1:]:
        assert abs(step["gpu_share"] - expected) <= 2 / step["elements"], f"step {step['step']}: share {step['gpu_share']}, expected {expected}"


# golden numbers: eq. 26 with 1.69 and 1.70 us; eq. 22 over CPU only with t_copy = 11.8 us and l = 32.4
def test_times_measured_alone_give_a_half():
    steps = shared("lang-ruenger-2014")
    cpu, gpu = per_element(steps[-1])
    share = 1 / (1 + gpu / cpu)
    close_to(share, 0.5014749262536873, 1e-6, "share by eq. 26")
    check_shares(steps, share)
    close_to(32.4 * cpu / (share * 11.8e-6 + 32.4 * max((1 - share) * cpu, share * gpu)), 1.65, 1e-3, "speed-up by eq. 22")


def test_the_fitted_time_gives_a_third():
    steps = shared("sandybridge-measured")
    cpu, gpu = per_element(steps[-1])
    close_to(1 / (1 + gpu / cpu), 1 / 3, 1e-6, "share by eq. 26")
    check_shares(steps, 1 / 3)


def test_an_element_of_the_papers_moves_in_its_time():
    papers = {"lang-ruenger-2014": 11.8e-6, "lang-ruenger-2014-energy": 11.8e-6, "sandybridge": 11.8e-6, "sandybridge-measured": 11.8e-6, "westmere": 25e-6}
    for name, seconds in papers.items():
        document = json.loads((MACHINES / f"{name}.json").read_text(encoding="utf-8"))
        gpu = next(device for device in document["devices"] if device["name"] == "gpu")
        close_to(81 * 82 / 2 * 8 / gpu["copy"]["bytes_per_s"], seconds, 1e-4, name)
