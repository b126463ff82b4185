"""Places in which the value beside the name of a password is certainly the password, so that a mere word can be one.

In `password=spotify_password` the value may be a variable, and in `password: required` it describes one. In a variable of
a shell, an option, a form body, a file of settings, or beside the login it belongs to, `swordfish` is what it looks like.
"""

from __future__ import annotations

import re

from tenure.governance.value_judgement import describes_password, is_free_of_sentences

_LONGEST_LINE = 200
_CUTS = "\x00"
"""Stands between texts that are searched as one."""

_OPTION_BEFORE = re.compile(r"(?:(?:^|[\s\"'=])--?[A-Za-z][A-Za-z-]{0,30}[ =][\"']?|\s-D)[\w.\[\]-]{0,60}\Z")
_PAIR_BEFORE = re.compile(r"(?:^|[\s\"'])[A-Za-z_]{2,20}=[^\s=,()\"']{1,60} \Z")
_NEXT_PAIR = re.compile(r";[A-Za-z][A-Za-z ]{1,30}=|&[A-Za-z_]{1,30}=| [A-Za-z_]{2,20}=[^\s=,()]")
_LINE_MARKS = re.compile(r"(?:[ \t]|[+-] ?|- |(?:export|set|local|setenv|ENV|ARG|SET|declare -x) |\$ )*[A-Za-z0-9_.\[\]-]{0,60}\Z")
_SECTION = re.compile(r"(?:^|\n)\[[\w .:\"-]{1,40}\][ \t\r]*\n(?:[^\n(){}]{0,200}\n){0,40}[^\n(){}]{0,60}\Z")
_LOGIN = (
    r"(?:user(?:[ _-]?(?:name|id))?|login|uid|account|e-?mail"
    r"|benutzer(?:name)?|usuario|utilisateur|identifiant|utente|gebruiker)[\"'`*]{0,3}"
    r"(?:[ \t]{0,4}[:=][ \t]{0,4}|[ \t]{1,4}(?:is[ \t])?)[\"'`*]{0,3}(?P<v>[^\s,;\"'`(){}*]{1,80})[\"'`*]{0,3}"
)
_LOGIN_BEFORE = re.compile(
    rf"{_LOGIN}(?:[ \t]{{0,3}}(?:[,;/|&]|and|und|y|et|e)?[ \t\n]{{1,4}}|[,;/|&])[\w\"'`* .-]{{0,24}}\Z", re.IGNORECASE
)
_SETTING = re.compile(
    r"[ \t]{0,20}(?:- )?[\"']?[\w.-]{0,30}(?:user|username|login|email|host|hostname|server|port|database|dbname|db|adapter|driver"
    r"|account)[\"']?"
    r"[ \t]{0,4}:[ \t]{1,4}(?P<v>[^\s,;(){}\"']{1,80})[ \t\r]{0,4}\Z",
    re.IGNORECASE,
)
_CHANGED_LINE = re.compile(r"[+-][ \t]{2,40}[\w.-]{0,40}")  # of a diff
_PARENT = re.compile(r"([ \t]{0,20})[\w.-]{1,40}:[ \t\r]{0,4}\Z")
_NETRC = re.compile(r"\b(?:login|user|username|account)[ \t\n]{1,4}(?P<v>[^\s\"']{1,80})[ \t\n]{1,8}\Z")
_AFTER_LOGIN = re.compile(r"[ \t\r]{0,8}(?:\Z|[\n\x00\"'#]|(?:account|machine|port|macdef) )")
_OPERATOR = re.compile(r"[ \t]{0,4}(?:\Z|[\n\x00\"'`|;&>)\\]| --?[A-Za-z])")


def is_certain(text: str, start: int, end: int, place: int, stop: int) -> bool:
    """Whether an unquoted value that `=` or `:` joins to the name of a password is the password.

    Args:
        text: what stands around it, some hundred characters before and behind, with line ends as such.
        start: where the name starts.
        end: where it ends.
        place: where the value starts.
        stop: where it ends.
    """
    joint, after = text[end:place], text[stop : stop + 1]
    if joint.endswith(">"):
        return text.startswith("</", stop)
    if joint.rstrip().endswith("="):
        return after not in (",", ")", "]", "}") and _is_assigned(text, start, end, place, stop)
    if joint.strip() not in (":", "\uff1a") or after in (";", ")", "}", "]", "("):
        return False
    before = _before(text, start)
    if not _NO_CODE.isdisjoint(before.rpartition("\n")[2]):
        return False
    if _CHANGED_LINE.fullmatch(before.rpartition("\n")[2]) is not None:
        return _ends_line(text, stop)
    login = _LOGIN_BEFORE.search(before[-120:])
    if login is not None and not describes_password(login["v"]):
        return after != ","
    return _ends_line(text, stop) and _stands_among_settings(text, start, stop)


_NO_CODE = frozenset("({")


def _before(text: str, start: int) -> str:
    return text[max(0, start - _LONGEST_LINE) : start].rpartition(_CUTS)[2]


def _is_assigned(text: str, start: int, end: int, place: int, stop: int) -> bool:
    """Whether `name=value` is no code: an option, a variable of a shell, a pair of a form or of a driver's settings, a line of a file."""
    name, line = text[start:end], _before(text, start).rpartition("\n")[2]
    if name.startswith("-"):
        return not text[place:stop].isupper()
    alone = len(line) <= 80 and _LINE_MARKS.fullmatch(line) is not None and _ends_line(text, stop)
    if text[end:place] != "=":  # blanks around it, as in code
        return alone and _is_in_section(text, start)
    if name.isupper() or alone or line[-1:] in ("?", "&", ";", "%"):
        return True
    near = line[-100:]
    return any(
        (near.endswith("-D"), _OPTION_BEFORE.search(near), _NEXT_PAIR.match(text, stop), _PAIR_BEFORE.search(near)),
    )


def is_certain_option(text: str, start: int, place: int, stop: int) -> bool:
    """Whether what a blank parts from the name of a password is the password: on a command line, or in a file of logins."""
    before = _before(text, start)
    if not text.startswith("-", start):
        found = _NETRC.search(before)
        return found is not None and is_free_of_sentences(found["v"]) and _AFTER_LOGIN.match(text, stop) is not None
    if text[place:stop].isupper() or _OPERATOR.match(text, stop) is None:
        return False
    return is_free_of_sentences(before.rpartition("\n")[2])


def _ends_line(text: str, stop: int) -> bool:
    rest = text[stop : stop + 12].lstrip(" \t\r\"'")
    return not rest or rest[0] in "\n\x00#" or rest.startswith("\\n")


def _is_in_section(text: str, start: int) -> bool:
    """Whether a line stands in a file of settings that is parted by `[names]`."""
    return _SECTION.search(text[max(0, start - 600) : start].rpartition(_CUTS)[2]) is not None


def _stands_among_settings(text: str, start: int, stop: int) -> bool:
    """Whether this line belongs to a name on the line before, or one of the lines around it gives a user, a host or a port."""
    before = text[max(0, start - 2 * _LONGEST_LINE) : start].rpartition(_CUTS)[2].split("\n")
    after = text[stop : stop + 2 * _LONGEST_LINE].partition(_CUTS)[0].split("\n")
    parent = _PARENT.match(before[-2]) if len(before) > 1 else None
    if parent is not None and before[-1][: len(parent[1]) + 1].isspace() and before[-1].startswith(parent[1]):
        return True
    for line in (*before[-3:-1], *after[1:3]):
        found = _SETTING.match(line) if len(line) <= _LONGEST_LINE else None
        if found is not None and not describes_password(found["v"]):
            return True
    return False
