"""What submitting the files of a folder would send, and cost."""

from dataclasses import dataclass

from judge.engines.engine import TokenCount
from judge.engines.files.request_files import requests_in
from judge.engines.files.service.batch_folder import BatchFolder, is_open
from judge.text import Result
from study.errors import StudyError
from study.text import counted


@dataclass(frozen=True)
class SubmissionPlan(Result):
    """What a call submits: prompts, tokens, and their cost."""

    provider: str
    base_url: str
    model: str
    prompts: dict[str, int]
    """Prompts to submit, by file."""
    prompt_tokens: int
    """An estimate, at four bytes each."""
    answer_tokens: int
    """The most that the answers may have."""
    cost: float | None
    submitted: int
    """Files that were submitted before."""

    def lines(self) -> list[str]:
        """Return the plan as lines of text."""
        lines = [
            f"Submitted before: {counted(self.submitted, 'file')}." if self.submitted else "",
            *(f"{name}: {counted(number, 'prompt')}" for name, number in self.prompts.items()),
        ]
        if not self.prompts:
            return [*filter(None, lines), "There is no file to submit."]
        total = sum(self.prompts.values())
        lines += [
            f"To submit: {counted(total, 'prompt')} to {self.base_url}, for {self.model}",
            f"Prompt tokens: about {self.prompt_tokens:,} (at four bytes each)",
            f"Answer tokens: at most {self.answer_tokens:,}",
            ""
            if self.cost is None
            else f"Cost: about {self.cost:,.2f}, with answers at their limit",
        ]
        return [line for line in lines if line]


def submission_plan(
    folder: BatchFolder,
    *,
    base_url: str | None = None,
    model: str | None = None,
    price: tuple[float, float] | None = None,
    again: bool = False,
) -> SubmissionPlan:
    """Return what `submit` would submit.

    Parameters
    ----------
    folder
        The folder with the files.
    base_url, model
        Address of the service, and the model where the files name none.
    price
        Prices of a million prompt tokens and of a million answer tokens.
    again
        Whether batches that have failed as a whole are submitted once more.

    Raises
    ------
    StudyError
        A setting does not fit the files, or a submitted file has changed.
    """
    folder.aim(base_url, model, again=again)
    form = folder.provider.form
    prompts: dict[str, int] = {}
    size = answers = 0
    for path in folder.paths:
        if not is_open(folder.known.files.get(path.name), again=again):
            continue
        prompts[path.name] = 0
        for request in requests_in(path, form):
            try:
                each = form.size(request)
            except (KeyError, TypeError, AttributeError):
                raise StudyError(
                    f"{path}: a request has no prompt or no limit of the answer. Write the files "
                    "anew with `ccrs judge STUDY --engine files --requests FOLDER`."
                ) from None
            prompts[path.name] += 1
            size += each.prompt_bytes
            answers += each.answer_tokens
    tokens = round(size * TokenCount().per_byte)
    return SubmissionPlan(
        form.name,
        folder.known.base_url,
        folder.model,
        prompts,
        tokens,
        answers,
        None if price is None else (tokens * price[0] + answers * price[1]) / 1e6,
        len(folder.paths) - len(prompts),
    )
