"""The queue as the service sees it: jobs put in, looked at, and replayed. Workers take them out (`worker`)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from dbos import DBOSClient, EnqueueOptions
from dbos._error import DBOSException
from dbos._serialization import WorkflowSerializationFormat

from tenure.errors import StoreError, UserError
from tenure.logs import event
from tenure.stores.postgres_session import address, translated
from tenure.stores.scopes import tenant
from tenure.workers.jobs import APPLICATION, LEARN, REFLECT, SCHEMA, SET_ASIDE, STATES, VERSION, Job, Limits, State, job_id, queue_of

_log = logging.getLogger("tenure.workers")

_STATE_OF: dict[str, State] = {status: state for state, statuses in STATES.items() for status in statuses}


class JobQueue:
    """Puts jobs in and looks at them. Threads share it.

    Args:
        url: of the PostgreSQL database, as the application's role.
        model_of: names the model of a scope; empty for none.
    """

    def __init__(self, url: str, model_of: Callable[[str], str]) -> None:
        self._client, self._place = client_of(url), address(url)
        self._model_of = model_of
        self._known: set[str] = set()

    def arrived(self, scope: str, run: str, mark: str = "") -> None:
        """A run was kept that is to be learned from. If the job cannot be put in now, a worker's next sweep finds the run."""
        try:
            self.put(LEARN, scope, run, mark)
        except Exception as exc:  # noqa: BLE001  # the run is durable and was acknowledged; a sweep finds it
            said = f"job not queued, left to the sweep: {type(exc).__name__}"
            event(_log, "job.not_queued", logging.WARNING, said=said, failure=exc, run=run, scope=scope)

    def put(self, kind: str, scope: str, run: str, mark: str) -> str:
        """Put a job in, unless it is there; its id. Durable on return."""
        queue = queue_of(self._model_of(scope))
        if queue not in self._known:  # nobody takes jobs out of a queue that was never made
            self._client.register_queue(queue, on_conflict="never_update", **Limits().of(queue))
            self._known.add(queue)
        options: EnqueueOptions = {
            "workflow_name": kind,
            "queue_name": queue,
            "workflow_id": job_id(kind, scope, run, mark),
            "app_version": VERSION,
            "queue_partition_key": tenant(scope),
            "serialization_type": WorkflowSerializationFormat.PORTABLE,
        }
        args = (scope, run) if kind == LEARN else (scope,)
        handle: Any = self._client.enqueue(options, *args)
        return str(handle.get_workflow_id())

    def put_found(self, kind: str, scope: str, run: str, mark: str) -> str:
        """Put in a job for a run that was found waiting, as `put` does; beside those that were set aside another."""
        while True:
            name = self.put(kind, scope, run, mark)
            (found,) = self._listed(workflow_ids=[name], load_input=False) or (None,)
            if found is None or str(found.status) != "SUCCESS" or found.output != SET_ASIDE:
                return name
            mark += "+"

    def jobs(self, state: State | None = None, *, tenant: str = "", limit: int = 100) -> Sequence[Job]:
        """Jobs in a state, newest first.

        Args:
            state: none takes all.
            tenant: whose; empty takes all, which is the operator's view.
            limit: how many at most.

        Raises:
            StoreError: the database cannot be used, or was not prepared by `tenure migrate`.
        """
        found = self._listed(
            status=list(STATES[state]) if state else None,
            name=[LEARN, REFLECT],
            limit=limit * 20 if tenant else limit,
            sort_desc=True,
            load_output=True,
        )
        jobs = [_job(one) for one in found if not tenant or one.queue_partition_key == tenant]
        return jobs[:limit]

    def counts(self, *, most: int = 10_000) -> dict[State, int]:
        """How many jobs wait, run and are dead; counted up to a number."""

        def count(state: State) -> int:
            return len(self._listed(status=list(STATES[state]), limit=most, load_input=False, load_output=False))

        return {state: count(state) for state in ("waiting", "running", "dead")}

    def replay(self, *ids: str) -> Sequence[str]:
        """Put dead jobs in again; ids of those that were.

        Raises:
            UserError: one is not there, or is not dead; then none is put in. Or another replayed one of them at this moment.
        """
        dead: dict[str, Any] = {}
        for one in ids:
            known = self._listed(workflow_ids=[one], load_output=False) if one.isprintable() else []
            if not known:
                raise UserError(f"There is no job {one!a:.100}. See those that are dead: tenure worker jobs --dead")
            if _STATE_OF[str(known[0].status)] != "dead":
                raise UserError(f"Job '{one}' is {_STATE_OF[str(known[0].status)]}, not dead; only a dead one is replayed.")
            dead[one] = known[0]
        for one, found in dead.items():
            try:
                self._client.rewind_workflow(
                    one, application_version=VERSION, queue_name=found.queue_name, queue_partition_key=found.queue_partition_key
                )
            except DBOSException as exc:
                raise UserError(f"Job '{one}' was replayed by another at this moment. Look again: tenure worker jobs") from exc
        return tuple(dead)

    def _listed(self, **wanted: Any) -> Sequence[Any]:
        with translated(self._place):
            return self._client.list_workflows(**wanted)

    def close(self) -> None:
        """Release connections."""
        self._client.destroy()


def client_of(url: str) -> DBOSClient:
    """DBOS seen from outside: it connects when it is first used, and says so where it cannot."""
    return DBOSClient(
        system_database_url=driver_url(url),
        dbos_system_schema=SCHEMA,
        application_name=APPLICATION,
        lazy=True,
        retry_connection_errors=False,
    )


def driver_url(url: str) -> str:
    """The address of a PostgreSQL database as DBOS wants it.

    Raises:
        StoreError: it is not one.
    """
    scheme, mark, rest = url.partition("://")
    if not mark or scheme.partition("+")[0] not in ("postgresql", "postgres"):
        raise StoreError("Workers need PostgreSQL: --db postgresql://... On SQLite the server learns by itself: tenure serve")
    return f"postgresql+psycopg://{rest}"


def _job(found: Any) -> Job:
    args = list((found.input or {}).get("args", ())) if isinstance(found.input, dict) else []
    return Job(
        id=found.workflow_id,
        kind=found.name,
        scope=str(args[0]) if args else "",
        run=str(args[1]) if len(args) > 1 else "",
        queue=found.queue_name or "",
        state=_STATE_OF[str(found.status)],
        problem=_problem(found),
        worker=found.executor_id or "",
        created=_iso(found.created_at),
        updated=_iso(found.updated_at),
    )


def _problem(found: Any) -> str:
    if str(found.status) == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        return "every worker that took it died"
    error = found.error
    return "" if error is None else f"{getattr(error, 'name', type(error).__name__)}: {error}"


def _iso(milliseconds: int | None) -> str:
    return "" if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
