"""Passwords on command lines that no name stands beside: `mysql -pPW`, `curl -u user:PW`, `echo PW | docker login --password-stdin`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.governance.searching import Span, places
from tenure.governance.value_judgement import is_code, is_placeholder

_LOGIN = r"[\"']?[^\s\"':\\]{1,80}:(?P<v>[^\s\"'\\]{2,128})"
_OPERAND = r"(?:'(?P<w>[^'\n]{2,128})'|[\"']?(?P<v>[^\s\"'\\-][^\s\"'\\]{1,128}))"
_COMMANDS: dict[str, tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]] = {
    "p": (
        (("mysql", "mariadb", "mycli", "7z ", "7za ", "unrar ", "rar "), re.compile(_OPERAND)),
        (
            ("sshpass", "docker login", "podman login", "mongo", "az login", "kinit", "twine", "sqlplus", "rclone obscure"),
            re.compile(r"[ =]{0,2}" + _OPERAND),
        ),
    ),
    "u": ((("curl", "http"), re.compile(r"[ =]{0,2}" + _LOGIN)),),
    "-": (
        (("curl", "wget"), re.compile(r"user[ =]" + _LOGIN)),
        (("smbclient", "mount", "rpcclient", "smbmap"), re.compile(r"user[ =][\"']?[^\s\"'%]{1,80}%(?P<v>[^\s\"']{2,128})")),
    ),
    "a": (
        (("redis-cli",), re.compile(r"[ ]" + _OPERAND)),
        (("http ", "https ", "xh "), re.compile(r"[ ]" + _LOGIN)),
    ),
    "w": ((("ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldappasswd"), re.compile(r"[ ]{0,2}" + _OPERAND)),),
    "U": ((("smbclient", "rpcclient", "smbmap", "net "), re.compile(r"[ ]?[\"']?[^\s\"'%]{1,80}%(?P<v>[^\s\"']{2,128})")),),
    "N": ((("ssh-keygen",), re.compile(r"[ ]{0,2}" + _OPERAND)),),
    "P": ((("sqlcmd", "bcp", "ipmitool", "zip", "ssh-keygen"), re.compile(r"[ ]{0,2}" + _OPERAND)),),
}
"""By the letter of the option: commands one of which must stand before it on the line, and its value."""


_MOST_ON_LINE = 50
"""No line calls more commands that take a password; what goes on like that is no command line."""

_PIPED = re.compile(
    r"(?:echo|printf|print)(?: -[neE]{1,3})?(?: [\"']?%s(?:\\n)?[\"']?)? "
    r"(?:\"(?P<a>[^\"\n]{4,128})\"|'(?P<b>[^'\n]{4,128})'|(?P<c>[^\s\"'|]{4,128}))"
    r"[ \t]{0,3}\|[^\n|]{0,160}\Z"
)
_HERE = re.compile(r"[^\n<|]{0,80}<<<[ ]?(?:\"(?P<a>[^\"\n]{4,128})\"|'(?P<b>[^'\n]{4,128})'|(?P<c>[^\s\"'|]{4,128}))")
_READS_PASSWORD = ("-stdin", "sudo -S", "passwd --stdin", "chpasswd", "--passphrase-fd 0", "--with-token", "cryptsetup", "sudo -kS")
_SECURE_STRING = re.compile(r"(?: -String)?[ ](?:\\?\"(?P<a>[^\"\n\\]{3,128})|'(?P<b>[^'\n]{3,128})')")
_ORACLE = re.compile(
    r"(?:jdbc:oracle:[a-z0-9]{2,5}:|\b(?:sqlplus|imp|exp|impdp|expdp|sqlldr)[ ](?:-[A-Za-z][ ]){0,2}[\"']?)"
    r"[\w$.]{1,40}/\"?(?P<v>[^\s/@\"']{2,64})\"?@"
)
_PGPASS = re.compile(
    r"(?:^|(?<=[\n\"' >]))[\w.*-]{1,80}:(?:[1-9][0-9]{3,4}|\*):(?:[A-Za-z_][\w-]{0,60}|\*):[\w.@*-]{1,60}:"
    r"(?P<v>[^\s:\"']{4,128})(?=[\s\"']|\Z)"
)


_SAID = re.compile(
    r"(?: are| is|:|=| with| as)?"
    r" {0,2}[\"'`]?[A-Za-z][\w.@+-]{0,60}[\"'`]?(?: ?/ ?| ?: ?| and )[\"'`]?"
    r"(?P<v>[^\s\"'`,;/:]{5,64}?)(?=[.,;!)]?[\"'`]?(?:\s|\Z))"
)
_TYPED = re.compile(r"(?:[0-9] )?(?P<v>[^\s\"']{4,64})(?=[ \t\r]*(?:\n|\Z|privilege|role|RO\b|RW\b))")
_ANY = re.compile(r"[\"']?(?P<v>[^\s\"']{3,128})")
_SWITCH = re.compile(r"[\"']?(?P<v>[^\s\"'/*]{3,64})")
_SECOND = re.compile(r"\"?[^\s/]{1,80}\"? \"?(?P<v>[^\s\"'/*]{4,128})\"?(?=[ \t\r]*(?:\n|\Z|/))")
_CALL = re.compile(r"\s{0,8}\\?[\"'][^\s\"'\\]{1,80}\\?[\"'],\s{0,8}\\?[\"'](?P<v>[^\s\"'\\]{3,128})\\?[\"']")
_PLACES: tuple[tuple[str, tuple[tuple[str, re.Pattern[str]], ...]], ...] = (
    # Settings of switches and routers.
    (" secret ", (("enable secret ", _TYPED), (" secret 0 ", _TYPED), (" secret 5 ", _TYPED), (" secret 9 ", _TYPED))),
    (" password ", (("enable password ", _TYPED), (" password 0 ", _TYPED), (" password 7 ", _TYPED))),
    ("snmp-server community ", (("snmp-server community ", _TYPED),)),
    # Commands that take a password by its place, or under a name of their own.
    ("htpasswd -", (("htpasswd -", re.compile(r"[A-Za-z]{0,4}b[A-Za-z]{0,4} [^\s]{1,120} [^\s]{1,60} [\"']?(?P<v>[^\s\"']{3,128})")),)),
    ("net us", (("net user ", _SECOND), ("net use ", re.compile(r"[^\n]{0,80}?/user:[^\s]{1,80}[ ](?P<v>[^\s/\"'][^\s\"']{2,80})")))),
    (" /", ((" /rp ", _SWITCH), (" /pass:", _SWITCH))),
    (" pass:", (("-passin pass:", _ANY), ("-passout pass:", _ANY), ("-pass pass:", _ANY))),
    ("login ", (("imap login ", _SECOND), ("wandb login ", re.compile(r"(?:--relogin )?(?P<v>[0-9a-f]{40})(?![0-9A-Za-z])")))),
    (" LOGIN ", ((" LOGIN ", _SECOND),)),
    ("WIFI:", (("WIFI:", re.compile(r"[^\n]{0,80}?;P:(?P<v>(?:[^;\n\\]|\\.){4,64});")),)),
    ("ecureString", (("ConvertTo-SecureString", _SECURE_STRING),)),
    # Calls that take a login and its password.
    ("uth", (("auth=(", _CALL), ("BasicAuth(", _CALL), ("basic_auth(", _CALL), (".auth(", _CALL))),
    (".login(", ((".login(", _CALL),)),
    ("redential", (("PSCredential(", _CALL), ("setCredentials(", _CALL), ("redentials", _SAID))),
    ("creds", (("creds", _SAID),)),
    ("og", (("ogin details", _SAID), ("ogin with", _SAID), ("og in with", _SAID), ("ogin as", _SAID), ("og in as", _SAID))),
)
"""A literal that is sought first, and those that it opens, each with what stands behind it."""

_ORACLE_ANCHORS = ("oracle:", "sqlplus ", "imp ", "exp ", "impdp ", "expdp ", "sqlldr ")
_BEFORE_SLASH = re.compile(r"(?:[Uu]se|[Ww]ith|[Aa]s|[Ll]ogin:?|[Cc]reds:?) [\"'`]?[\w.@+-]{1,60}[\"'`]?\Z")
_AFTER_SLASH = re.compile(r"[\"'`]?(?P<v>[^\s\"'`,;/:]{5,64}?)(?=[.,;!)]?[\"'`]?(?:\s|\Z))")


def find_on_command_lines(text: str) -> Iterator[Span]:
    """Passwords behind short options of commands that take one there, and those that are fed or handed to a command or a person."""
    yield from _behind_options(text)
    if "<<<" in text or "echo " in text or "print" in text:
        yield from _fed(text)
    for gate, opened in _PLACES:
        if gate in text:
            for anchor, pattern in opened:
                for place in places(text, anchor):
                    found = pattern.match(text, place + len(anchor))
                    if found is not None and (pattern is not _SAID or _is_mixed(found["v"])):
                        yield from _value(found)
    if "@" in text and "/" in text:
        for anchor in _ORACLE_ANCHORS:
            for place in places(text, anchor):
                yield from _value(_ORACLE.match(text, place - (5 if anchor == "oracle:" else 0)))
    for place in places(text, " / "):
        found = _AFTER_SLASH.match(text, place + 3)
        if found is not None and _BEFORE_SLASH.search(text, max(0, place - 80), place) is not None and _is_mixed(found["v"]):
            yield from _value(found)
    for anchor in (":5432:", ":6432:", ":*:"):
        for place in places(text, anchor):
            start = max(text.rfind(c, max(0, place - 80), place) for c in "\n\"' >") + 1
            if start or place <= 80:
                yield from _value(_PGPASS.match(text, start))


def _is_mixed(value: str) -> bool:
    """Whether a value holds letters beside digits or signs, as passwords do and words do not."""
    return (
        is_option_value(value)
        and any(c.isalpha() for c in value)
        and any(c.isdigit() or c in "!#$%^&*+?=~" for c in value)
        and re.fullmatch(r"[0-9.]+[A-Za-z]{1,3}|v?[0-9]+(?:\.[0-9]+)+\w*|\w+\(.*", value) is None
    )


def _value(found: re.Match[str] | None) -> Iterator[Span]:
    if found is None:
        return
    name = found.lastgroup or ""
    value = found[name]
    if is_option_value(value):
        yield found.start(name), found.end(name), "password"


def _fed(text: str) -> Iterator[Span]:
    """What `echo` or `<<<` hands to a command that reads a password from its input."""
    for anchor in _READS_PASSWORD:
        for place in places(text, anchor):
            chunk = text[max(0, place - 300) : place]
            chunk = chunk[chunk.rfind("\n") + 1 :]
            echoed = chunk.rfind("echo ") if "echo " in chunk else chunk.rfind("print")
            if echoed >= 0 and (found := _PIPED.match(chunk, echoed)) is not None:
                name = found.lastgroup or ""
                value = found[name]
                at = place - len(chunk) + found.start(name)
                if anchor == "chpasswd":
                    at += value.find(":") + 1
                    value = value.partition(":")[2] or value
                if is_option_value(value):
                    yield at, at + len(value), "password"
            yield from _value(_HERE.match(text, place + len(anchor)))


def _behind_options(text: str) -> Iterator[Span]:
    line_end, on_line = -1, 0
    place = text.find(" -")
    while place >= 0:
        stop = place + 3
        for commands, value in _COMMANDS.get(text[place + 2 : stop], ()):
            found = value.match(text, stop)
            if found is not None and is_option_value(found[found.lastgroup or "v"]) and _starts_with(commands, text, place):
                yield *found.span(found.lastgroup or "v"), "password"
                stop = found.end()
                if stop > line_end:
                    line_end, on_line = text.find("\n", stop) % (len(text) + 1), 0  # -1 becomes the end of the text
                on_line += 1
        if on_line > _MOST_ON_LINE:
            stop, on_line = max(stop, line_end), 0
        place = text.find(" -", stop)


def _starts_with(commands: tuple[str, ...], text: str, place: int) -> bool:
    """Whether one of the commands stands before a place on its line, with no other command between."""
    before = text[max(0, place - 240) : place]
    before = before[max(before.rfind("\n"), before.rfind("|"), before.rfind(";")) + 1 :]
    before += " "
    return any(command in before for command in commands)


def is_option_value(value: str) -> bool:
    """Whether what stands where a command takes a password is one, rather than a variable, a number or the word itself."""
    return not is_placeholder(value) and not is_code(value) and not value.isdigit() and value.lower() not in ("password", "pass")
