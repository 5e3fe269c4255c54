"""A folder of request files, the service that takes them, and what is known of their batches."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from judge.engines.engine_settings import plain_address
from judge.engines.files.request_files import files_of, format_of, requests_in
from judge.engines.files.service.anthropic_batches import AnthropicBatches
from judge.engines.files.service.batch_provider import BatchProvider
from judge.engines.files.service.gemini_batches import GeminiBatches
from judge.engines.files.service.openai_batches import OpenAIBatches
from judge.engines.files.service.provider_client import ProviderClient
from judge.engines.files.service.submitted_files import (
    NAME,
    SubmittedFile,
    SubmittedFiles,
    digest_of,
)
from judge.engines.openai.api_key import ApiKey
from study.errors import StudyError, without_effect
from study.text import shell_word

PROVIDERS: dict[str, type[BatchProvider]] = {
    provider.form.name: provider for provider in (OpenAIBatches, AnthropicBatches, GeminiBatches)
}
"""The services by the format of their files."""


class BatchFolder:
    """A folder of request files, as the engine `files` writes them, and their batches.

    Parameters
    ----------
    path
        The folder.
    key_variable
        Name of the environment variable with the key; None: that of the provider.

    Raises
    ------
    StudyError
        The folder has no files of requests, or those of several formats.
    """

    def __init__(self, path: Path, key_variable: str | None = None) -> None:
        self.path = path
        self.provider = _provider_of(path)
        self.paths = files_of(path, self.provider.form)
        """The files of requests."""
        self.key_variable = key_variable
        self.known: SubmittedFiles
        """What is recorded of them."""
        self.read()

    def read(self) -> None:
        """Read what is recorded."""
        form = self.provider.form.name
        empty = SubmittedFiles(provider=form, base_url=self.provider.base_url)
        self.known = SubmittedFiles.read(self.path) or empty
        if self.known.provider != form:
            raise StudyError(
                f"The files of {self.path} have the format {form!r}, and {NAME} there is of "
                f"{self.known.provider!r}. Restore the files, or use another folder."
            )

    def write(self) -> None:
        """Record what is known, on disk when this returns."""
        self.known.write(self.path)

    @property
    def model(self) -> str:
        """The model that answers."""
        form = self.provider.form
        named = form.size(next(requests_in(self.paths[0], form))).model
        return named or self.known.model or "MODEL"

    def aim(self, base_url: str | None, model: str | None, *, again: bool) -> None:
        """Decide on the address and the model.

        Raises
        ------
        StudyError
            They don't fit the files or what was submitted, a submitted file has changed, or
            `again` has no effect.
        """
        known, title = self.known, self.provider.title
        elsewhere = "or write the files into another folder"
        try:
            address = plain_address(base_url)
        except ValueError as error:
            raise StudyError(f"--base-url: {error}.") from None
        is_bound = any(file.state != "preparing" for file in known.files.values())
        if not is_bound:
            if address not in {None, known.base_url}:
                # Uploads to another server are of no use.
                known.files = {}
            known.base_url = address or known.base_url
        elif address not in {None, known.base_url}:
            raise StudyError(
                f"Files of {self.path} are submitted to {known.base_url}. Leave --base-url out, "
                f"{elsewhere}."
            )
        form = self.provider.form
        if form.size(next(requests_in(self.paths[0], form))).model is not None:
            if model is not None:
                raise StudyError(without_effect("--model", model, "the files name their model"))
        elif not is_bound:
            known.model = model or known.model
            if known.model is None:
                raise StudyError(
                    f"Name the model with --model: the files for {title} do not contain it."
                )
        elif model not in {None, known.model}:
            raise StudyError(
                f"Files of {self.path} are submitted for {known.model}. Leave --model out, "
                f"{elsewhere}."
            )
        self._check_unchanged()
        if again and not any(f.state in {"failed", "starting"} for f in known.files.values()):
            raise StudyError(
                without_effect("--again", True, "no batch has failed or is without an answer")
            )

    @asynccontextmanager
    async def service(self) -> AsyncIterator[BatchProvider]:
        """Yield the provider's service.

        Raises
        ------
        StudyError
            There is no key, and the provider wants one.
        """
        base_url = self.known.base_url
        variable = self.key_variable or self.provider.key_variable
        key = ApiKey(base_url, variable)
        if not key.value and base_url == self.provider.base_url:
            raise StudyError(
                f"The environment variable {variable} has no key. Set it to the key of "
                f"{self.provider.title}, or name another one with --api-key-env."
            )
        headers = self.provider.headers(key.value)
        async with ProviderClient(base_url, key, headers) as client:
            yield self.provider(client)

    def _check_unchanged(self) -> None:
        for path in self.paths:
            file = self.known.files.get(path.name)
            if file is not None and file.digest != digest_of(path):
                raise StudyError(
                    f"{path} has changed since it was submitted. Restore it from a copy, or write "
                    "the files into another folder."
                )


def _provider_of(folder: Path) -> type[BatchProvider]:
    """Return the provider whose files a folder has."""
    if not folder.is_dir():
        raise StudyError(f"{folder} is not a folder. Name the folder of --requests.")
    form = format_of(folder, (provider.form for provider in PROVIDERS.values()))
    if form is None:
        raise StudyError(
            f"{folder} has no files of requests (judge-001.jsonl). Write them with `ccrs judge "
            f"STUDY --engine files --model MODEL --requests {shell_word(folder)}`."
        )
    return PROVIDERS[form.name]


def is_open(file: SubmittedFile | None, *, again: bool) -> bool:
    """Return whether a file is to be submitted."""
    if file is None or file.batch is None:
        return True
    return again and file.state == "failed"
