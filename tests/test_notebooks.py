"""Every notebook runs from its first cell to its last, in a kernel of its own."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "data" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_says_what_it_shows(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    stored = [printed(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert any(stored), "a notebook is kept with its output"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": path.parent}}).execute()
    assert [printed(cell) for cell in notebook.cells if cell.cell_type == "code"] == stored


def printed(cell: nbformat.NotebookNode) -> str:
    """Return the words of a cell's output; how a table is spaced depends on the library."""
    outputs = cell.get("outputs", [])
    texts = (o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)
    return " ".join(" ".join(texts).split())
