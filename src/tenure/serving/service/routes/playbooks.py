"""Playbooks: lessons, and the playbook as a whole, now or as it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Depends, Header, Path, Query, Response
from fastapi.responses import PlainTextResponse

from tenure.errors import UnknownLesson
from tenure.governance.redaction import redact_value
from tenure.learning.exchange import written
from tenure.learning.history import blame, find_version
from tenure.playbook.lessons import Lesson
from tenure.ports import Reading
from tenure.serving.service.api import router, told
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.paging import After, Limit, page, read_cursor
from tenure.serving.service.problems import answered
from tenure.serving.wire import blame_json, lesson_json

ROUTER = router("playbook")

Version = Annotated[
    str, Query(max_length=60, description="Arrival number of a delta, its id, or `-N` for N before the newest; empty for now.")
]
IfNoneMatch = Annotated[str, Header(max_length=2_000, description="ETag of what the caller has: 304 if it is the same.")]
LessonId = Annotated[str, Path(min_length=1, max_length=300, description="Id of a lesson, or of one that was merged into it.")]

_LESSON = {"id": "01K5ZQ0A1B2C3D4E5F6G7H8J9K", "section": "tool rules", "text": "Write amounts with a point.", "status": "active"}


@ROUTER.get(
    "/playbook",
    summary="The playbook",
    responses=told("All lessons and sections.", {"scope": "acme/finance", "version": 7, "lessons": [_LESSON]}),
)
def show_playbook(
    to: Annotated[Doing, Depends(May("read", "playbook.show"))], version: Version = "", if_none_match: IfNoneMatch = ""
) -> Response:
    """All lessons of the scope with every field, retired ones too, now or as they were after a version. The ETag is the version."""
    with to.book.store.reading(to.scope) as look:
        at, etag, same = _version(look, version, if_none_match)
        if same:
            return Response(status_code=304, headers=etag)
        listed = look.playbook(at if version else None).every_lesson
    return answered({"scope": to.scope, "version": at, "lessons": shown_lessons(listed)}, headers=etag)


@ROUTER.get(
    "/playbook/text",
    response_class=PlainTextResponse,
    summary="The playbook as text",
    responses={200: {"description": "The live lessons, a lesson a line.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def write_playbook(
    to: Annotated[Doing, Depends(May("read", "playbook.text"))],
    form: Annotated[Literal["ace", "json"], Query(description="Form of the text.")] = "ace",
    version: Version = "",
    if_none_match: IfNoneMatch = "",
) -> Response:
    """The live lessons in a form that other systems read. The ETag is the version."""
    with to.book.store.reading(to.scope) as look:
        at, etag, same = _version(look, version, if_none_match)
        if same:
            return Response(status_code=304, headers=etag)
        text = written(look.playbook(at if version else None), form)
    return Response(text.encode("utf-8", "replace"), media_type="text/plain; charset=utf-8", headers=etag)


@ROUTER.get("/lessons", summary="List lessons", responses=told("Lessons by id; found ones best first.", {"items": [_LESSON], "next": None}))
def list_lessons(
    to: Annotated[Doing, Depends(May("read", "lessons.list"))],
    section: Annotated[str, Query(max_length=300)] = "",
    status: Annotated[Literal["live", "provisional", "active", "held", "retired", "all"], Query()] = "live",
    search: Annotated[str, Query(max_length=10_000, description="Words or identifiers; the best come first, and only live lessons.")] = "",
    limit: Limit = 50,
    after: After = "",
    if_none_match: IfNoneMatch = "",
) -> Response:
    """The lessons of the scope, of a section, with a status, or that hold a word of a search. Parent scopes are left out."""
    of = ("lessons", to.scope, section, status, search)
    before = read_cursor(after, *of)
    with to.book.store.reading(to.scope) as look:
        _, etag, same = _version(look, "", if_none_match)
        if same:
            return Response(status_code=304, headers=etag)
        lessons: Sequence[Lesson]
        if search.strip():
            lessons = [hit.lesson for hit in look.search(search, limit=1_000) if hit.scope == to.scope]
        else:
            lessons = look.lessons(live=status in ("live", "provisional", "active"))
    wanted = [one for one in lessons if (not section or one.section == section) and (status in ("live", "all") or one.status == status)]
    return answered(
        page(wanted, *of, after=before, limit=limit, name=lambda one: one.id, told=lambda one: shown_lessons([one])[0]), headers=etag
    )


@ROUTER.get(
    "/lessons/{id:name}",
    summary="One lesson",
    responses=told("The lesson, and the deltas that touched it.", {"lesson": _LESSON, "history": [{"version": 3, "author": "person:ada"}]}),
)
def show_lesson(to: Annotated[Doing, Depends(May("read", "lessons.show"))], id: LessonId) -> Response:
    """A lesson with its conditions, counts and evidence, and every delta that touched it, oldest first."""
    with to.book.store.reading(to.scope) as look:
        lesson = look.lesson(id)
        if lesson is None:
            raise UnknownLesson(id[:100], scope=to.scope)
        history = [blame_json(one) for one in blame(look, lesson.id)]
    return answered({"lesson": shown_lessons([lesson])[0], "history": redact_value(history)})


def shown_lessons(lessons: Sequence[Lesson]) -> list[dict[str, Any]]:
    """Lessons as JSON, redacted once more."""
    return [redact_value(lesson_json(one)) for one in lessons]


def etag_of(version: int) -> str:
    """The ETag of a version."""
    return f'"{version}"'


def _version(look: Reading, named: str, have: str) -> tuple[int, dict[str, str], bool]:
    """The version that is asked for, its headers, and whether the caller has it."""
    at = find_version(look, named) if named else look.version()
    tags = {one.strip().removeprefix("W/") for one in have.split(",")} if have else set()
    headers = {"ETag": etag_of(at), "Cache-Control": "private, no-cache"}
    return at, headers, etag_of(at) in tags or "*" in tags
