"""How far the files of a folder are, and what is next."""

from collections.abc import Iterator
from dataclasses import dataclass

from judge.engines.files.request_files import requests_in
from judge.engines.files.service.batch_folder import BatchFolder
from judge.text import Result
from study.text import counted, shell_word


@dataclass(frozen=True)
class FileState(Result):
    """A file of requests, and how far it is."""

    file: str
    state: str
    """new, preparing, starting, running, ended, failed or fetched."""
    word: str
    """The provider's word for the state of the batch."""
    prompts: int
    answered: int
    failed: int
    batch: str | None
    message: str
    results: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the file as a line of text."""
        if self.batch is None:
            text = "not submitted" if self.state in {"new", "preparing"} else "start not confirmed"
            return [f"{self.file}: {counted(self.prompts, 'prompt')}, {text}"]
        shown = self.state if self.state in {"fetched", "failed"} else self.word
        line = (
            f"{self.file}: {shown}, {self.answered:,} of {counted(self.prompts, 'prompt')} "
            f"answered, {self.failed:,} failed ({self.batch})"
        )
        return [f"{line}: {self.message}" if self.message else line]


@dataclass(frozen=True)
class FolderState(Result):
    """The files of a folder, and what is next."""

    files: tuple[FileState, ...]
    next: tuple[str, ...]

    @property
    def has_failed(self) -> bool:
        """Whether a batch has ended without results."""
        return any(file.state == "failed" for file in self.files)

    def lines(self) -> list[str]:
        """Return the files and what is next as lines of text."""
        return [*(line for file in self.files for line in file.lines()), *self.next]


def state_of(folder: BatchFolder) -> FolderState:
    """Return how far the files of a folder are, by what is known of them."""
    known = folder.known.files
    states = []
    for path in folder.paths:
        file = known.get(path.name)
        if file is None:
            number = sum(1 for _ in requests_in(path, folder.provider.form))
            states.append(FileState(path.name, "new", "", number, 0, 0, None, "", ()))
            continue
        fetched = tuple(file.results) if file.state == "fetched" else ()
        states.append(
            FileState(
                path.name,
                file.state,
                file.word,
                file.prompts,
                file.answered,
                file.failed,
                file.batch,
                file.message,
                fetched,
            )
        )
    return FolderState(tuple(states), tuple(_next(folder, states)))


def _next(folder: BatchFolder, files: list[FileState]) -> Iterator[str]:
    """Yield in sentences what to do."""
    path = shell_word(folder.path)
    key = "" if folder.key_variable is None else f" --api-key-env {folder.key_variable}"
    states = {file.state for file in files}
    if states & {"new", "preparing", "starting"}:
        yield f"Next: ccrs judge batch submit {path}{key}"
    if "failed" in states:
        yield (
            "Remove the cause that a message names, then: ccrs judge batch submit "
            f"{path}{key} --again"
        )
    if "running" in states:
        yield f"Later: ccrs judge batch status {path}{key}"
    if "ended" in states:
        yield f"Next: ccrs judge batch fetch {path}{key}"
    results = [folder.path / name for file in files for name in file.results]
    if results:
        words = [f"--model {shell_word(folder.model)}"]
        words += [f"--requests {path}", *(f"--answers {shell_word(r)}" for r in results)]
        yield (
            f"Next: ccrs judge STUDY --engine files {' '.join(words)}, with the same other "
            "options as when the files were written"
        )
