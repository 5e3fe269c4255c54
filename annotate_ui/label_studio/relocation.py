"""What changed over there and can't be seen from here: a server's address, a deleted project."""

from collections.abc import Collection, Iterable

from sqlalchemy import delete, update

from annotate_ui.label_studio.client import Server, address
from annotate_ui.label_studio.lock import alone
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from study.errors import StudyError
from study.lifecycle.append_only import append_only_lifted
from study.schema import ElsewhereProject, ElsewhereRater, ElsewhereTask, table
from study.study import Study


def move(study: Study, server: Server, before: str) -> int:
    """Say that a server is at another address now; return how many projects moved with it.

    Moving again changes nothing.

    Raises
    ------
    StudyError
        Nothing was pushed to the address before, or the server is another.
    """
    old = address(before)
    with alone(study):
        with study.read() as connection:
            everywhere = stored_projects(connection)
        mine = [one for one in everywhere if one.instance == server.identity]
        if old == server.url or (mine and {one.server for one in mine} == {server.url}):
            return 0
        if not any(one.server == old for one in everywhere):
            raise StudyError(
                f"Nothing of {study.folder} was pushed to {old}; correct --moved-from."
            )
        if not any(one.server == old for one in mine):
            raise StudyError(
                f"The server at {server.url} is another than the one at {old}. Leave --moved-from "
                "out."
            )
        t, r = table(ElsewhereProject), table(ElsewhereRater)
        with study.write() as connection, append_only_lifted(connection, [t.name, r.name]):
            for one in (t, r):
                moved = update(one).where(one.c.instance == server.identity)
                connection.execute(moved.values(server=server.url))
        return len(mine)


def give_up(study: Study, server: Server, numbers: Collection[int]) -> int:
    """Forget the tasks of projects that are gone over there; return how many those were.

    What was pulled of them stays and counts. What nobody had rated is pushed again.

    Raises
    ------
    StudyError
        The study has no such project, or it is still there.
    """
    if not numbers:
        return 0
    with alone(study):
        with study.read() as connection:
            known = [one for one in stored_projects(connection, server.url) if one.tasks]
        there = {one.id for one in server.projects()}
        gone = []
        for number in numbers:
            named = [one for one in known if one.number == number]
            if not named:
                raise StudyError(
                    f"{study.folder} has no project {number} at {server.url}. Its projects: "
                    f"{', '.join(str(one.number) for one in known) or 'none'}."
                )
            # Of a server that was set up anew, none is.
            left = [one for one in named if one.instance != server.identity or number not in there]
            if not left:
                raise StudyError(
                    f"Project {number} is still at {server.url}; only one that was deleted can be "
                    "given up."
                )
            gone += left
        return sum(forget(study, one, one.tasks) for one in gone)


def forget(study: Study, project: StoredProject, responses: Iterable[int]) -> int:
    """Forget a project's tasks of these responses; return how many they were."""
    gone = [response for response in responses if response in project.tasks]
    if not gone:
        return 0
    t = table(ElsewhereTask)
    with study.write() as connection:
        for response in gone:
            connection.execute(
                delete(t).where(t.c.project_id == project.id, t.c.response_id == response)
            )
    for response in gone:
        del project.tasks[response]
    return len(gone)
