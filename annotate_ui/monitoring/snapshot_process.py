"""The process that computes a snapshot: `python -m annotate_ui.monitoring.snapshot_process STUDY`.

It writes a pickled `Snapshot` to standard output.
"""

import os
import pickle
import sys
from pathlib import Path

from annotate_ui.monitoring.snapshot import snapshot
from study.study import Study

_NICE = 10

if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(_NICE)
    _study = Study.open(Path(sys.argv[1]))
    try:
        pickle.dump(snapshot(_study), sys.stdout.buffer)
    finally:
        _study.close()
