"""The command `ccrs`: as the installed program, or in this process, which starts no interpreter."""

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from study.cli.root import main

Done = subprocess.CompletedProcess[str]


def program(*words: object) -> Done:
    """Run the installed program and return its exit status and outputs."""
    script = Path(sys.executable).with_name("ccrs")
    return subprocess.run(
        [script, *map(str, words)], capture_output=True, encoding="utf-8", check=False, timeout=120
    )


def in_process(*words: object) -> Done:
    """Return the same from this process; an exception that the program does not handle is raised.

    For further cases of a command that another test starts as the program.
    """
    out, err = io.StringIO(), io.StringIO()
    typed = ["ccrs", *map(str, words)]
    status: object = None
    with patch.object(sys, "argv", typed), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = end.code
    assert isinstance(status, int), f"the command did not end with a code: {status!r}"
    return subprocess.CompletedProcess(typed, status, out.getvalue(), err.getvalue())
