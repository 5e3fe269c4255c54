"""Run migrations on the connection that the caller opened, inside the caller's transaction."""

from alembic import context

from study.schema import Noun

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Noun.metadata,
    # SQLite alters a table by rebuilding it.
    render_as_batch=True,
)
context.run_migrations()
