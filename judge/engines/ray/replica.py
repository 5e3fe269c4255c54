"""A replica: Ray's stage for vLLM, which answers blocks of prompts as the engine `vllm` does."""

import asyncio
import pickle
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

from judge.engines.ray.blocks import BlockResult
from judge.engines.ray.cluster import accelerators_each
from judge.engines.vllm.engine_output import EngineOutput
from judge.engines.vllm.model_loader import (
    DescribedModel,
    ModelSpec,
    ProcessCleanup,
    describe,
    loading_errors,
    quiet_vllm,
)
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import (
    TOO_LONG_ANSWER,
    Ask,
    Decoding,
    PromptRequests,
    VLLMRequest,
    completion_of,
)
from judge.protocol.exchange import Answer, Failure
from study.errors import StudyError

quiet_vllm()

from ray.llm._internal.batch.stages.vllm_engine_stage import vLLMEngineStageUDF  # noqa: E402

DESCRIBE = b""
"""In place of prompts: asks for the `DescribedModel`, or the reason why there is none."""


class JudgeReplica(vLLMEngineStageUDF):  # type: ignore[misc]
    """Answers rows with a block of prompts each.

    Ray's stage returns neither why an answer ended nor what was cached, so results are read here.
    """

    def __init__(self, *, spec: ModelSpec, decoding: Decoding, **values: Any) -> None:
        values["expected_input_keys"] = []
        self._problem: str | None = None
        try:
            with loading_errors(spec.model, EngineOutput()):
                values["engine_kwargs"] = _offline_defaults(values["engine_kwargs"])
                super().__init__(**values)
            # Ray does not end the processes of vLLM if it kills this one.
            self._cleanup = ProcessCleanup()
            engine = self.llm.engine
            self._model = describe(spec, engine.get_tokenizer(), engine.vllm_config)
        except StudyError as error:
            # Ray would only try to start another replica.
            self._problem = str(error)
            return
        self._prompts = PromptRequests(spec.model, self._model, decoding)
        self._reuse = PrefixReuse(self._model.facts.block_size)
        self.llm.generate_async = self._complete

    async def _generate_with_error_handling(
        self, row: dict[str, Any], batch_uuid: Any
    ) -> dict[str, Any]:
        prompts = row.pop("prompts")
        result: BlockResult | DescribedModel | str
        if self._problem is not None:
            result = self._problem
        elif prompts == DESCRIBE:
            result = self._model
        else:
            result = await self._answer_block(pickle.loads(prompts), batch_uuid)  # noqa: S301
        place = self.IDX_IN_BATCH_COLUMN
        return {place: row[place], "result": pickle.dumps(result)}

    async def _answer_block(self, asks: Sequence[Ask], batch_uuid: Any) -> BlockResult:
        counts = PrefixReuse(self._reuse.block)
        answers = []
        for ask in asks:
            answers.append(asyncio.create_task(self._answer(ask, counts, batch_uuid)))
            # Requests reach the engine in the order of the prompts, and others meanwhile.
            await asyncio.sleep(0)
        return BlockResult(
            await asyncio.gather(*answers),
            counts.prompt_tokens,
            counts.cached_tokens,
            counts.shared_tokens,
        )

    async def _answer(self, ask: Ask, counts: PrefixReuse, batch_uuid: Any) -> Answer | Failure:
        requests = self._prompts.requests(ask)
        if not requests:
            return TOO_LONG_ANSWER
        began = monotonic()
        for request in requests:
            shared = self._reuse.add_prompt(request.tokens)
            counts.add(len(request.tokens), 0, shared)
        results = await asyncio.gather(*(self._result(each, batch_uuid) for each in requests))
        completions = []
        for result in results:
            if error := result["__inference_error__"]:
                return Failure("vllm_error", error)
            completions.append(result["completion"])
            counts.add(0, result["completion"].cached_tokens or 0, 0)
        taken = (monotonic() - began) * 1000
        return self._prompts.answer(ask, len(requests[0].tokens), completions, taken)

    async def _result(self, request: VLLMRequest, batch_uuid: Any) -> Any:
        from vllm.sampling_params import RequestOutputKind

        row = {
            self.IDX_IN_BATCH_COLUMN: 0,
            "tokenized_prompt": request.tokens,
            "sampling_params": {**request.sampling, "output_kind": RequestOutputKind.FINAL_ONLY},
        }
        # Ends this process if the engine has stopped, so that Ray starts another.
        return await super()._generate_with_error_handling(row, batch_uuid)

    async def _complete(self, row: dict[str, Any]) -> tuple[Any, dict[str, Any], float]:
        """Replace `generate_async` of Ray's wrapper, which returns only a part of the output."""
        request = await self.llm._prepare_llm_request(row)
        async with self.llm.semaphore:
            output = await self.llm._generate_async(request)
        return request, {"completion": completion_of(output)}, 0.0


def _offline_defaults(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of an engine with the sizes of batches that vLLM's `LLM` takes by default.

    Ray names no use to vLLM, which then takes much smaller ones.
    """
    from vllm import AsyncEngineArgs
    from vllm.usage.usage_lib import UsageContext

    tokens, prompts = AsyncEngineArgs.get_batch_defaults(accelerators_each(arguments))
    return {
        "max_num_batched_tokens": tokens[UsageContext.LLM_CLASS],
        "max_num_seqs": prompts[UsageContext.LLM_CLASS],
        **arguments,
    }
