"""Processes that vLLM began end with this one, even where it is killed.

By itself an engine goes on without the process that asked it, and keeps the memory of its GPU from
the next run. So a small process waits for a pipe to close: the kernel closes it, whatever happened.
"""

import subprocess
import sys

_WAIT = """
import sys
import psutil

known = []
for pid in sys.argv[1:]:
    try:
        # Remembers when it began: a number that is given again means another process.
        known.append(psutil.Process(int(pid)))
    except psutil.Error:
        pass
print("ready", flush=True)
if not sys.stdin.read():
    for process in known:
        try:
            process.kill()
        except psutil.Error:
            pass
"""


class Ending:
    """Ends the processes that this one has begun until now, when this one ends."""

    def __init__(self) -> None:
        import psutil

        begun = [str(child.pid) for child in psutil.Process().children(recursive=True)]
        # Apart from the terminal: Ctrl-C is for this process to handle.
        self._waits = subprocess.Popen(  # noqa: S603  (this interpreter, and numbers)
            [sys.executable, "-c", _WAIT, *begun],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._waits.stdout is not None  # noqa: S101  (it is a pipe)
        self._waits.stdout.readline()

    def over(self) -> None:
        """Say that the processes have ended in order."""
        if self._waits.poll() is None:
            self._waits.communicate(b"over")
