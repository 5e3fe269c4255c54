"""Prompts and tokens a second of the engine vllm beside vLLM's own `LLM.generate`.

`python -m tests.benchmarks.vllm_throughput --out FILE` takes up to ten minutes on a machine with
a GPU and vLLM; `--shape` names another size of the model (such as 1b, or 70b with `--quantization
fp8`), whose weights are random (dummy), so nothing is downloaded. Ours reads a study of the paper's
shape and stores every judgment; vLLM's own gets the same token prompts in the same order, and
stores nothing. Also printed are the computed share of the prompts' tokens, the least possible
share, and the time spent storing. Fails below 90%.
`--on-cpu` runs the same code with a tiny model; its ratio says nothing about GPUs.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge import judge_study
from judge.engines.engine import Ready, TokenCount
from judge.engines.engine_settings import VLLMSettings
from judge.metrics.ccrs import Ccrs
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.conditions import Conditions
from judge.protocol.exchange import Answer
from judge.running.judgment_store import JudgmentStore
from judge.running.metric_requests import MetricRequest
from judge.running.pages import places
from judge.running.plan import requests
from judge.running.scope import Scope, select_constructs
from study import Study
from tests.benchmarks.vllm_reuse import ROOT, machine, paper_like

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {},
    "1b": {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 64,
    },
    "8b": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
    },
    "70b": {
        "hidden_size": 8192,
        "intermediate_size": 28672,
        "num_hidden_layers": 80,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 128,
    },
}
WINDOW = 8192
LEAST = 0.9


def main(words: list[str] | None = None) -> None:
    """Measure both, each in a process of its own, and print the ratio."""
    parser = argparse.ArgumentParser(prog="vllm_throughput")
    parser.add_argument("--shape", choices=SHAPES, default="8b", help="of the model")
    parser.add_argument("--quantization", help="such as fp8")
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--queries", type=int, default=40, help="of six responses each")
    parser.add_argument("--context-words", type=int, default=5000, help="1.17 tokens each")
    parser.add_argument("--prompts", default="ccrs-paper-v1", help="prompt version")
    parser.add_argument("--out", type=Path, help="file for the result, as JSON")
    parser.add_argument("--on-cpu", action="store_true", help="run the tiny model without a GPU")
    passed = parser.parse_args([] if words is None else words)
    if passed.on_cpu:
        passed.shape = "tiny"
    elif not has_gpu():
        sys.exit("vllm_throughput needs vLLM and a GPU; --on-cpu tries the code with a tiny model.")
    arguments = engine_arguments(passed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        maker = [sys.executable, "-m", "tests.judge.tiny_model.make"]
        subprocess.run([*maker, str(folder / "model"), "32"], check=True, cwd=ROOT)
        paper_like(folder / "study", passed.queries, passed.context_words).close()
        toml = "".join(f"{key} = {_toml(value)}\n" for key, value in arguments.items())
        with (folder / "study" / "study.toml").open("a", encoding="utf-8") as settings:
            settings.write(f"\n[judge.vllm]\n{toml}")
        by_name: dict[str, Any] = {
            "machine": machine() | gpus(),
            "options": {key: str(value) for key, value in vars(passed).items() if key != "out"},
        }
        for who in ("ours", "vllm"):
            command = [sys.executable, "-m", "tests.benchmarks.vllm_throughput", who, name]
            entries = subprocess.check_output([*command, passed.prompts], text=True)
            by_name[who] = json.loads(entries.splitlines()[-1])
            print(f"{who}: {by_name[who]}", flush=True)
    rates = {
        who: by_name[who]["prompt_tokens"] / by_name[who]["seconds"] for who in ("ours", "vllm")
    }
    by_name["ratio"] = rates["ours"] / rates["vllm"]
    mine, own = by_name["ours"], by_name["vllm"]
    print(
        f"prompts a second: ours {mine['prompts'] / mine['seconds']:,.1f}, vLLM's own "
        f"{own['prompts'] / own['seconds']:,.1f}"
    )
    print(
        f"prompt tokens a second: ours {rates['ours']:,.0f}, vLLM's own {rates['vllm']:,.0f}: "
        f"{by_name['ratio']:.1%}"
    )
    print(
        f"computed of the prompts: {mine['computed']:.1%}, least possible {mine['least']:.1%}; "
        f"storing took {mine['storing_seconds']:.1f} s of {mine['seconds']:.1f} s"
    )
    if passed.out:
        passed.out.write_text(json.dumps(by_name, indent=1) + "\n", encoding="utf-8")
    if by_name["ratio"] < LEAST and not passed.on_cpu:
        sys.exit(f"less than {LEAST:.0%} of vLLM's own")


def has_gpu() -> bool:
    """Tell whether torch is there and sees a GPU."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def gpus() -> dict[str, Any]:
    """Return the GPUs of this machine, with their driver."""
    if not has_gpu():
        return {"gpus": []}
    asked = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    return {"gpus": subprocess.check_output(asked, text=True).splitlines()}


def engine_arguments(passed: argparse.Namespace) -> dict[str, Any]:
    """Return the engine's arguments for the options."""
    by_name: dict[str, Any] = {}
    if SHAPES[passed.shape]:
        by_name = {
            "load_format": "dummy",
            "hf_overrides": SHAPES[passed.shape],
            "dtype": "bfloat16",
        }
    else:
        by_name = {"enforce_eager": True, "dtype": "float32", "block_size": 32}
    if passed.quantization:
        by_name["quantization"] = passed.quantization
    if passed.tensor_parallel_size > 1:
        by_name["tensor_parallel_size"] = passed.tensor_parallel_size
    return by_name


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(entry)}" for key, entry in value.items()) + " }"
    return json.dumps(value)


def ours(folder: Path, version: str) -> dict[str, Any]:
    """Judge the study; the time is from the first look at it to the last judgment on disk."""
    study = Study.open(folder / "study")
    settings = VLLMSettings(
        model=str(folder / "model"), window=WINDOW, prompts=version, max_missing=1
    )
    storing = 0.0
    commit = JudgmentStore.commit

    def timed(self: JudgmentStore, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        nonlocal storing
        began = time.perf_counter()
        try:
            return commit(self, pairs)
        finally:
            storing += time.perf_counter() - began

    JudgmentStore.commit = timed  # type: ignore[method-assign]
    outcome = judge_study(study, settings)
    study.close()
    [least] = re.findall(r"least possible .* is ([\d.]+)%", "\n".join(outcome.notes))
    return {
        "prompts": outcome.answered,
        "prompt_tokens": outcome.tokens["prompt"],
        "completion_tokens": outcome.tokens["completion"],
        "seconds": outcome.seconds,
        "computed": 1 - outcome.tokens.get("cached", 0) / outcome.tokens["prompt"],
        "least": float(least) / 100,
        "storing_seconds": storing,
        "notes": outcome.notes,
    }


def vllms_own(folder: Path, version: str) -> dict[str, Any]:
    """Generate from the same tokens in the same order, all given at once."""
    from vllm import LLM, SamplingParams

    from judge.engines.vllm.chat_layout import chat_layout

    study = Study.open(folder / "study")
    prompts = prompt_version(version)
    with study.read() as connection:
        versions = study.construct_versions(connection)
    scope = Scope(Ccrs(prompts), select_constructs(study, Ccrs(prompts), ()), versions, 1)
    unbounded = Ready(Conditions("vllm", "tiny"), TokenCount())
    stream = requests(study, places(study), scope, 0, unbounded)
    model = str(folder / "model")
    engine = LLM(model=model, max_model_len=WINDOW, seed=0, **study.config.judge.vllm)
    layout = chat_layout(engine.get_tokenizer(), model)
    passed = [{"prompt_token_ids": layout.tokens(request.prompt)} for request in stream]
    study.close()
    sampling = SamplingParams(temperature=0, max_tokens=prompts.max_tokens)
    started = time.perf_counter()
    text = engine.generate(passed, sampling, use_tqdm=False)
    seconds = time.perf_counter() - started
    # Else Python waits at its end for processes that nobody has told.
    engine.llm_engine.engine_core.shutdown(timeout=1.0)
    return {
        "prompts": len(text),
        "prompt_tokens": sum(len(entry.prompt_token_ids) for entry in text),
        "completion_tokens": sum(len(entry.outputs[0].token_ids) for entry in text),
        "seconds": seconds,
    }


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["vllm"]):
        measure = ours if sys.argv[1] == "ours" else vllms_own
        print(json.dumps(measure(Path(sys.argv[2]), sys.argv[3])))
    else:
        main(sys.argv[1:])
