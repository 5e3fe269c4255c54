"""OpenAI's Batch API: a file is uploaded, and a batch is started with its id.

Source: platform.openai.com/docs/api-reference/batch and .../files.
"""

import json
import time
from collections.abc import AsyncIterator
from typing import Any

from judge.engines.files.openai_format import OpenAIFormat
from judge.engines.files.service.batch_provider import (
    BatchProvider,
    BatchState,
    FileToSubmit,
    NoListError,
    entries,
    identifier,
    number,
    part,
    word,
)
from judge.engines.files.service.provider_client import FileForm, ProviderError

_RUNNING = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
# Results are kept for 30 days, and older batches are of no use.
_OLDEST = 30 * 24 * 3600
_MARK = "ccrs_file"
_JSON = {"Content-Type": "application/json"}


class OpenAIBatches(BatchProvider):
    """The service of OpenAI, and of servers with the same addresses."""

    form = OpenAIFormat()
    title = "OpenAI"
    base_url = "https://api.openai.com/v1"
    key_variable = "OPENAI_API_KEY"

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        """Return the header with the key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    async def prepare(self, file: FileToSubmit) -> str:
        """Upload the file, and return its id."""
        form = FileForm(file.path, {"purpose": "batch"})
        reply = await self.client.send("POST", "/files", form)
        return identifier(reply.data, "id", "the uploaded file")

    async def start(self, file: FileToSubmit, prepared: str) -> BatchState:
        """Start a batch that is marked with the file's key."""
        batch = {
            "input_file_id": prepared,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_MARK: file.key},
        }
        encoded = json.dumps(batch).encode()
        reply = await self.client.send("POST", "/batches", encoded, _JSON, tries=1)
        return self._read(reply.data)

    async def find(self, file: FileToSubmit, prepared: str | None) -> BatchState | None:
        """Return the batch with the mark, or of the upload, where a server keeps no marks."""
        async for batch in self._newest():
            mark = part(batch, "metadata").get(_MARK)
            if mark == file.key or (not mark and prepared == batch.get("input_file_id")):
                return self._read(batch)
        return None

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch, with the files of its results and errors."""
        return self._read((await self.client.get(f"/batches/{batch}")).data)

    async def _newest(self) -> AsyncIterator[dict[str, Any]]:
        after = ""
        while True:
            try:
                page = (await self.client.get(f"/batches?limit=100{after}")).data
            except ProviderError as error:
                if error.is_absent and not after:
                    raise NoListError(str(error)) from None
                raise
            batches = entries(page, "data")
            for batch in batches:
                yield batch
            last = batches[-1] if batches else {}
            # A server may not say when.
            is_old = 0 < number(last, "created_at") < time.time() - _OLDEST
            if not page.get("has_more") or is_old:
                return
            after = f"&after={identifier(last, 'id', 'a batch')}"

    def _read(self, batch: dict[str, Any]) -> BatchState:
        name, status = identifier(batch, "id", "the batch"), word(batch, "status")
        counts = part(batch, "request_counts")
        files = (("", word(batch, "output_file_id")), ("-errors", word(batch, "error_file_id")))
        results = tuple((suffix, f"/files/{file}/content") for suffix, file in files if file)
        errors = entries(part(batch, "errors"), "data")
        lines = [
            f"line {each['line']}: {word(each, 'message')}"
            if each.get("line")
            else word(each, "message")
            for each in errors[:3]
        ]
        more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
        ended = status not in _RUNNING
        return BatchState(
            name,
            ("ended" if results else "failed") if ended else "running",
            self.client.clean(status),
            number(counts, "completed"),
            number(counts, "failed"),
            self.client.clean("; ".join(lines)) + more,
            results if ended else (),
        )
