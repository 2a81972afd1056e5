"""The command line: ``setveil`` and ``python -m setveil``."""

import signal
import sys


def main() -> int:
    """Runs the command line of this process, and gives its exit code."""
    from ._setveil import command_line

    # The command line listens to Ctrl-C itself, and cleans up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command_line(["setveil", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
