"""Terminals for tests of what is shown on one."""
import os


def require():
    """Leaves the test out where no pseudo-terminal can be opened, as in a container without devpts; in CI it fails there."""
    try:
        ends = os.openpty()
    except OSError as error:
        if os.environ.get("CI"):
            raise
        print(f"left out: no pseudo-terminal can be opened here ({error})")
        raise SystemExit(77) from None
    for end in ends:
        os.close(end)
