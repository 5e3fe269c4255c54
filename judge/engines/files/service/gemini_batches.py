"""Gemini's Batch API: a file is uploaded, and a batch of a model is started with its name.

Source: ai.google.dev/gemini-api/docs/batch-api and ai.google.dev/api/batch-api.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from judge.engines.files.gemini_format import GeminiFormat
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

_JSON = {"Content-Type": "application/json"}
_RUNNING = frozenset({"", "UNSPECIFIED", "PENDING", "RUNNING"})


class GeminiBatches(BatchProvider):
    """The service of the Gemini API."""

    form = GeminiFormat()
    title = "Gemini"
    base_url = "https://generativelanguage.googleapis.com/v1beta"
    key_variable = "GEMINI_API_KEY"
    # Files are deleted after 48 hours.
    keeps_uploads = 40 * 3600.0

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        """Return the header with the key."""
        return {"x-goog-api-key": key} if key else {}

    async def prepare(self, file: FileToSubmit) -> str:
        """Upload the file, and return its name."""
        path = file.path
        size = str(path.stat().st_size)
        described = json.dumps({"file": {"display_name": file.key}}).encode()
        begun = await self.client.send(
            "POST",
            self._within("upload", "/files"),
            described,
            {
                **_JSON,
                "X-Goog-Upload-Protocol": "resumable",
                "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Length": size,
                "X-Goog-Upload-Header-Content-Type": "application/jsonl",
            },
        )
        address = begun.headers.get("X-Goog-Upload-URL")
        if not address:
            raise StudyError("The server gives no address for the upload. Check --base-url.")
        reply = await self.client.send(
            "POST",
            address,
            path,
            {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"},
        )
        return identifier(part(reply.data, "file"), "name", "the uploaded file")

    async def start(self, file: FileToSubmit, prepared: str) -> BatchState:
        """Start a batch that is named by the file's key."""
        batch = {"display_name": file.key, "input_config": {"file_name": prepared}}
        encoded = json.dumps({"batch": batch}).encode()
        model = quote((file.model or "").removeprefix("models/"), safe="")
        address = f"/models/{model}:batchGenerateContent"
        reply = await self.client.send("POST", address, encoded, _JSON, tries=1)
        return self._read(reply.data)

    async def find(self, file: FileToSubmit, prepared: str | None) -> BatchState | None:
        """Return the batch with the file's key as its name."""
        del prepared
        after = ""
        while True:
            page = (await self.client.get(f"/batches?pageSize=100{after}")).data
            for batch in entries(page, "operations"):
                if part(batch, "metadata").get("displayName") == file.key:
                    return self._read(batch)
            following = word(page, "nextPageToken")
            if not following:
                return None
            after = f"&pageToken={quote(following, safe='')}"

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch, with the file of its results."""
        return self._read((await self.client.get(f"/{batch}")).data)

    def _within(self, folder: str, path: str) -> str:
        """Return an address in another folder of the host, such as /upload."""
        parts = urlsplit(self.client.base_url)
        return urlunsplit((parts.scheme, parts.netloc, f"/{folder}{parts.path}{path}", "", ""))

    def _read(self, operation: Mapping[str, Any]) -> BatchState:
        metadata = part(operation, "metadata")
        # BATCH_STATE_RUNNING or JOB_STATE_RUNNING.
        status = word(metadata, "state").rpartition("STATE_")[2]
        outputs = (part(operation, "response"), part(metadata, "output"))
        files = [word(output, "responsesFile") for output in outputs]
        file = next(filter(None, files), "")
        ended = operation.get("done") is True or status not in _RUNNING
        stats = part(metadata, "batchStats")
        results: tuple[tuple[str, str], ...] = ()
        if ended and file:
            name = identifier({"name": file}, "name", "the results")
            results = (("", f"{self._within('download', f'/{name}')}:download?alt=media"),)
        return BatchState(
            identifier(operation, "name", "the batch"),
            ("ended" if results else "failed") if ended else "running",
            self.client.clean(status.lower()),
            number(stats, "successfulRequestCount"),
            number(stats, "failedRequestCount"),
            self.client.clean(word(part(operation, "error"), "message")),
            results,
        )
