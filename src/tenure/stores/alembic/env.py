"""Alembic's entry point. The connection and its transaction are handed in by `tenure.stores.migrations`."""

from alembic import context

from tenure.stores.rows import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=False)
context.run_migrations()
