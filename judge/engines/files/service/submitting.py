"""Submitting files: each step is recorded before and after, so that no batch starts twice."""

from pathlib import Path

from judge.engines.files.service.batch_folder import BatchFolder, is_open
from judge.engines.files.service.batch_provider import (
    BatchProvider,
    BatchState,
    FileToSubmit,
    NoListError,
)
from judge.engines.files.service.fetching import OnFile
from judge.engines.files.service.folder_state import FolderState, state_of
from judge.engines.files.service.provider_client import TRIES, ProviderError, pause
from judge.engines.files.service.submission_plan import SubmissionPlan
from judge.engines.files.service.submitted_files import SubmittedFile, alone_in, digest_of, now
from study.errors import StudyError

_EARLIER_TRIES = 3


async def submit(
    folder: BatchFolder,
    plan: SubmissionPlan,
    on_file: OnFile,
    *,
    model: str | None = None,
    again: bool = False,
) -> FolderState:
    """Submit the files of a plan, one after another; `model` and `again` are those of the plan.

    Raises
    ------
    StudyError
        A file could not be submitted. Those before it are; the next call continues.
    """
    if not plan.prompts:
        return state_of(folder)
    with alone_in(folder.path):
        # Another call may have submitted files since the plan was made.
        folder.read()
        folder.aim(plan.base_url, model, again=again)
        async with folder.service() as service:
            for path in folder.paths:
                number = plan.prompts.get(path.name)
                if number is None or not is_open(folder.known.files.get(path.name), again=again):
                    continue
                file = await _submit(folder, service, path, number, again=again)
                on_file(f"{path.name}: batch {file.batch}, {file.word}")
    return state_of(folder)


async def _submit(
    folder: BatchFolder, service: BatchProvider, path: Path, prompts: int, *, again: bool
) -> SubmittedFile:
    """Submit a file, or find the batch that an earlier call has started."""
    files = folder.known.files
    file = files.get(path.name)
    if file is None:
        file = SubmittedFile(digest=digest_of(path), prompts=prompts)
    elif again and file.state in {"failed", "starting"}:
        file = SubmittedFile(digest=file.digest, prompts=prompts, times=file.times + 1)
    files[path.name] = file
    batches = {other.batch for other in files.values() if other.batch}
    sent = FileToSubmit(path, file.key, prompts, folder.known.model, batches)
    folder.write()
    try:
        file.update(await _started(folder, service, sent, file))
    except ProviderError as error:
        raise StudyError(f"{path}: {error}") from None
    folder.write()
    return file


async def _started(
    folder: BatchFolder, service: BatchProvider, sent: FileToSubmit, file: SubmittedFile
) -> BatchState:
    is_lost = file.state == "starting"
    for attempt in range(TRIES):
        # A marked batch is found even where the record was lost with its machine.
        if attempt or is_lost or service.marks:
            found = await _found(service, sent, file, is_lost=is_lost)
            if found is not None:
                return found
        if file.prepared is None or now() - file.since > service.keeps_uploads:
            file.prepared, file.since = await service.prepare(sent), now()
        file.state = "starting"
        folder.write()
        try:
            return await service.start(sent, file.prepared)
        except ProviderError as error:
            is_lost = is_lost or error.may_have_effect
            if not is_lost:
                # It was refused, so there is nothing to find.
                file.state = "preparing"
                folder.write()
            if not error.may_pass or attempt + 1 == TRIES:
                raise
            # Longer than a list takes to have a batch that has just started.
            await pause(error, attempt + _EARLIER_TRIES)
    raise AssertionError


async def _found(
    service: BatchProvider, sent: FileToSubmit, file: SubmittedFile, *, is_lost: bool
) -> BatchState | None:
    try:
        return await service.find(sent, file.prepared)
    except NoListError as error:
        if not is_lost:
            return None
        raise StudyError(
            f"{sent.path}: its batch may have started, and the server has no list of "
            f"batches to look it up ({error}). If it has not, start it with --again."
        ) from None
