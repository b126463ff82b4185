"""Every error that Tenure raises on purpose, as one tree.

    TenureError
    ├── UserError                   the caller can mend it: what, which value, what next
    │   ├── UnknownLesson
    │   ├── UnknownVersion
    │   ├── ScopeError              a scope is missing, malformed or another tenant's
    │   ├── UnreadableInput         a file or a reply that cannot be read as what it should be
    │   ├── SettingError            a setting with a value outside its range
    │   ├── UnstorableValue         a value that no database keeps, nor looks up
    │   └── MissingExtra            a capability whose extra is not installed
    ├── StoreError                  the database said no
    │   ├── SchemaMismatch          made by a newer or an older Tenure
    │   ├── DamagedStore            set aside, never deleted
    │   └── StoreBusy               waited for another writer, in vain
    ├── EmbeddingFailed             texts could not be made into vectors; keyword search goes on
    └── ModelError                  a language model call did not give what it should
        ├── MalformedReply          the reply is kept verbatim on the error
        └── SpendCapReached         a cap in calls, tokens or money

An expected miss (an unknown id in a delta, a held change) is a `Receipt`, never an exception.
"""

from __future__ import annotations


class TenureError(Exception):
    """Root of all errors of this package."""


class UserError(TenureError):
    """Something the caller can mend. The message says what, which value, and what to do next."""


class UnknownLesson(UserError):
    """No lesson has this id, or a shortened id fits more than one."""

    def __init__(self, lesson_id: str, *, scope: str = "", candidates: tuple[str, ...] = ()) -> None:
        self.lesson_id, self.scope, self.candidates = lesson_id, scope, candidates
        where = f" in scope '{scope}'" if scope else ""
        if candidates:
            named = ", ".join(candidates[:5]) + (f" and {len(candidates) - 5} more" if len(candidates) > 5 else "")
            message = f"Lesson id '{lesson_id}'{where} fits {len(candidates)} lessons: {named}. Type more of it."
        else:
            message = f"Lesson '{lesson_id}' is not{where or ' there'}. See what is: tenure show"
        super().__init__(message)


class UnknownVersion(UserError):
    """No delta has this arrival number or id."""

    def __init__(self, version: str, *, scope: str = "", newest: int | None = None) -> None:
        self.version, self.scope, self.newest = version, scope, newest
        span = f" (versions 0 to {newest} exist)" if newest is not None else ""
        super().__init__(f"Version '{version}' is not in the ledger of scope '{scope}'{span}. See: tenure log")


class ChangedMeanwhile(UserError):
    """A change was meant for a version of the playbook that is not the newest any more."""

    def __init__(self, expected: int, *, scope: str, newest: int) -> None:
        self.expected, self.scope, self.newest = expected, scope, newest
        super().__init__(
            f"The playbook of '{scope}' is at version {newest}, not {expected}. Nothing was changed; look again, and decide anew."
        )


class ScopeError(UserError):
    """A scope is missing or malformed. A missing scope never means "all"."""


class UnreadableInput(UserError):
    """A file, folder or text cannot be read as what it should be."""


class SettingError(UserError):
    """A setting has a value it cannot have."""


class UnstorableValue(UserError):
    """A value that the database can neither keep nor look up: half a character, a number beyond its range, a name that is too long."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"The database can neither keep nor look up {what}. Nothing was written; give another value.")


def installing(extra: str) -> str:
    """How to install an extra: from an index, or in a checkout of the repository."""
    return f"pip install 'tenure[{extra}]' (in a checkout: pip install '.[{extra}]')"


class MissingExtra(UserError):
    """A capability needs an extra that is not installed."""

    def __init__(self, capability: str, *, extra: str, get: str = "") -> None:
        self.capability, self.extra = capability, extra
        install = installing(extra)
        also = f", and then: {get}" if get and get != install else ""
        verb = "need" if capability.endswith(("keys", "models")) and not capability.startswith("The ") else "needs"
        super().__init__(f"{capability} {verb} the extra '{extra}'. Install it: {install}{also}.")


class StoreError(TenureError):
    """The database could not do what was asked.

    Attributes:
        reason: a word for logs, such as `unreachable`; empty where the kind of the error says enough.
    """

    reason = ""


class SchemaMismatch(StoreError):
    """The database was made by another version of Tenure."""

    def __init__(self, *, url: str, found: str, expected: str, newer: bool) -> None:
        self.url, self.found, self.expected, self.newer = url, found, expected, newer
        if newer:
            advice = "It was made by a newer Tenure. Update this one: pip install -U tenure"
        else:
            advice = "It cannot be brought up to date from there. Export it with the Tenure that made it: tenure export --form json"
        super().__init__(f"Database {url} has schema {found}; this Tenure reads {expected}. {advice}")


class DamagedStore(StoreError):
    """The database file is damaged. Found while opening it, it was set aside; it is never deleted."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        self.detail = detail
        super().__init__(message)


class StoreBusy(StoreError):
    """Another process held the database for longer than the wait allows."""


class EmbeddingFailed(TenureError):
    """Texts could not be made into vectors. Search goes on by keywords, and says so."""

    def __init__(self, model: str, reason: str) -> None:
        self.model, self.reason = model, reason
        super().__init__(f"Embedder '{model}' gave no vectors: {reason}. Search goes on by keywords.")


class ModelError(TenureError):
    """A language model call did not give what it should.

    Attributes:
        calls: requests that were sent for it.
        passing: whether the same request may succeed a little later.
        wait_s: how long the provider asks to wait before, in seconds; none if it does not say.
        unanswered: requests that were sent and may have been worked on, though no answer came: they may cost all the same.
    """

    def __init__(self, message: str, *, calls: int = 0, passing: bool = False, wait_s: float | None = None, unanswered: int = 0) -> None:
        self.calls, self.passing, self.wait_s, self.unanswered = calls, passing, wait_s, unanswered
        super().__init__(message)


class MalformedReply(ModelError):
    """A model's reply cannot be read. `reply` holds it verbatim, so that nothing is lost."""

    def __init__(self, reason: str, *, reply: str) -> None:
        self.reason, self.reply = reason, reply
        super().__init__(f"The model's reply cannot be used: {reason}. It was kept verbatim; try again later.")


class SpendCapReached(ModelError):
    """A spending cap would be passed by the next call; the call was not made."""

    def __init__(self, *, what: str, cap: str, spent: str, period: str) -> None:
        self.what, self.cap, self.spent, self.period = what, cap, spent, period
        super().__init__(
            f"The cap of {cap} {what} per {period} is reached ({spent} spent); no call was made. "
            f"What was skipped can be learned later: tenure learn --pending. Raise it: tenure config set spend.{what}_per_{period} N"
        )
