"""Prompts and tokens a second of the engine vllm beside vLLM's own `LLM.generate`.

`python -m tests.benchmarks.vllm_throughput --out FILE` takes some five minutes on a machine with
a GPU and vLLM; `--shape` names another size of the model (such as 1b, or 70b with `--quantization
fp8`), whose weights are random (dummy), so nothing is downloaded. One engine is loaded for both
sides. Ours reads a study of the paper's shape and stores every judgment; vLLM's own gets the same
token prompts in the same order, and stores nothing: once without log-probabilities, once with those
that ours asks for. Answers have 2 tokens (a score and its end) and 16 (the most that the paper's
prompts allow). Also printed are the computed share of the prompts' tokens, the least possible
share, the processor time of this process, the time spent storing, and the time to the first answer:
ours stored, vLLM's own finished. Fails below the share of vLLM's own rate that is promised for the
shape.
`--on-cpu` runs the same code with a tiny model: its rates say nothing about GPUs, its processor
times do, since the engine is in a process of its own.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from statistics import median
from typing import Any
from unittest.mock import patch

import judge.engines.vllm.scheduler_feed as feed_module
import judge.engines.vllm.vllm_engine as engine_module
from judge import judge_study
from judge.engines.engine import Ready, TokenCount
from judge.engines.engine_settings import VLLMSettings
from judge.engines.vllm.model_loader import LoadedModel, load
from judge.engines.vllm.run_conditions import model_spec
from judge.metrics.ccrs import Ccrs
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.conditions import Conditions
from judge.protocol.exchange import Answer
from judge.running.answer_store import AnswerStore
from judge.running.metric_requests import MetricRequest
from judge.running.pages import places
from judge.running.plan import CallPlan
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
ANSWERS = (2, 16)
"""Tokens of an answer: what a judge writes, and the most that the paper's prompts allow."""
VERSIONS = ("ccrs-paper-v1", "ccrs-context-first-v1")
PROMISED = {
    ("8b", "ccrs-paper-v1"): 0.95,
    ("8b", "ccrs-context-first-v1"): 0.9,
    ("1b", "ccrs-paper-v1"): 0.8,
}
"""Least share of vLLM's own rate, by shape and prompt version."""


def main(words: list[str] | None = None) -> None:
    """Measure both sides in turn, and print the ratios."""
    parser = argparse.ArgumentParser(prog="vllm_throughput")
    parser.add_argument("--shape", choices=SHAPES, default="8b", help="of the model")
    parser.add_argument("--quantization", help="such as fp8")
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--queries", type=int, default=8, help="of six responses each")
    parser.add_argument("--context-words", type=int, default=5000, help="1.17 tokens each")
    parser.add_argument("--prompts", default=",".join(VERSIONS), help="prompt versions")
    parser.add_argument("--repeats", type=int, default=2, help="measurements of each; the median")
    parser.add_argument("--until", type=float, help="seconds after which nothing new begins")
    parser.add_argument("--out", type=Path, help="file for the result, as JSON")
    parser.add_argument("--on-cpu", action="store_true", help="run the tiny model without a GPU")
    passed = parser.parse_args([] if words is None else words)
    if passed.on_cpu:
        passed.shape = "tiny"
    elif not has_gpu():
        sys.exit("vllm_throughput needs vLLM and a GPU; --on-cpu tries the code with a tiny model.")
    with tempfile.TemporaryDirectory() as name:
        bench = Bench.made(Path(name), passed)
        result: dict[str, Any] = {
            "machine": machine() | gpus(),
            "options": {key: str(value) for key, value in vars(passed).items() if key != "out"},
            "engine": dict(bench.loaded.described.facts.observed),
            "measured": [],
        }
        cells = [(version, size) for version in passed.prompts.split(",") for size in ANSWERS]
        began = time.monotonic()
        for version, size in cells:
            if passed.until and time.monotonic() - began > passed.until:
                print(f"no time for {version}, answers of {size} tokens")
                continue
            entry = bench.measured(version, size, passed.repeats)
            result["measured"].append(entry)
            print("\n".join(sentences(entry)), flush=True)
            if passed.out:
                passed.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        bench.loaded.close()
    short = [
        f"{entry['prompts_version']}, {entry['answer_tokens']} tokens: {entry['ratio']:.1%}"
        for entry in result["measured"]
        if entry["ratio"] < PROMISED.get((passed.shape, entry["prompts_version"]), 0)
    ]
    if short:
        sys.exit(f"less of vLLM's own rate than promised: {'; '.join(short)}")


def sentences(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a measurement says."""
    ours, own, logprobs = entry["ours"], entry["vllm"], entry["vllm_logprobs"]
    yield (
        f"{entry['prompts_version']}, answers of {entry['answer_tokens']} tokens, "
        f"{ours['prompts']} prompts of {ours['prompt_tokens'] / ours['prompts']:,.0f} tokens:"
    )
    yield (
        f"  prompts a second: ours {rate(ours):,.1f}, vLLM's own {rate(own):,.1f}: "
        f"{entry['ratio']:.1%}; with the same log-probabilities {rate(logprobs):,.1f}"
    )
    yield (
        "  processor time of this process, ms a prompt: "
        f"ours {ours['processor_ms']:.2f}, vLLM's own {own['processor_ms']:.2f}, with the same "
        f"log-probabilities {logprobs['processor_ms']:.2f}"
    )
    yield (
        f"  computed of the prompts: {ours['computed']:.1%}, least possible {ours['least']:.1%}; "
        f"storing took {ours['storing_seconds']:.2f} s of {ours['seconds']:.1f} s"
    )
    yield (
        f"  the first answer was stored after {ours['first_stored_seconds']:.2f} s; vLLM's own was "
        f"finished after {own['first_finished_seconds']:.2f} s"
    )


def rate(entry: Mapping[str, Any]) -> float:
    """Return prompts a second."""
    return float(entry["prompts"] / entry["seconds"])


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


class _Kept:
    """A loaded model that outlives the run that closes it."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.engine_core = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def shutdown(self, timeout: float) -> None:
        """Go on."""

    def cancel(self) -> None:
        """Go on."""

    def close(self) -> None:
        """Go on."""


@dataclass
class Bench:
    """A study, a loaded engine, and the `LLM` that vLLM's own side asks."""

    folder: Path
    loaded: LoadedModel
    llm: Any

    @classmethod
    def made(cls, folder: Path, passed: argparse.Namespace) -> "Bench":
        """Make model and study, and load the engine as a run does."""
        import vllm

        maker = [sys.executable, "-m", "tests.judge.tiny_model.make"]
        subprocess.run([*maker, str(folder / "model"), "32"], check=True, cwd=ROOT)
        paper_like(folder / "study", passed.queries, passed.context_words).close()
        toml = "".join(
            f"{key} = {_toml(value)}\n" for key, value in engine_arguments(passed).items()
        )
        with (folder / "study" / "study.toml").open("a", encoding="utf-8") as settings:
            settings.write(f"\n[judge.vllm]\n{toml}")
        made: list[Any] = []
        real = vllm.LLM

        def remembered(**values: Any) -> Any:
            made.append(real(**values))
            return made[-1]

        version = VERSIONS[0]
        settings_of_run = VLLMSettings(model=str(folder / "model"), window=WINDOW, prompts=version)
        with Study.open(folder / "study") as study, patch.object(vllm, "LLM", remembered):
            loaded = load(model_spec(settings_of_run, study, prompt_version(version)))
        return cls(folder, loaded, made[0])

    def measured(self, version: str, size: int, repeats: int) -> dict[str, Any]:
        """Return the median of several measurements in turn of all three."""
        sides: dict[str, list[dict[str, Any]]] = {"ours": [], "vllm": [], "vllm_logprobs": []}
        tokens = self.token_prompts(version)
        self.own(tokens[:30], size)
        for number in range(repeats):
            sides["ours"].append(self.ours(version, size, number))
            sides["vllm"].append(self.own(tokens, size))
            sides["vllm_logprobs"].append(self.own(tokens, size, logprobs=True))
        middle = {
            who: min(runs, key=lambda run: abs(run["seconds"] - median(e["seconds"] for e in runs)))
            for who, runs in sides.items()
        }
        return {
            "prompts_version": version,
            "answer_tokens": size,
            **middle,
            "seconds_of_each": {
                who: [run["seconds"] for run in runs] for who, runs in sides.items()
            },
            "ratio": rate(middle["ours"]) / rate(middle["vllm"]),
        }

    def ours(self, version: str, size: int, number: int) -> dict[str, Any]:
        """Judge a copy of the study; the time is until the last judgment is on disk."""
        folder = copytree(self.folder / "study", self.folder / f"{version}-{size}-{number}")
        study = Study.open(folder)
        settings = VLLMSettings(
            model=str(self.folder / "model"),
            window=WINDOW,
            prompts=version,
            max_tokens=size,
            max_missing=1,
            accept_low_scores=True,
        )
        self.llm.reset_prefix_cache()
        kept = _Kept(self.loaded.engine)
        parts: dict[str, Any] = {"engine": kept, "cleanup": kept, "output": kept}
        with _watched(replace(self.loaded, **parts)) as watched:
            processor = time.process_time()
            outcome = judge_study(study, settings)
            processor = time.process_time() - processor
        study.close()
        [least] = re.findall(r"least possible .* is ([\d.]+)%", "\n".join(outcome.notes))
        return {
            "prompts": outcome.answered,
            "prompt_tokens": outcome.tokens["prompt"],
            "completion_tokens": outcome.tokens["completion"],
            "seconds": outcome.seconds,
            "processor_ms": 1000 * processor / outcome.answered,
            "computed": 1 - outcome.tokens.get("cached", 0) / outcome.tokens["prompt"],
            "least": float(least) / 100,
            "storing_seconds": watched.storing,
            "first_stored_seconds": watched.first_stored - watched.first_asked,
        }

    def own(
        self, tokens: Sequence[dict[str, list[int]]], size: int, *, logprobs: bool = False
    ) -> dict[str, Any]:
        """Generate from the same tokens in the same order, all given at once."""
        from vllm import SamplingParams

        scores: dict[str, Any] = {}
        if logprobs:
            [tokenization] = self.loaded.described.tokenizations.values()
            scores = {"logprob_token_ids": tokenization.tokens}
        sampling = SamplingParams(temperature=0, max_tokens=size, ignore_eos=True, **scores)
        self.llm.reset_prefix_cache()
        engine, finished = self.llm.llm_engine, list[float]()
        step = engine.step

        def noted() -> Any:
            outputs = step()
            if not finished and any(output.finished for output in outputs):
                finished.append(time.perf_counter())
            return outputs

        started, processor = time.perf_counter(), time.process_time()
        with patch.object(engine, "step", noted):
            text = self.llm.generate(tokens, sampling, use_tqdm=False)
        seconds, processor = time.perf_counter() - started, time.process_time() - processor
        return {
            "prompts": len(text),
            "prompt_tokens": sum(len(entry.prompt_token_ids) for entry in text),
            "completion_tokens": sum(len(entry.outputs[0].token_ids) for entry in text),
            "seconds": seconds,
            "processor_ms": 1000 * processor / len(text),
            "first_finished_seconds": finished[0] - started,
        }

    def token_prompts(self, version: str) -> list[dict[str, list[int]]]:
        """Return all prompts of the study as tokens, in the order in which a run asks them."""
        study = Study.open(self.folder / "study")
        metric = Ccrs(prompt_version(version))
        with study.read() as connection:
            versions = study.construct_versions(connection)
        scope = Scope(metric, select_constructs(study, metric, ()), versions, 1)
        unbounded = Ready(Conditions("vllm", "tiny"), TokenCount())
        layout = self.loaded.described.layout
        stream = CallPlan(study, scope, places(study), 0).requests(unbounded)
        listed = [{"prompt_token_ids": layout.tokens(request.prompt)} for request in stream]
        study.close()
        return listed


@dataclass
class _Watched:
    storing: float = 0.0
    first_asked: float = 0.0
    first_stored: float = 0.0


@contextmanager
def _watched(loaded: LoadedModel) -> Iterator[_Watched]:
    """Answer with a loaded engine, never ending before the last token; time what is stored."""
    watched = _Watched()
    commit, sampling, add = (
        AnswerStore.store,
        feed_module._sampling_parameters,
        feed_module.SchedulerFeed.add,
    )

    def timed(self: AnswerStore, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        began = time.perf_counter()
        try:
            return commit(self, pairs)
        finally:
            ended = time.perf_counter()
            watched.storing += ended - began
            watched.first_stored = watched.first_stored or ended

    def noted(self: Any, key: int, ask: Any) -> None:
        watched.first_asked = watched.first_asked or time.perf_counter()
        add(self, key, ask)

    def endless(values: Mapping[str, Any]) -> Any:
        return sampling({**values, "ignore_eos": True})

    with (
        patch.object(engine_module, "load", lambda _spec: loaded),
        patch.object(AnswerStore, "store", timed),
        patch.object(feed_module, "_sampling_parameters", endless),
        patch.object(feed_module.SchedulerFeed, "add", noted),
    ):
        yield watched


if __name__ == "__main__":
    main(sys.argv[1:])
