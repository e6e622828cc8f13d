"""`python -m builder`."""

import contextlib
import os
import sys


def run() -> int:
    """Run the command line; at any time Ctrl-C ends it, and quietly what cannot be printed."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 - `>&-` closes it
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    try:
        from builder.cli import main

        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            sys.stderr.write("interrupted\n")
        return 130
    except OSError:
        with contextlib.suppress(OSError):  # the interpreter flushes once more when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


if __name__ == "__main__":
    sys.exit(run())
