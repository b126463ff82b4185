"""File names for what people and agents named. A name is any text; a file name has to live on every file system."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from tenure.memory_tree.entries import one_line
from tenure.playbook.blocks import defused

LONGEST = 100
"""Bytes of a file name without its ending; some systems take 255 with everything, some tools fewer."""

_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in "0123456789¹²³")))
_PLAIN = frozenset("-_ .,+=()&'@")


def file_names(names: Iterable[str], *, ending: str = ".md") -> dict[str, str]:
    """A file name for each of some names, different ones for different names also where case and accents are not told apart.

    A name that a file can bear stands as it is. One that it cannot (slashes, `..`, reserved words, too long), and
    those that differ from another in case or form only, end with `~` and eight characters of a digest.

    Args:
        names: any texts; their order does not matter.
        ending: of the files.
    """
    every = sorted(set(names))
    plain = {name: _plain(name) for name in every}
    taken = Counter(map(_folded, plain.values()))
    return {
        name: f"{said if said == name and taken[_folded(said)] == 1 else f'{said}~{_digest(name)}'}{ending}" for name, said in plain.items()
    }


def shown_name(name: str) -> str:
    """A name as pages for agents show it: on one line, and with nothing in it that ends a comment, hides or turns other text."""
    return defused(one_line(name)).replace("<!--", "<! --")


def place_name(name: str) -> str:
    """A name as a part of where to look, such as `releases` in `knowledge/releases`: itself, or as a file if it could lead elsewhere."""
    said = shown_name(name)
    inside = "\\" not in said and all(part not in ("", ".", "..") for part in said.split("/"))
    return name if said == name and inside else f"{_plain(name)}~{_digest(name)}"


def _plain(name: str) -> str:
    """What of a name every file system takes: letters and digits of any script, and a few marks."""
    kept = "".join(c if c in _PLAIN or unicodedata.category(c)[0] in "LMN" else "-" for c in unicodedata.normalize("NFC", name))
    kept = kept.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore").lstrip(". ~-").rstrip(". ")
    if not kept:
        return "unnamed"
    # Windows takes `con.md` and `con.notes.md` for the console.
    return f"_{kept}" if kept.split(".")[0].strip().casefold() in _RESERVED else kept


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _digest(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
