"""Asking how far the batches of a folder are, and fetching their results."""

import json
from collections.abc import Callable
from pathlib import Path

from judge.engines.files.provider_format import ProviderFormat
from judge.engines.files.request_files import requests_in
from judge.engines.files.service.batch_folder import BatchFolder
from judge.engines.files.service.batch_provider import BatchProvider, BatchState
from judge.engines.files.service.folder_state import FolderState, state_of
from judge.engines.files.service.submitted_files import SubmittedFile, alone_in
from study.errors import StudyError

OnFile = Callable[[str], None]
"""Is told in a sentence what was done with a file."""


async def status(folder: BatchFolder) -> FolderState:
    """Ask for the state of each batch whose results are not here; nothing is written."""
    open_files = _open_files(folder)
    if open_files:
        async with folder.service() as service:
            for name in open_files:
                await _ask(folder, service, name)
    return state_of(folder)


async def fetch(folder: BatchFolder, on_file: OnFile) -> FolderState:
    """Download the results of the batches that have ended, unless they are here.

    Raises
    ------
    StudyError
        Results did not arrive as a whole; there is no file of them. Those of other files stay.
    """
    with alone_in(folder.path):
        folder.read()
        open_files = _open_files(folder)
        if open_files:
            async with folder.service() as service:
                for name, file in open_files.items():
                    state = await _ask(folder, service, name)
                    if file.state == "ended":
                        await _download(folder, service, name, state)
                        on_file(f"{name}: {' and '.join(file.results) or file.message}")
                    folder.write()
    return state_of(folder)


def _open_files(folder: BatchFolder) -> dict[str, SubmittedFile]:
    """Return the files with a batch whose results are not here."""
    return {
        name: file
        for name, file in folder.known.files.items()
        if file.batch is not None
        and file.state != "failed"
        and not (
            file.state == "fetched" and all((folder.path / each).is_file() for each in file.results)
        )
    }


async def _ask(folder: BatchFolder, service: BatchProvider, name: str) -> BatchState:
    file = folder.known.files[name]
    try:
        state = await service.state(file.batch or "")
    except StudyError as error:
        raise StudyError(f"{folder.path / name}, batch {file.batch}: {error}") from None
    file.update(state)
    return state


async def _download(
    folder: BatchFolder, service: BatchProvider, name: str, state: BatchState
) -> None:
    file, path, form = folder.known.files[name], folder.path / name, folder.provider.form
    # Files of another submission keep their results.
    stem = path.stem.replace("judge", "results", 1) + (f"-{file.times}" if file.times > 1 else "")
    targets = {
        path.with_name(f"{stem}{suffix}.jsonl"): address for suffix, address in state.results
    }
    for target, address in targets.items():
        try:
            await service.client.download(address, target)
        except StudyError as error:
            raise StudyError(f"{path}: its results could not be fetched. {error}") from None
    names = {found for target in targets if (found := _first_name(target, form)) is not None}
    if names and names.isdisjoint(request[form.id_field] for request in requests_in(path, form)):
        for target in targets:
            target.unlink()
        file.state, file.message = "failed", f"the results of {file.batch} are not of this file"
        return
    file.state, file.results = "fetched", [target.name for target in targets]


def _first_name(path: Path, form: ProviderFormat) -> str | None:
    """Return the name of the first prompt in a file of results; None if it can't be read."""
    with path.open("rb") as stream:
        try:
            name = json.loads(stream.readline()).get(form.id_field)
        except (ValueError, AttributeError, RecursionError):
            return None
    return name if isinstance(name, str) else None
