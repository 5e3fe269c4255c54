"""What changed over there and can't be seen from here: a server's address, a deleted project."""

from collections.abc import Collection, Iterable

from sqlalchemy import delete, select, update

from annotate_ui.label_studio.alone import alone
from annotate_ui.label_studio.server import Server, address
from annotate_ui.label_studio.stored import StoredProject, stored_projects
from study.campaign import Study
from study.errors import StudyError
from study.keeping.lifting import append_only_lifted
from study.nouns import ElsewhereProject, ElsewhereRater, ElsewhereTask, table


def move(study: Study, server: Server, before: str, *, given_up: Collection[int] = ()) -> int:
    """Say that a server is at another address now; return how many projects moved with it.

    Moving again changes nothing. `given_up` are numbers of projects that `give_up` follows with,
    so they need not be at the new address.

    Raises
    ------
    StudyError
        Nothing was pushed to the address before, a project is not at the new one, or people or
        projects of the new one are known already.
    """
    old = address(before)
    with alone(study):
        with study.read() as connection:
            moved = stored_projects(connection, old)
            there = stored_projects(connection, server.url)
            e = table(ElsewhereRater)
            known = connection.execute(select(e.c.id).where(e.c.server == server.url)).first()
        if old == server.url or (there and not moved):
            return 0
        if not moved:
            raise StudyError(
                f"Nothing of {study.folder} was pushed to {old}; correct --moved-from."
            )
        if there or known:
            raise StudyError(
                f"{server.url} is known already, with people or projects of its own: it is another "
                f"server than {old}. Leave --moved-from out."
            )
        described = {one.id: one.description for one in server.projects()}
        for project in moved:
            if not project.tasks or project.number in given_up:
                continue
            if project.mark not in described.get(project.number, ""):
                raise StudyError(
                    f"Project {project.number} of this study is not at {server.url}, so it is "
                    f"another server than {old}; or, if the project was deleted, give it up with "
                    f"`ccrs label-studio pull {study.folder} --url {server.url} --moved-from {old} "
                    f"--give-up {project.number}`."
                )
        t, r = table(ElsewhereProject), table(ElsewhereRater)
        with study.write() as connection, append_only_lifted(connection, [t.name, r.name]):
            for one in (t, r):
                connection.execute(update(one).where(one.c.server == old).values(server=server.url))
        return len(moved)


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
            stored = stored_projects(connection, server.url)
        known = {one.number: one for one in stored if one.tasks}
        described = {one.id: one.description for one in server.projects()}
        for number in numbers:
            if number not in known:
                raise StudyError(
                    f"{study.folder} has no project {number} at {server.url}. Its projects: "
                    f"{', '.join(str(one) for one in sorted(known)) or 'none'}."
                )
            if known[number].mark in described.get(number, ""):
                raise StudyError(
                    f"Project {number} is still at {server.url}; only one that was deleted can be "
                    "given up."
                )
        return sum(forget(study, known[number], known[number].tasks) for number in numbers)


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
