"""The client of a Label Studio server; label-studio-sdk is imported when it is needed."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import IO, Any, Self, TypeVar
from urllib.parse import urlsplit

import ijson

from study.errors import StudyError
from study.text import counted

# Statuses of a server that is overloaded or whose database is locked.
_TEMPORARY = frozenset({408, 409, 423, 425, 429, 500, 502, 503, 504})
T = TypeVar("T")
TIMEOUT = 120.0
"""Default time to wait for a reply, in seconds. An export is created before it is sent."""
_ATTEMPTS = 6
_FIRST_PAUSE = 0.5
# Bytes that are searched for the first character that is not white space.
_HEAD = 1024
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_REMEDIES = {
    401: "The token is not accepted; copy it again from Account & Settings.",
    403: "The token's user may not do this.",
    404: "It was not found. Give the address of the server itself, without /projects or anything "
    "else after it, and check whether the project was deleted.",
}


class ServerError(StudyError):
    """Label Studio could not be reached, or refused; `status` is the HTTP status, if any."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_temporary(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status is None or self.status in _TEMPORARY


@dataclass(frozen=True)
class Project:
    """A project on the server."""

    id: int
    description: str
    xml: str = ""
    """Its labeling configuration; empty in a list of projects."""


class Server:
    """The requests to a Label Studio server; they are repeated after temporary failures.

    Raises
    ------
    ServerError
        From every method: no reply after several attempts, or a refusal, with the server's reply.
    """

    def __init__(self, url: str, token: str, *, timeout: float = TIMEOUT) -> None:
        try:
            import httpx
            from label_studio_sdk import LabelStudio
        except ImportError:
            raise StudyError(
                "label-studio-sdk is not installed; run: pip install 'ccrs-study[label-studio]'"
            ) from None
        self.url = address(url)
        self._http = httpx.Client(timeout=timeout, follow_redirects=False)
        self._faults: tuple[type[Exception], ...] = (httpx.TransportError,)
        with self._explained("the token"):
            self._sdk = LabelStudio(
                base_url=self.url, api_key=token, httpx_client=self._http, max_retries=0
            )
            _keep_below(self._sdk, self.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def check(self) -> None:
        """Sign in, so that a wrong address or token is noticed before anything is done."""
        self._tried("sign in", self._sdk.users.whoami)

    @cached_property
    def identity(self) -> str:
        """Identity of the server, whatever its address: a digest of its organization."""
        number = self._tried("sign in", self._sdk.users.whoami).active_organization
        for organization in self._tried("list organizations", self._sdk.organizations.list):
            if organization.id == number and organization.created_at is not None:
                created = f"{number} {organization.created_at.isoformat()}"
                return blake2b(created.encode(), digest_size=16).hexdigest()
        raise ServerError(
            f"{self.url} does not report the organization of the token's user; use the token of a "
            "member of the organization with the projects."
        )

    def project(self, number: int) -> Project:
        """Return a project."""
        read = self._tried(f"read project {number}", self._sdk.projects.get, number)
        return Project(int(read.id), str(read.description or ""), str(read.label_config or ""))

    def projects(self) -> list[Project]:
        """Return all projects that the token's user sees."""

        def listed() -> list[Project]:
            # Counts take the server long.
            pages = self._sdk.projects.list(include="id,description", page_size=100)
            return [Project(int(one.id), str(one.description or "")) for one in pages]

        return self._tried("list projects", listed)

    def create_project(
        self, *, xml: str, instructions: str, overlap: int, in_order: bool, **names: str
    ) -> int:
        """Create a project and return its number; after an error it may exist or not.

        `names` are its `title` and `description`. If `in_order`, every user gets the tasks in the
        order in which they were sent, otherwise each in another random order.
        """
        project = self._once(
            "create a project",
            self._sdk.projects.create,
            **names,
            label_config=xml,
            expert_instruction=instructions,
            show_instruction=True,
            maximum_annotations=overlap,
            show_skip_button=True,
            # Otherwise a skipped task goes to a further user, for whom there is no slot.
            skip_queue="IGNORE_SKIPPED",
            show_collab_predictions=False,
            sampling="Sequential sampling" if in_order else "Uniform sampling",
        )
        return int(project.id)

    def configure(self, number: int, xml: str) -> None:
        """Give a project another labeling configuration."""
        action = f"change the labeling configuration of project {number}"
        self._tried(action, self._sdk.projects.update, number, label_config=xml)

    def import_tasks(self, number: int, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Send tasks and return their numbers; after an error they may have arrived or not."""
        action, send = f"send tasks to project {number}", self._sdk.projects.import_tasks
        reply = self._once(action, send, number, request=list(tasks), return_task_ids=True)
        numbers = reply.model_dump().get("task_ids") or []
        if len(numbers) != len(tasks):
            raise ServerError(
                f"Label Studio accepted {len(numbers)} of {counted(len(tasks), 'task')}."
            )
        return [int(task) for task in numbers]

    def export(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield every task of a project, with or without annotations."""
        # On disk, since the export contains the texts of all tasks.
        with TemporaryFile() as file:
            self._tried(f"export project {number}", self._download, number, file)
            yield from tasks_in(file, number)

    def delete_tasks(self, number: int, tasks: Sequence[int]) -> None:
        """Delete tasks of a project, rated or not."""
        selection = {"all": False, "included": list(tasks)}
        action, act = f"delete tasks of project {number}", self._sdk.actions.create
        self._tried(action, act, id="delete_tasks", project=number, selected_items=selection)

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

    def _tried(self, action: str, call: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Make a request that may be repeated."""
        for attempt in range(_ATTEMPTS - 1):
            try:
                return self._once(action, call, *arguments, **options)
            except ServerError as error:
                if not error.is_temporary:
                    raise
            time.sleep(_FIRST_PAUSE * 2**attempt)
        return self._once(action, call, *arguments, **options)

    def _once(self, action: str, call: Callable[..., T], *arguments: Any, **options: Any) -> T:
        with self._explained(action):
            return call(*arguments, **options)

    @contextmanager
    def _explained(self, action: str) -> Iterator[None]:
        from label_studio_sdk.core.api_error import ApiError

        status = None
        try:
            yield
        except ApiError as error:
            status = error.status_code
            reply = " ".join(str(error.body).split())[:300]
            problem = f" (status {status}). {_REMEDIES.get(status or 0, f'It replied: {reply}')}"
        except self._faults as error:
            problem = f" ({error or type(error).__name__}). Check that the server runs, its "
            problem += "address and its certificate."
        except (ValueError, TypeError) as error:
            # A proxy replied in place of the server, with a page instead of JSON.
            reply = " ".join(str(error).split())[:200]
            problem = f": the reply cannot be read ({reply}). Check that this is the address of a "
            problem += "Label Studio server that is not being restarted."
        else:
            return
        raise ServerError(f"{self.url}: could not {action}{problem}", status) from None


def address(url: str) -> str:
    """Return the address of a server in its normal form.

    Raises
    ------
    StudyError
        It is not an http or https address, or contains a password.
    """
    parts = urlsplit(url.strip())
    problem = None
    try:
        _ = parts.port
    except ValueError as error:
        problem = f"{url} is not a valid address: {error}."
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        problem = f"{url!r} is not a valid address; begin with http:// or https:// and a host."
    elif "@" in parts.netloc:
        problem = "The address contains a user or password; leave it out."
    elif parts.query or parts.fragment:
        problem = f"{url}: leave out what follows ? or #."
    if problem is not None:
        raise StudyError(problem)
    host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS[parts.scheme]).removesuffix(":")
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def _keep_below(sdk: Any, url: str) -> None:
    """Make label-studio-sdk renew the token below the server's address: it would drop the path.

    Otherwise another service on that host would receive the token.
    """
    tokens = getattr(sdk._client_wrapper, "_tokens_client", None)
    if tokens is not None:
        tokens._base_url = f"{url}/"


def tasks_in(file: IO[bytes], number: int) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a project's export one by one.

    Raises
    ------
    ServerError
        The export is truncated or not a list; the tasks yielded before are incomplete.
    """
    file.seek(0)
    try:
        if not file.read(_HEAD).lstrip().startswith(b"["):
            raise TypeError("it does not begin with a list")
        file.seek(0)
        for task in ijson.items(file, "item", use_float=True):
            if not isinstance(task, dict):
                raise TypeError(f"{str(task)[:50]!r} is not a task")
            yield task
    except (ijson.JSONError, UnicodeDecodeError, TypeError) as error:
        raise ServerError(
            f"The export of project {number} is not a complete list of tasks ({error}); run the "
            "command again."
        ) from None
