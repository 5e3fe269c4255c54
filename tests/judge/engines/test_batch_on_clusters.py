"""The files of `data/deploy` for clusters, with programs in place of vLLM, Ray and Slurm."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).parents[3] / "data" / "deploy"

#: In place of vLLM: echoes each request, or fails once where it is asked to.
STAND_IN = """#!/bin/bash
while [[ $1 != --input-file ]]; do shift; done
echo called >>"$CALLS"
if [[ -e $FAILS ]]; then rm "$FAILS"; exit 1; fi
cp "$2" "$4"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `python3` is the program above."""
    program = tmp_path / "bin" / "python3"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    calls, fails = tmp_path / "calls", tmp_path / "fails"
    calls.touch()
    path = f"{program.parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "CALLS": str(calls), "FAILS": str(fails)}


@pytest.mark.parametrize("numbers", ["SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT",
                                     "JOB_COMPLETION_INDEX JOB_COMPLETIONS"])  # fmt: skip
def test_each_request_is_asked_once_also_after_a_failure(
    tmp_path: Path, environment: dict[str, str], numbers: str
) -> None:
    requests, results = tmp_path / "requests", tmp_path / "results"
    requests.mkdir()
    lines = [json.dumps({"custom_id": f"r{i}", "body": "ä" * (i % 40)}) for i in range(101)]
    (requests / "judge-001.jsonl").write_text("".join(f"{line}\n" for line in lines[:60]))
    (requests / "judge-002.jsonl").write_text("".join(f"{line}\n" for line in lines[60:]))
    part, parts = numbers.split()

    def run(number: int) -> int:
        command = [str(DEPLOY / "judge_batch.sh"), str(requests), str(results), "a-model"]
        named = {part: str(number), parts: "7"}
        return subprocess.run(command, check=False, env={**environment, **named}).returncode

    Path(environment["FAILS"]).touch()
    assert [run(number) for number in range(7)] == [1, 0, 0, 0, 0, 0, 0]
    assert [run(number) for number in range(7)] == [0] * 7
    calls = Path(environment["CALLS"]).read_text().count("called")
    assert calls == 8, "what is complete is not asked again"
    assert {path.suffix for path in results.iterdir()} == {".jsonl"}
    answered = [line for path in results.iterdir() for line in path.read_text().splitlines()]
    assert sorted(answered) == sorted(lines)


def test_the_job_of_kubernetes_runs_the_script_in_as_many_parts_as_it_says() -> None:
    job = yaml.safe_load((DEPLOY / "judge_batch.yaml").read_text(encoding="utf-8"))["spec"]
    (container,) = job["template"]["spec"]["containers"]
    named = {entry["name"]: entry["value"] for entry in container["env"]}
    assert job["completionMode"] == "Indexed"
    assert named["JOB_COMPLETIONS"] == str(job["completions"])
    mounted = {volume["name"]: volume["mountPath"] for volume in container["volumeMounts"]}
    assert container["command"][1] == f"{mounted['scripts']}/judge_batch.sh"
    assert all(word.startswith(f"{mounted['work']}/") for word in container["command"][2:4])
    assert set(mounted) == {volume["name"] for volume in job["template"]["spec"]["volumes"]}


def test_ray_runs_on_all_machines_of_a_job_and_the_run_on_the_first(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    programs = {
        # `ray start` would not end by itself.
        "ray": "[[ $2 != --head ]] || sleep 60",
        "srun": "sleep 60",
        "ccrs": "",
        # Counts the machines.
        "python3": f"grep -q 'ray start --head' {calls} && grep -q srun {calls}",
    }
    for name, then in programs.items():
        program = tmp_path / name
        program.write_text(f'#!/bin/bash\necho {name} "$@" >>{calls}\n{then}\n')
        program.chmod(0o755)
    slurm = {"SLURM_JOB_NUM_NODES": "4", "SLURM_GPUS_ON_NODE": "8", "SLURM_CPUS_PER_TASK": "32"}
    done = subprocess.run(
        [str(DEPLOY / "judge_ray.sh"), "a study", "--model", "m", "--replicas", "32"],
        check=False,
        env={**os.environ, **slurm, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        timeout=30,
    )
    assert done.returncode == 0
    lines = calls.read_text().splitlines()
    (head,) = (line for line in lines if line.startswith("ray start --head"))
    assert "--num-gpus 8 --num-cpus 32" in head
    (others,) = (line for line in lines if line.startswith("srun"))
    assert "--nodes 3 --ntasks 3" in others
    assert "--num-gpus 8 --num-cpus 32" in others
    (run,) = (line for line in lines if line.startswith("ccrs"))
    assert run.startswith("ccrs judge a study --engine ray --cluster ")
    assert run.endswith(":6379 --model m --replicas 32")
    assert lines[-1] == "ray stop"
