"""Lets vLLM's model runner V2 run without a GPU: Triton's kernels are interpreted.

Python imports this file at its start where this folder is on PYTHONPATH. With TRITON_INTERPRET=1
Triton runs its kernels in Python. vLLM's builds without a GPU ask besides for a backend named
"cpu", which the package triton does not have and the interpreter does not need. A process that
ends writes the names of its modules to the file CCRS_TEST_LOADED: they tell which runner it had.
"""

import atexit
import os
import sys
from pathlib import Path


class _Driver:
    """What vLLM asks of a backend: whether it is there."""

    @staticmethod
    def is_active() -> bool:
        return True


if os.environ.get("TRITON_INTERPRET") == "1":
    from triton.backends import Backend, backends

    backends["cpu"] = Backend(compiler=None, driver=_Driver)

if loaded := os.environ.get("CCRS_TEST_LOADED"):
    atexit.register(lambda: Path(loaded).write_text("\n".join(sys.modules), encoding="utf-8"))
