"""A study: a folder with study.toml and its database."""

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, Engine, func, insert, select

from study.errors import StudyError, StudyExistsError
from study.schema import ConstructBase
from study.schema.database import (
    SCHEMA_REVISION,
    asking,
    check_upgradable,
    open_engine,
    reading,
    schema_revision,
    writing,
)
from study.schema.tables import constructs
from study.settings.constructs import RETRIEVAL, ConstructSpec
from study.settings.study_toml import StudyConfig, parse_config, read_config
from study.text import shell_word

if TYPE_CHECKING:
    from pandas import DataFrame

    from study.facts.analysis_input import AnalysisInput
    from study.facts.ratings import Edits


@dataclass(frozen=True)
class Study:
    """A study on disk. Its connections are closed at the end of a `with` block, or by `close`.

    Examples
    --------
    >>> from ccrs_study import Study, import_file
    >>> with Study.create("scored") as study:
    ...     responses = import_file(study, "responses.jsonl")
    ...     scores = import_file(study, "wide.csv", kinds={"anna": "human"})
    ...     len(study.score_table())
    2
    """

    folder: Path
    config: StudyConfig
    config_hash: str

    @classmethod
    def create(cls, folder: Path | str, settings: str | None = None) -> Self:
        """Create a study in `folder`, with `settings` as its study.toml; default: its name alone.

        Raises
        ------
        StudyError
            The folder already contains a study, or the settings can't be used.
        """
        from study.schema.creation import create_schema
        from study.settings.template import name_line

        folder = Path(folder)
        path = folder / "study.toml"
        text = name_line(folder) if settings is None else settings
        config = parse_config(text)
        if path.exists():
            raise StudyExistsError(f"{folder} already contains a study; choose another folder.")
        if "://" not in config.database and (folder / config.database).exists():
            raise StudyError(f"{folder / config.database} already exists; move it away first.")
        if folder.exists() and not folder.is_dir():
            raise StudyError(f"{folder} is a file; choose another folder.")
        folder.mkdir(parents=True, exist_ok=True)
        if "://" not in config.database:
            # SQLite gives its further files the mode of the database.
            (folder / config.database).touch(mode=0o600)
        engine = open_engine(config.database, folder)
        try:
            create_schema(engine)
            # Written last: a folder with study.toml is a study that can be opened.
            path.write_text(text, encoding="utf-8")
        except StudyExistsError:
            raise
        except BaseException:
            # A partly created database would be in the way of the next attempt.
            if "://" not in config.database:
                for suffix in ("", "-wal", "-shm"):
                    (folder / f"{config.database}{suffix}").unlink(missing_ok=True)
            raise
        finally:
            engine.dispose()
        study = cls(folder, *read_config(path))
        with study.write():
            pass
        return study

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open the study in `folder`.

        Raises
        ------
        StudyError
            There is no study, its settings can't be used, or its database is of another
            version (with the command that helps).
        """
        folder = Path(folder)
        study = cls(folder, *read_config(folder / "study.toml"))
        if "://" not in study.config.database and not (folder / study.config.database).exists():
            raise StudyError(f"{folder / study.config.database} is missing; restore it.")
        try:
            study._check_revision()
            study._follow_constructs()
        except BaseException:
            study.close()
            raise
        return study

    @cached_property
    def engine(self) -> Engine:
        """The database's engine; most callers want `read` or `write`.

        Its connections are closed by `close`, or when the study is garbage-collected.
        """
        engine = open_engine(self.config.database, self.folder)
        # Not at the interpreter's exit: a forked child must not close its parent's connections.
        weakref.finalize(self, engine.dispose).atexit = False
        return engine

    @contextmanager
    def ask(self) -> Iterator[Connection]:
        """Open a connection for one reading statement; for more, which must agree, use `read`."""
        with asking(self.engine) as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that sees one consistent state."""
        with reading(self.engine) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a writing transaction; study.toml's constructs are stored first if they changed."""
        with writing(self.engine) as connection:
            self._store_constructs(connection)
            yield connection

    def construct_versions(self, connection: Connection) -> dict[str, int]:
        """Return the current version of each construct of study.toml."""
        rows = connection.execute(
            select(constructs.c.key, func.max(constructs.c.version)).group_by(constructs.c.key)
        )
        stored = {key: int(version) for key, version in rows}
        return {c.key: stored.get(c.key, 1) for c in self.config.constructs}

    def scored_versions(self, connection: Connection) -> dict[str, int]:
        """Return the version of each construct that may have scores: also that of retrieval."""
        return {RETRIEVAL.key: 1, **self.construct_versions(connection)}

    def store_retrieval(self, connection: Connection) -> None:
        """Store the construct of metrics of retrieval, which study.toml does not define."""
        stored = select(constructs.c.key).where(constructs.c.key == RETRIEVAL.key)
        if connection.execute(stored).first() is None:
            noun = _construct_noun(RETRIEVAL)
            connection.execute(insert(constructs).values(**noun.model_dump(), version=1))

    def score_table(self, edits: "Edits" = "before_reveal") -> "DataFrame":
        """Return every score and rating as the long table that `analysis` takes.

        Columns are documented in the manual under "The score table". Of a rating, the last
        value before its rater was shown more counts; with `edits="last"`, the last value.
        """
        from study.facts.score_table import score_table

        with self.read() as connection:
            versions = self.construct_versions(connection)
            return score_table(connection, versions, edits, self.config)

    def preference_table(self) -> "DataFrame":
        """Return every preference as the long table that `analysis` takes."""
        from study.facts.score_table import preference_table

        with self.read() as connection:
            return preference_table(connection, self.construct_versions(connection))

    def marks_table(self) -> "DataFrame":
        """Return people's marks on sentences, as the table that `analysis` takes.

        Columns are documented in the manual under "The table of marks".
        """
        from study.facts.marks_table import marks_table

        with self.read() as connection:
            return marks_table(connection, self.construct_versions(connection))

    def probe_table(self) -> "DataFrame":
        """Return every answer to a probe of a judge's run, as the table that `analysis` takes.

        Columns are documented in the manual under "The probe table".
        """
        from study.facts.probe_table import probe_table

        with self.read() as connection:
            return probe_table(connection, self.construct_versions(connection))

    def analysis_input(self, traits_of: Callable[[Mapping[str, Any]], Any]) -> "AnalysisInput":
        """Return everything that an analysis reads, of one moment: people may be rating.

        `traits_of` returns what is kept of each response that people rated.
        """
        from study.facts.analysis_input import analysis_input

        with self.read() as connection:
            versions = self.construct_versions(connection)
            return analysis_input(connection, self.config, versions, traits_of)

    def pinned(self) -> "PinnedStudy":
        """Return this study with its constructs fixed, for a long-running process.

        A change of study.toml creates new versions of constructs; this process continues with the
        versions it began with, and stores no versions itself.
        """
        with self.write() as connection:
            versions = self.construct_versions(connection)
        pinned = PinnedStudy(self.folder, self.config, self.config_hash, versions, self)
        # One engine, so that there is one pool of connections to close.
        pinned.__dict__["engine"] = self.engine
        return pinned

    def close(self) -> None:
        """Close the connections to the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _check_revision(self) -> None:
        revision = schema_revision(self.engine)
        if revision is None:
            raise StudyError(
                f"{self.folder}: the database contains no study; restore it from a backup."
            )
        check_upgradable(revision, self.folder)
        if revision < SCHEMA_REVISION:
            raise StudyError(
                f"{self.folder} was made by an earlier version. "
                f"Run `ccrs upgrade {shell_word(self.folder)}` first."
            )
        if revision > SCHEMA_REVISION:
            raise StudyError(
                f"{self.folder} was made by a later version; install that version to open it."
            )

    def _follow_constructs(self) -> None:
        # Opening a study after study.toml was edited stores the changed constructs.
        with self.read() as connection:
            changed = self._changed_constructs(connection)
        if changed:
            with self.write():
                pass

    def _store_constructs(self, connection: Connection) -> None:
        for noun, version in self._changed_constructs(connection):
            connection.execute(insert(constructs).values(**noun.model_dump(), version=version))

    def _changed_constructs(self, connection: Connection) -> list[tuple[ConstructBase, int]]:
        """Return the changed constructs of study.toml, with their next version."""
        rows = connection.execute(select(constructs).order_by(constructs.c.version))
        current = {row.key: row._mapping for row in rows}
        changed = []
        for spec in self.config.constructs:
            noun = _construct_noun(spec)
            stored = current.get(spec.key)
            if stored is None:
                changed.append((noun, 1))
            elif noun != ConstructBase.model_validate(dict(stored)):
                changed.append((noun, stored["version"] + 1))
        return changed


@dataclass(frozen=True)
class PinnedStudy(Study):
    """A study whose construct versions are those of the moment when it was pinned."""

    versions: Mapping[str, int] = field(default_factory=dict)
    original: Study | None = field(default=None, repr=False, compare=False)
    """The study that was pinned. As long as it is referenced, its connections stay open."""

    def construct_versions(self, connection: Connection) -> dict[str, int]:
        """Return the version of each construct that this process uses."""
        del connection
        return dict(self.versions)

    def _store_constructs(self, connection: Connection) -> None:
        del connection


def _construct_noun(spec: ConstructSpec) -> ConstructBase:
    return ConstructBase(
        key=spec.key,
        name=spec.name,
        question=spec.question,
        scale_min=spec.scale.min,
        scale_max=spec.scale.max,
        scale_step=spec.scale.step,
        scale_level=spec.scale.level,
        anchors=dict(spec.anchors),
        sees=list(spec.sees),
        rules=list(spec.rules),
    )
