"""The output of vLLM's processes: one cause and one remedy instead of seventy lines."""

import subprocess
import sys
from pathlib import Path

import pytest

from judge.engines.vllm.engine_output import EngineOutput

WORKER = "(EngineCore pid=812) ERROR 11-28 05:57:21 [core.py:953] "
FAILED = RuntimeError(
    "Engine core initialization failed. See root cause above. Failed core proc(s): {}"
)
MEMORY = "The model does not fit into this memory"


def failure(*lines: str, error: BaseException = FAILED) -> str:
    """Return what is said of a failure after a process has printed lines."""
    output = EngineOutput()
    printed = "\n".join(f"{WORKER}{line}" for line in lines)
    with output.redirected():
        program = f"import sys; sys.stderr.write({printed!r} + chr(10))"
        subprocess.run([sys.executable, "-c", program], check=True)
        subprocess.run(
            [
                sys.executable,
                "-c",
                "print('RuntimeError: Engine core initialization failed. ''See root cause above.')",
            ],
            check=True,
        )
    said = output.failure(error)
    output.close()
    return said


def test_what_processes_print_does_not_reach_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    print("before")
    said = failure("Traceback (most recent call last):", "ValueError: fp8 needs float16.")
    print("after")
    assert capfd.readouterr() == ("before\nafter\n", "")
    assert said.startswith("fp8 needs float16. All that vLLM printed is in ")
    saved = Path(said.split(" is in ")[1].rstrip("."))
    assert f"{WORKER}ValueError: fp8 needs float16." in saved.read_text(encoding="utf-8")
    saved.unlink()


@pytest.mark.parametrize(
    ("line", "cause", "remedy"),
    [
        (
            "RuntimeError: Cannot find any model weights with `/models/m`",
            "Cannot find any model weights with `/models/m`.",
            "no files of weights",
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a "
            "total capacity of 139.80 GiB of which 1.1 GiB is free.",
            "CUDA out of memory. ",
            MEMORY,
        ),
        (
            "ValueError: No available memory for the cache blocks. Try increasing "
            "`gpu_memory_utilization` when initializing the engine.",
            "No available memory for the cache blocks. ",
            MEMORY,
        ),
        (
            "ValueError: Free memory on device cuda:0 (10.1/139.8 GiB) on startup is less than "
            "desired GPU memory utilization (0.92, 128.6 GiB).",
            "Free memory on device cuda:0",
            MEMORY,
        ),
    ],
    ids=["no weights", "too large", "no cache", "in use"],
)
def test_a_cause_in_another_process_is_found_and_has_a_remedy(
    line: str, cause: str, remedy: str
) -> None:
    said = failure("Traceback (most recent call last):", '  File "x.py", line 1', line)
    assert said.startswith(cause)
    assert remedy in said
    assert "root cause" not in said
    assert "\n" not in said


def test_a_window_beyond_the_models_names_the_most() -> None:
    error = ValueError(
        "1 validation error for ModelConfig\n  Value error, User-specified max_model_len (90000) "
        "is greater than the derived max_model_len (max_position_embeddings=8192.0 or "
        "model_max_length=None in model's config.json). To allow overriding this maximum, set the "
        "env var. [type=value_error, input_value=ArgsKwargs((), {}), input_type=ArgsKwargs]\n"
        "    For further information visit https://errors.pydantic.dev/2.14/v/value_error"
    )
    said = failure(error=error)
    assert said.startswith("User-specified max_model_len (90000) is greater than")
    assert said.endswith(
        "--window 90000 is more than the 8192 tokens of the model: give at most 8192."
    )


def test_without_any_known_cause_the_message_itself_is_said() -> None:
    said = failure(error=KeyError("rope_theta"))
    assert said.startswith("'rope_theta'. All that vLLM printed is in ")
    Path(said.split(" is in ")[1].rstrip(".")).unlink()
