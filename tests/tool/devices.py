"""yoke info where a vendor's library finds no device."""
import os
import pathlib
import subprocess
import sys

PROGRAM = os.environ["YOKE_PROGRAM"]


def info(**more):
    env = {name: value for name, value in os.environ.items() if name != "POCL_CACHE_DIR"}
    return subprocess.run([PROGRAM, "info"], env={**env, **more}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=True).stdout


def test_pocl_without_a_directory_for_what_it_compiles_is_told():
    """PoCL 3.1 then has no device and gives no reason; a version that has one all the same needs none."""
    has_pocl = "Portable Computing Language"
    pathlib.Path("file").touch()
    if has_pocl not in info():
        sys.exit(77)
    found = info(XDG_CACHE_HOME=os.path.abspath("file"))
    assert has_pocl in found or ("PoCL cannot write below XDG_CACHE_HOME=" in found and "Not a directory" in found), found
