"""A Label Studio server, spoken to through label-studio-sdk, which is loaded when it is needed."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self, TypeVar
from urllib.parse import urlsplit

import ijson

from annotate_ui.label_studio.task_data import NAME
from study.errors import StudyError

# What the server says where its database is locked or it is overloaded.
_PASSING = frozenset({408, 409, 423, 425, 429, 500, 502, 503, 504})


class ServerError(StudyError):
    """Label Studio could not be reached, or refused; `status` is what it answered, if anything."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def passes(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status is None or self.status in _PASSING


T = TypeVar("T")
TIMEOUT = 120.0
"""Seconds for which an answer is waited for. Exports are made before they are sent."""
_ATTEMPTS = 6
_FIRST_PAUSE = 0.5
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_REMEDIES = {
    401: "The token is not accepted; copy it again from Account & Settings.",
    403: "The token's user may not do this.",
    404: "It is not there; check the address, and whether the project was deleted.",
}


@dataclass(frozen=True)
class Project:
    """A project as the server has it."""

    id: int
    description: str
    tasks: int


class Server:
    """The calls that are made, each tried again where the fault passes.

    Raises
    ------
    ServerError
        From every call: no answer after several tries, or a refusal, with what the server said.
    """

    def __init__(
        self, url: str, token: str, *, ca: Path | None = None, timeout: float = TIMEOUT
    ) -> None:
        try:
            import httpx
            from label_studio_sdk import LabelStudio
        except ImportError:
            raise StudyError(
                "label-studio-sdk is not installed; run: pip install 'ccrs-study[label-studio]'"
            ) from None
        self.url = address(url)
        self.waited = 0.0
        """Seconds in which nothing was done but wait for the server."""
        verify: ssl.SSLContext | bool = True
        if ca is not None:
            try:
                verify = ssl.create_default_context(cafile=str(ca))
            except (OSError, ssl.SSLError) as error:
                raise StudyError(f"{ca} is no file of certificates ({error}).") from None
        self._http = httpx.Client(verify=verify, timeout=timeout, follow_redirects=False)
        self._faults: tuple[type[Exception], ...] = (httpx.TransportError,)
        with self._explained("the token"):
            self._sdk = LabelStudio(
                base_url=self.url, api_key=token, httpx_client=self._http, max_retries=0
            )
            _keep_below(self._sdk, self.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def check(self) -> None:
        """Ask who one is there, so that a wrong address or token shows before anything is done."""
        try:
            self._tried("sign in", self._sdk.users.whoami)
        except ServerError as error:
            if error.status != 404:
                raise
            raise ServerError(
                f"{self.url} is no Label Studio (status 404). Give the address of the server "
                "itself, without /projects or what else follows it in a browser.",
                404,
            ) from None

    @cached_property
    def identity(self) -> str:
        """Which server it is, whatever its address: known by when its organization was made."""
        own = self._tried("sign in", self._sdk.users.whoami).active_organization
        for found in self._tried("list organizations", self._sdk.organizations.list):
            if found.id == own and found.created_at is not None:
                made = f"{found.id} {found.created_at.isoformat()}"
                return blake2b(made.encode(), digest_size=16).hexdigest()
        raise ServerError(
            f"{self.url} does not say which organization the token's user works in; take the token "
            "of somebody who is a member of the one with the projects."
        )

    def project(self, number: int) -> Project:
        """Return a project."""
        found = self._tried(f"look at project {number}", lambda: self._sdk.projects.get(number))
        return _project(found)

    def projects(self) -> list[Project]:
        """Return all projects that the token's user sees."""
        return self._tried(
            "list projects",
            # Of its counts only this one is read; others take the server long.
            lambda: [
                _project(found)
                for found in self._sdk.projects.list(
                    include="id,description,task_number", page_size=100
                )
            ],
        )

    def create_project(
        self,
        *,
        title: str,
        description: str,
        xml: str,
        instructions: str,
        overlap: int,
    ) -> int:
        """Make a project once; a fault says nothing of whether it was made. Return its number."""
        made = self._once(
            "make a project",
            lambda: self._sdk.projects.create(
                title=title,
                description=description,
                label_config=xml,
                expert_instruction=instructions,
                show_instruction=True,
                maximum_annotations=overlap,
                show_skip_button=True,
                # Else a skip is handed to the next person, whose rating then finds no slot.
                skip_queue="IGNORE_SKIPPED",
                show_collab_predictions=False,
                sampling="Uniform sampling",
            ),
        )
        return int(made.id)

    def import_tasks(self, number: int, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Send tasks once; a fault says nothing of whether they arrived. Return their numbers."""
        answer = self._once(
            f"send tasks to project {number}",
            lambda: self._sdk.projects.import_tasks(
                number, request=list(tasks), return_task_ids=True
            ),
        )
        found = answer.model_dump().get("task_ids") or []
        if len(found) != len(tasks):
            raise ServerError(f"Label Studio took {len(found)} of {len(tasks)} tasks.")
        return [int(task) for task in found]

    def export(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield every task of a project with its annotations; also those without any."""
        # On disk: the texts of all tasks come along, and only the annotations are kept.
        with TemporaryFile() as file:
            self._tried(f"export project {number}", lambda: self._download(number, file))
            yield from tasks_in(file, number)

    def delete_unrated(self, number: int, name: str) -> bool:
        """Delete a task of this name unless somebody has rated it; say whether it is gone.

        It is looked at once more right before: whoever rated it meanwhile keeps what they gave.
        Drafts of others are seen in exports only. The number may be another task's by now, for
        those of deleted tasks are given again.
        """
        try:
            found = self._tried(f"read task {number}", lambda: self._sdk.tasks.get(str(number)))
            if (found.data or {}).get(NAME) != name:
                return True
            if found.annotations:
                return False
            self._tried(f"delete task {number}", lambda: self._sdk.tasks.delete(str(number)))
        except ServerError as error:
            # An answer that was lost may have been that it is deleted.
            if error.status != 404:
                raise
        return True

    def delete_tasks(self, number: int, tasks: Sequence[int]) -> None:
        """Delete tasks of a project, whatever is of them."""
        chosen = {"all": False, "included": list(tasks)}
        self._tried(
            f"delete tasks of project {number}",
            lambda: self._sdk.actions.create(
                id="delete_tasks", project=number, selected_items=chosen
            ),
        )

    def _download(self, number: int, file: Any) -> None:
        file.seek(0)
        file.truncate()
        for chunk in self._sdk.projects.exports.download_sync(
            number,
            export_type="JSON",
            download_all_tasks=True,
            request_options={"chunk_size": 1 << 16},
        ):
            file.write(chunk)

    def _tried(self, what: str, call: Callable[[], T]) -> T:
        """Make a call that may be made again."""
        for attempt in range(_ATTEMPTS - 1):
            try:
                return self._once(what, call)
            except ServerError as error:
                if not error.passes:
                    raise
            time.sleep(_FIRST_PAUSE * 2**attempt)
        return self._once(what, call)

    def _once(self, what: str, call: Callable[[], T]) -> T:
        begun = time.monotonic()
        try:
            with self._explained(what):
                return call()
        finally:
            self.waited += time.monotonic() - begun

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        from label_studio_sdk.core.api_error import ApiError

        try:
            yield
        except ApiError as error:
            status = error.status_code
            said = " ".join(str(error.body).split())[:300]
            remedy = _REMEDIES.get(status or 0, f"It said: {said}")
            raise ServerError(
                f"{self.url}: could not {what} (status {status}). {remedy}", status
            ) from None
        except self._faults as error:
            raise ServerError(
                f"{self.url}: could not {what} ({error or type(error).__name__}). Check that the "
                "server runs, its address and its certificate."
            ) from None
        except (ValueError, TypeError) as error:
            # Something before the server answers in its place, with a page instead of values.
            said = " ".join(str(error).split())[:200]
            raise ServerError(
                f"{self.url}: could not {what}: the answer can't be read ({said}). Check that the "
                "address is that of a Label Studio, and whether it is being restarted."
            ) from None


def address(url: str) -> str:
    """Return the address of a server in one form, so that it is known again.

    Raises
    ------
    StudyError
        It is no http or https address, or it holds a password.
    """
    parts = urlsplit(url.strip())
    try:
        _ = parts.port
    except ValueError as error:
        raise StudyError(f"{url} is no address: {error}.") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise StudyError(f"{url!r} is no address; begin with http:// or https:// and a host.")
    if "@" in parts.netloc:
        raise StudyError("The address holds a user or password; leave it out.")
    if parts.query or parts.fragment:
        raise StudyError(f"{url}: leave out what follows ? or #.")
    host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS[parts.scheme]).removesuffix(":")
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def _keep_below(sdk: Any, url: str) -> None:
    """Have the token be renewed below the server's address: label-studio-sdk leaves the path out.

    Whoever serves the rest of that host would get a token with which to sign in.
    """
    tokens = getattr(sdk._client_wrapper, "_tokens_client", None)
    if tokens is not None:
        tokens._base_url = f"{url}/"


def _project(found: Any) -> Project:
    return Project(int(found.id), str(found.description or ""), int(found.task_number or 0))


def tasks_in(file: IO[bytes], number: int) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a project's export one by one.

    Raises
    ------
    ServerError
        The export is truncated or not a list. What was yielded before is then not all there is.
    """
    file.seek(0)
    try:
        if not file.read(_START).lstrip().startswith(b"["):
            raise TypeError("it does not begin with a list")
        file.seek(0)
        for task in ijson.items(file, "item", use_float=True):
            if not isinstance(task, dict):
                raise TypeError(f"{str(task)[:50]!r} is not a task")
            yield task
    except (ijson.JSONError, UnicodeDecodeError, TypeError) as error:
        raise ServerError(
            f"The export of project {number} is no whole list of tasks ({error}); run it again."
        ) from None


_START = 1024
"""Bytes among which the first character that is not white space is looked for."""
