"""A folder of Markdown into the memory of a scope: what an export wrote, what a person changed in it, and folders of Hipocampus.

Nothing is lost and nothing comes twice: an entry that an export wrote keeps its id, and all else gets one that follows
from its place and its text. Nodes and the root follow from entries and are not read, unless what they follow from is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from pathlib import Path

from tenure.errors import UserError
from tenure.governance.redaction import redact, redact_all
from tenure.learning.memory import LINES
from tenure.learning.memory_redaction import plain_name, without_secrets
from tenure.learning.mirror_folder import FileRead, Manifest, MirrorFolder
from tenure.learning.mirror_layout import Found, find_files
from tenure.memory_tree.entries import LONGEST_TOPIC, Entry, EntryType, one_line, without_half_characters
from tenure.memory_tree.frontmatter import Value, split_frontmatter, texts_of
from tenure.memory_tree.mirror import split_kept, text_digest
from tenure.memory_tree.mirror_reading import is_day_file, read_day_file
from tenure.memory_tree.notes import Piece, cut_notes
from tenure.memory_tree.periods import Period, read_period
from tenure.ports import Reading, Store, Writing

SHOWN = 120
"""Characters of a heading that could not be read, with why."""

PLACEHOLDER = "needs-summarization"
"""Status of a node of Hipocampus that was never written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTold:
    """What became of a file.

    Attributes:
        path: below the folder.
        did: what was done, a few words, such as `3 entries, 1 new`.
        new, known: entries that it brought, and those that were there.
        notes: what a person should know of it, a sentence each.
    """

    path: str
    did: str
    new: int = 0
    known: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorImported:
    """What an import did.

    Attributes:
        files: that were read or left, in the order in which they were looked at.
        new: entries that are kept now and were not before.
        known: entries that were kept before.
        texts: layers, knowledge and plans that were written.
        derived: files of nodes and roots, which follow from entries.
        left: files that brought nothing because they could not be read, or hold what does not fit.
        zone: in which days begin, if the import set it.
        dry_run: whether nothing was written.
    """

    files: tuple[FileTold, ...] = ()
    new: int = 0
    known: int = 0
    texts: int = 0
    derived: int = 0
    left: int = 0
    zone: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPlan:
    """What the file of a day would bring.

    Attributes:
        new: entries that the memory has not.
        known: how many it has.
        edited: how many of the new ones are other texts for entries that it has.
        missing: entries that it has and the file has not.
        notes: what could not be read.
    """

    new: tuple[Entry, ...] = ()
    known: int = 0
    edited: int = 0
    missing: int = 0
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Tally:
    told: list[FileTold] = field(default_factory=list[FileTold])
    counts: Counter[str] = field(default_factory=Counter[str])
    days: set[str] = field(default_factory=set[str])
    summaries: dict[Period, tuple[str, str, str]] = field(default_factory=dict[Period, tuple[str, str, str]])


class MirrorImport:
    """An import of a folder.

    Args:
        store, scope: where it goes.
        folder: what is read.
        now: the present moment.
        zone: in which days begin.
        force: whether texts that were changed on both sides are taken from the folder.
        dry_run: whether nothing is written.
    """

    def __init__(
        self, store: Store, scope: str, folder: MirrorFolder, *, now: datetime, zone: tzinfo, force: bool = False, dry_run: bool = False
    ) -> None:
        self._store, self._scope, self._folder, self._now, self._zone = store, scope, folder, now, zone
        self._force, self._dry_run = force, dry_run
        self._manifest = folder.manifest()
        self._tally = _Tally()

    def run(self) -> MirrorImported:
        """Read all files. Each is kept in a transaction of its own, so that an import that was cut short goes on where it ended.

        Raises:
            UserError: there is nothing in the folder that could be a memory.
        """
        found = find_files(self._folder.path, self._manifest)
        self._tally.days.update(one.name for one in found if one.kind == "day")
        derived = any(one.kind in ("node", "root") for one in found)
        with self._store.reading(self._scope) as look:
            for day in set(look.memory_days() if derived else ()) - self._tally.days:
                # A day of which only the text of a node is kept is as good as missing: the text may be another by now.
                if any(one.session not in _NODE_TITLES for one in look.entries(day=day)):
                    self._tally.days.add(day)
        for one in sorted(found, key=_order):
            self._take(one)
        counts = self._tally.counts
        return MirrorImported(
            files=tuple(self._tally.told),
            new=counts["new"],
            known=counts["known"],
            texts=counts["texts"],
            derived=counts["derived"],
            left=counts["left"],
            dry_run=self._dry_run,
        )

    def restore_summaries(self) -> int:
        """Put summaries that a model wrote into the nodes that were built from the same entries; how many.

        Call it when the tree was built.
        """
        done = 0
        with self._store.writing(self._scope) as work:
            for period, (digest, by, text) in self._tally.summaries.items():
                node = work.node(period)
                if node is not None and node.digest == digest and node.form == "summary" and node.by != by:
                    work.keep_node(replace(node, text=redact(text).text, by=by))
                    done += 1
        return done

    # -- files -------------------------------------------------------------------------------------

    def _take(self, found: Found) -> None:
        if found.kind == "other":
            self._leave(found.path, found.why)
            return
        file = self._folder.read(found.path, self._manifest)
        if file.refused:
            self._leave(found.path, file.refused)
        elif not file.text.strip():
            self._tell(found.path, "empty; nothing to keep", notes=file.notes)
        elif found.kind == "day":
            self._take_day(found, file)
        elif found.kind in ("node", "root"):
            self._take_derived(found, file)
        elif found.kind in ("layer", "named"):
            self._take_text(found, file)
        else:
            self._take_profile(found, file)

    def _take_day(self, found: Found, file: FileRead) -> None:
        with self._store.reading(self._scope) as look:
            plan = plan_day(look, file, found.name, key=found.key, zone=self._zone)
        new = self._keep(plan.new)
        known = plan.known + len(plan.new) - new
        notes = [*file.notes, *plan.notes]
        if plan.edited:
            notes.append(f"{plan.edited} changed by hand: raw entries are permanent, so the new text is kept beside the old one")
        if plan.missing:
            notes.append(f"{plan.missing} of this day not in the file: they stay in the memory; `tenure forget` takes out what should go")
        self._count(found.path, new, known, notes)

    def _take_derived(self, found: Found, file: FileRead) -> None:
        """A node or a root: it follows from entries. Its text is an entry where what it follows from is gone."""
        values, body = split_frontmatter(file.text)
        if values.get("status") == PLACEHOLDER:
            self._tally.counts["derived"] += 1
            self._tell(found.path, "a node that was never written; nothing to keep")
            return
        period = read_period(found.name) if found.name else None
        if self._covered(period, values):
            self._tally.counts["derived"] += 1
            if period is not None and values.get("form") == "summary" and values.get("by") not in (None, "extractive"):
                by = one_line(plain_name(str(values["by"])))
                self._tally.summaries[period] = (str(values.get("digest", "")), by, body.removesuffix("\n"))
            changed = self._manifest is not None and file.changed and found.path in self._manifest.files
            notes = ("was changed by hand; what follows from entries is not read. Write an entry instead",) if changed else ()
            self._tell(found.path, "derived from entries; built anew", notes=(*file.notes, *notes))
            return
        if period is not None:
            day, title = period.bounds[1].isoformat(), _NODE_TITLES[_NODES.index(period.kind)]
        else:
            day, title = self._day_of(file), _NODE_TITLES[-1]
        body = redact(without_half_characters(body)).text
        pieces = [Piece(text=body.strip("\n"), title=title)] if body.strip() else []
        new, known = self._keep_pieces(pieces, day, key=found.key)
        self._tally.days.add(day)
        self._count(found.path, new, known, (*file.notes, "its raw logs are missing: its text is kept as an entry"))

    def _take_text(self, found: Found, file: FileRead) -> None:
        """A layer, a text of knowledge or a plan."""
        layer, name, text, notes = found.name, "", file.text, list(file.notes)
        if found.kind == "named":
            name, text, below = _named(found, file, self._manifest)
            if file.changed and (added := [line for line in below if not line.startswith(("- ", "  "))]):
                text = "\n".join([text, *added])
                notes.append(f"{len(added)} below the mark moved above it")
        text = redact(without_half_characters(text)).text
        lines = len(text.splitlines())
        with self._store.reading(self._scope) as look:
            held = look.memory_file(layer, name)
        known = self._manifest.texts.get(found.path, "") if self._manifest is not None else ""
        if held == text or (not text and not held):
            self._tell(found.path, "the same as in the memory", notes=notes)
        elif layer in LINES and lines > LINES[layer]:
            self._as_entries(found, text, notes, f"has {lines} lines, {layer} takes {LINES[layer]}")
        elif held and known and text_digest(text) == known:
            self._tell(found.path, "older than the memory's; left", notes=notes)
        elif not held or (known and text_digest(held) == known) or self._force:
            if not self._dry_run:
                with self._store.writing(self._scope) as work:
                    work.put_memory_file(layer, name, text)
            self._tally.counts["texts"] += 1
            self._tell(found.path, f"written to {layer}{f' {name}' if name else ''}", notes=notes)
        else:
            self._as_entries(found, text, notes, f"differs from the memory's {layer}, which stays; --force takes the file's")

    def _as_entries(self, found: Found, text: str, notes: Sequence[str], why: str) -> None:
        new, known = self._keep_pieces(cut_notes(text), self._today, key=found.key, topic=found.name)
        self._count(found.path, new, known, (*notes, f"{why}: kept in the raw log, topic {found.name}"))

    def _take_profile(self, found: Found, file: FileRead) -> None:
        """What a folder of Hipocampus says of the person, of rules and of the past; and notes without a date."""
        values, body = split_frontmatter(file.text)
        pieces = cut_notes(redact(without_half_characters(body if values else file.text)).text)
        kept = [piece for piece in pieces if found.kind != "profile" or piece.title != "Compaction Root"]
        derived = len(pieces) - len(kept)
        entries = entries_of(kept, self._day_of(file), key=found.key, zone=self._zone, used=set())
        rules = [_rule_of(found, piece) for piece in kept]
        new = self._keep([replace(one, type=kind, topic=topic) for one, (kind, topic) in zip(entries, rules, strict=True)])
        known = len(entries) - new
        notes = [*file.notes, *([f"{derived} of its copy of the root left out: they follow from entries"] if derived else [])]
        self._count(found.path, new, known, notes)

    # -- entries -----------------------------------------------------------------------------------

    def _keep_pieces(self, pieces: Sequence[Piece], day: str, *, key: str, topic: str = "") -> tuple[int, int]:
        """Keep pieces of a day; how many are new, and how many were there."""
        entries = entries_of(pieces, day, key=key, zone=self._zone, topic=topic, used=set())
        new = self._keep(entries)
        return new, len(entries) - new

    def _keep(self, entries: Sequence[Entry]) -> int:
        if not entries:
            return 0
        entries = without_secrets(entries)
        if self._dry_run:
            with self._store.reading(self._scope) as look:
                held = {one.id for day in {one.day for one in entries} for one in look.entries(day=day)}
            return len({one.id for one in entries} - held)
        with self._store.writing(self._scope) as work:
            return work.keep_entries(entries)

    def _covered(self, period: Period | None, values: dict[str, Value]) -> bool:
        """Whether there are entries of all that a node or a root names as its sources; of any of its days if it names none."""
        days = self._tally.days
        if period is not None and period.kind == "day":
            return period.key in days
        named = [_period_named(one) for key in ("months-covered", "months", "source-files", "days") for one in texts_of(values.get(key))]
        below = [one for one in named if one is not None]
        if below:
            return all(not days.isdisjoint(one.days) for one in below)
        return bool(days) if period is None else not days.isdisjoint(period.days)

    @property
    def _today(self) -> str:
        return self._now.astimezone(self._zone).date().isoformat()

    def _day_of(self, file: FileRead) -> str:
        """The day on which a file without a date was last written; never one that is still to come."""
        try:
            written = datetime.fromtimestamp(file.mtime, UTC)
        except (ValueError, OverflowError, OSError):
            return self._today
        return min(written, self._now).astimezone(self._zone).date().isoformat()

    # -- telling -----------------------------------------------------------------------------------

    def _count(self, path: str, new: int, known: int, notes: Iterable[str]) -> None:
        self._tally.counts["new"] += new
        self._tally.counts["known"] += known
        did = f"{new + known:,} {'entry' if new + known == 1 else 'entries'}, {new:,} new"
        self._tally.told.append(_told(path, did, notes, new=new, known=known))

    def _tell(self, path: str, did: str, notes: Iterable[str] = ()) -> None:
        self._tally.told.append(_told(path, did, notes))

    def _leave(self, path: str, why: str) -> None:
        self._tally.counts["left"] += 1
        self._tell(path, "left", notes=(why,))


_ORDER = ("day", "layer", "named", "profile", "notes", "node", "root", "other")
_NODES = ("day", "week", "month")
_NODE_TITLES = ("node of a day", "node of a week", "node of a month", "root of a tree")


def _order(found: Found) -> tuple[int, int, str]:
    """Entries first, then what may stand in for those that are missing, from the days upwards."""
    kind = _NODES.index(read_period(found.name).kind) if found.kind == "node" else 0
    return _ORDER.index(found.kind), kind, found.path


def plan_day(look: Reading | Writing, file: FileRead, day: str, *, key: str, zone: tzinfo) -> DayPlan:
    """What the file of a day would bring to a memory.

    Args:
        look: at the memory.
        file: as it was read.
        day: ISO date.
        key: what the ids of entries without one follow from, beside their text.
        zone: in which days begin.
    """
    held = {one.id: one for one in look.entries(day=day)}
    if not is_day_file(file.text):
        entries = entries_of(cut_notes(redact(without_half_characters(file.text)).text, day=day), day, key=key, zone=zone, used=set())
        new = [one for one in entries if one.id not in held]
        return DayPlan(new=tuple(new), known=len(entries) - len(new))
    read = read_day_file(file.text, day)
    # Whoever wrote the file wrote its comments too: all fields of an entry are cleaned, not only what is read.
    clean = without_secrets([one.entry for one in read.quotes])
    quotes = [(entry, one.intact) for one, entry in zip(read.quotes, clean, strict=True)]
    new, known, edited, seen = list[Entry](), 0, 0, {one.id for one, _ in quotes}
    used = set(seen)
    for entry, intact in quotes:
        if entry.id not in held:
            new.append(entry)
        elif intact or held[entry.id].text == entry.text:
            known += 1
        else:
            other = replace(entry, id=_derived(key, entry.role, entry.text, used), event="")
            seen.add(other.id)
            if other.id in held:
                known += 1
            else:
                edited += 1
                new.append(other)
    pieces = [piece for text in redact_all(read.added) for piece in cut_notes(text, day=day)]
    last = max((one.at for one, _ in quotes), default="")
    for entry in entries_of(pieces, day, key=key, zone=zone, used=used, after=last):
        seen.add(entry.id)
        if entry.id in held:
            known += 1
        else:
            new.append(entry)
    return DayPlan(new=tuple(new), known=known, edited=edited, missing=len(held.keys() - seen), notes=tuple(map(_short, read.problems)))


def _told(path: str, did: str, notes: Iterable[str], *, new: int = 0, known: int = 0) -> FileTold:
    """What became of a file. People choose names of files, and put keys into those too."""
    path, did, *notes = redact_all([path, did, *notes])
    return FileTold(path=path, did=did, new=new, known=known, notes=tuple(notes))


def _short(problem: str) -> str:
    """A problem with the beginning of its line, secrets taken out before it is cut."""
    return one_line(redact(without_half_characters(problem)).text, SHOWN)


def entries_of(
    pieces: Iterable[Piece],
    day: str,
    *,
    key: str,
    zone: tzinfo,
    used: set[str],
    type: EntryType = "log",
    topic: str = "",
    after: str = "",
) -> list[Entry]:
    """Pieces as entries of a day, in their order: each a microsecond behind the one before, or at the time that its heading tells.

    Args:
        pieces: redacted.
        day: ISO date in the zone.
        key: what their ids follow from, beside role and text.
        zone: in which days begin.
        used: ids that others have; the new ones are added to it.
        type, topic: of all.
        after: a moment that they come after; empty takes the beginning of the day.
    """
    midnight = datetime.fromisoformat(f"{day}T00:00:00").replace(tzinfo=zone)
    moment = (datetime.fromisoformat(after) if after else midnight).astimezone(UTC) + timedelta(microseconds=1 if after else 0)
    told, entries = "", list[Entry]()
    for piece in pieces:
        if piece.time and piece.time != told:
            told = piece.time
            moment = datetime.fromisoformat(f"{day}T{told}").replace(tzinfo=zone).astimezone(UTC)
        entries.append(
            Entry(
                id=_derived(key, piece.role, piece.text, used),
                at=moment.isoformat(timespec="microseconds"),
                day=day,
                text=piece.text,
                type=type,
                topic=topic,
                session=piece.title,
                role=piece.role,
            )
        )
        moment += timedelta(microseconds=1)
    return entries


def _derived(key: str, role: str, text: str, used: set[str]) -> str:
    """An id that follows from a text and how often it stood in its place before."""
    n = 1
    while True:
        said = f"{key}\n{n}\n{role}\n{text}".encode("utf-8", "surrogatepass")
        found = f"import:{sha256(said).hexdigest()[:26]}"
        if found not in used:
            used.add(found)
            return found
        n += 1


def _named(found: Found, file: FileRead, manifest: Manifest | None) -> tuple[str, str, tuple[str, ...]]:
    """Name, own text and the lines below the mark of a file of knowledge or a plan."""
    values, body = split_frontmatter(file.text)
    own = values.get("type") == found.name and "kept" in values and isinstance(values.get("name"), (str, int))
    name = str(values["name"]) if own else (manifest.names.get(found.path, "") if manifest is not None else "") or found.key
    name = " ".join(redact(without_half_characters(name)).text.split())
    if len(name) > LONGEST_TOPIC:
        name = f"{name[: LONGEST_TOPIC - 9]}~{text_digest(name)[:8]}"
    text, below = split_kept(body) if own else (file.text, ())
    return name, text, below


def _rule_of(found: Found, piece: Piece) -> tuple[EntryType, str]:
    """Type and topic of what stands in `USER.md` and `MEMORY.md`: what is said of the person, rules, and all else."""
    if found.kind != "profile":
        return "log", ""
    if found.name == "user":
        return "user", "user"
    title = piece.title.casefold()
    if "rule" in title or "preference" in title:
        return "feedback", "rules"
    if "identity" in title or "config" in title:
        return "user", "user"
    return "log", "memory"


def _period_named(path: str) -> Period | None:
    name = path.strip().rsplit("/", 1)[-1].removesuffix(".md")
    try:
        return read_period(name)
    except UserError:
        return None


def read_folder(path: Path, *, largest: int | None = None) -> MirrorFolder:
    """A folder to import.

    Raises:
        UserError: there is none.
    """
    if not path.is_dir():
        raise UserError(f"There is no folder '{path}'. Name the folder of an export, or one of Hipocampus.")
    return MirrorFolder(path) if largest is None else MirrorFolder(path, largest=largest)
