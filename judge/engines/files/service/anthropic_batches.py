"""Anthropic's Message Batches API: a file is the body of the request that starts its batch.

Source: platform.claude.com/docs/en/api/messages/batches.
"""

from collections.abc import AsyncIterator
from typing import Any

from judge.engines.files.anthropic_format import AnthropicFormat
from judge.engines.files.service.batch_provider import (
    BatchProvider,
    BatchState,
    FileToSubmit,
    entries,
    identifier,
    number,
    part,
    word,
)
from study.errors import StudyError

_VERSION = "2023-06-01"
_NONE = "none"
_FAILED = ("errored", "canceled", "expired")


class AnthropicBatches(BatchProvider):
    """The service of Anthropic, whose batches have no marks: a lost one is the one since then."""

    form = AnthropicFormat()
    title = "Anthropic"
    base_url = "https://api.anthropic.com/v1"
    key_variable = "ANTHROPIC_API_KEY"
    marks = False

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        """Return the headers with the key and the version of the interface."""
        return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}

    async def prepare(self, file: FileToSubmit) -> str:
        """Return the newest batch of all, before which the lost one can't be."""
        del file
        async for batch in self._newest(1):
            return identifier(batch, "id", "a batch")
        return _NONE

    async def start(self, file: FileToSubmit, prepared: str) -> BatchState:
        """Send the file."""
        del prepared
        headers = {"Content-Type": "application/json"}
        reply = await self.client.send("POST", "/messages/batches", file.path, headers, tries=1)
        return self._read(reply.data)

    async def find(self, file: FileToSubmit, prepared: str | None) -> BatchState | None:
        """Return the batch that began since, with as many prompts; it must be the only one."""
        found = []
        async for batch in self._newest(100):
            if prepared is None or batch.get("id") == prepared:
                break
            counts = part(batch, "request_counts")
            total = number(counts, "processing", "succeeded", *_FAILED)
            if total == file.prompts and batch.get("id") not in file.known:
                found.append(self._read(batch))
        if len(found) > 1:
            names = ", ".join(each.batch for each in found)
            raise StudyError(
                f"{file.path}: its batch was started without an answer, and {names} have as "
                "many prompts. Cancel those that are not yours, in the provider's console; or "
                "start it once more with --again."
            )
        return found[0] if found else None

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch, with the address of its results."""
        return self._read((await self.client.get(f"/messages/batches/{batch}")).data)

    async def _newest(self, size: int) -> AsyncIterator[dict[str, Any]]:
        after = ""
        while True:
            page = (await self.client.get(f"/messages/batches?limit={size}{after}")).data
            batches = entries(page, "data")
            for batch in batches:
                yield batch
            if not page.get("has_more") or not batches:
                return
            after = f"&after_id={identifier(batches[-1], 'id', 'a batch')}"

    def _read(self, batch: dict[str, Any]) -> BatchState:
        status, counts = word(batch, "processing_status"), part(batch, "request_counts")
        ended, address = status == "ended", word(batch, "results_url")
        return BatchState(
            identifier(batch, "id", "the batch"),
            ("ended" if address else "failed") if ended else "running",
            self.client.clean(status),
            number(counts, "succeeded"),
            number(counts, *_FAILED),
            "" if address or not ended else "its results are no longer kept",
            (("", address),) if address else (),
        )
