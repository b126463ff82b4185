"""Files that the command line writes: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from tenure.errors import UserError


def replace_file(target: Path, text: str, *, errors: str = "surrogatepass") -> int:
    """Write a file so that readers see the old one or the new one, whole; gives its size in bytes."""
    import tempfile

    raw = text.encode("utf-8", errors)
    real = Path(os.path.realpath(target))
    if os.path.exists(real) and not os.path.isfile(real):
        # A device or a pipe, such as /dev/stdout, is written to; a file put in its place would break it for everybody.
        try:
            real.write_bytes(raw)
        except OSError as exc:
            raise UserError(f"'{target}' cannot be written to: {(exc.strerror or str(exc)).lower()}.") from exc
        return len(raw)
    try:
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=".tenure-", suffix=".new")
    except OSError as exc:
        why = (
            "does not exist; make it first, or name another"
            if isinstance(exc, FileNotFoundError)
            else f"cannot be written to: {(exc.strerror or str(exc)).lower()}"
        )
        raise UserError(f"Folder '{real.parent}' {why}.") from exc
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~_umask())
        os.replace(name, real)
    except OSError as exc:
        Path(name).unlink(missing_ok=True)
        raise UserError(f"File '{target}' cannot be written: {(exc.strerror or str(exc)).lower()}.") from exc
    return len(raw)


def _umask() -> int:
    # There is no other way to ask for it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
