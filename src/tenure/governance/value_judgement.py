"""Whether a text is a secret value, or a word, a name, a placeholder or a piece of code.

The question decides most of what redaction gets right: `password: hunter2` is a secret, `password: required`,
`token = get_token()`, `access_token=spotify_access_token` and `api_key: str` are not.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SPLIT = re.compile(r"[-_./:,;|\s]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NUMBER = re.compile(r"v?[0-9]{1,12}", re.IGNORECASE)
_MEASURE = re.compile(r"[0-9]{1,6}(?:st|nd|rd|th|[hdswmyxkg]|ms|min|mins|hrs?|days?|bits?|bytes?|[kmg]b|chars?|px|fa)", re.IGNORECASE)
TECHNICAL = frozenset(
    "base64 base32 sha1 sha2 sha3 nistp256 nistp384 nistp521 sha256 sha384 sha512 md5 bcrypt argon2 argon2id scrypt pbkdf2 utf8 "
    "utf16 oauth2 oauth1 rs256 rs512 hs256 hs512 es256 aes128 aes256 ed25519 secp256k1 rsa2048 rsa4096 p256 x509 http2 s3 ec2 k8s "
    "i18n l10n a11y ipv4 ipv6 int8 int16 int32 int64 uint8 uint32 uint64 float32 float64 h264 mp3 mp4 x64 x86 win32 web3 neo4j "
    "log4j pkcs8 pkcs12 pkcs1 ntlmv2 tls12 tls13 b64 n8n d3 py3 python3 gpt4 utf32 varchar2 str2 bytes32".split()
)
_SECRET_WORDS = frozenset(
    "password passwd passphrase passcode pass pwd pw secret secrets token tokens key keys apikey auth credential credentials cred "
    "creds bearer cookie session env environ config settings user username login access refresh client api value field".split()
)
_SAYS_NO_PASSWORD = frozenset(
    "required optional mandatory string text str int integer number bool boolean varchar char bytes bytea json xml any object array list "
    "null none nil undefined void empty blank missing absent unset set unknown unchanged changed change changeme reset updated update "
    "expired expires invalid valid validated incorrect correct wrong right ok okay fail failed failure error success accepted rejected "
    "denied refused allowed forbidden needed enabled disabled enable disable true false yes no on off default custom auto automatic "
    "generated random rotated hidden masked redacted hashed hash encrypted encoded plain plaintext cleartext weak strong medium short "
    "long minimum maximum min max length confirmed confirm confirmation current previous old new same match matches mismatch matched "
    "login logout signin signup register reset forgot forgotten remember recovery protected sensitive private public internal external "
    "nullable unique index type kind name label title description input output prompt stdin interactive manual method provider policy "
    "placeholder example sample dummy todo tbd fixme redact mask omitted removed deleted stored provided given see above below argument "
    "parameter param option flag file path url basic digest oauth ldap saml sso kerberos md5 keyring vault env variable static dynamic "
    "return raise pass continue break else lambda async await not and or the a an is are was be to of for in it this that your my our "
    "with without from by at as if when then than must should can cannot will may has have do does use using used enter type choose "
    "please only also but which who what how why where all each every some more most other another before after between into its their "
    "i we you they he she there here so such very just about case user's there's".split()
)
"""Words that say what a password is, must be or has become, types of values, and words that sentences are made of."""

_NAMES_OF_PASSWORDS = frozenset(
    "passwort kennwort passw\u00f6rter contrase\u00f1a contrasena senha wachtwoord parola has\u0142o "
    "haslo sifre \u015fifre motdepasse mdp pin".split()
)
_SENTENCE_WORDS = frozenset(
    "a an the is are was were be been to of for in on at by it its this that these those your my our his her their and or not no with "
    "without from as if when then than must should can cannot could will would may has have had do does did use enter please only also "
    "but which who what how why where i we you they he she there here so such very just about into must".split()
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_NO_CHOICE = frozenset("/:,;|()[]{}<>\"'`=\\ ")
_PLACEHOLDER = re.compile(
    r"\[redacted\b|[<{(\[].{0,200}[>})\]]\Z|[<{]|\$[{(]|\$[A-Za-z_][A-Za-z0-9_:]*-?\Z|%[A-Za-z_][A-Za-z0-9_]*%\Z|%[(sdr]|#\{"
    r"|@[A-Za-z_]|!(?:Ref|Sub|vault|GetAtt)\b|&[A-Za-z_]+\Z|\\[nrt\"]",
    re.IGNORECASE,
)
_ELSEWHERE = ("op:", "vault:", "ref:", "env:", "file:", "arn:", "aws:", "gcp:", "secretsmanager:", "keyring:", "ssm:", "http:", "https:")
_MASKED = re.compile(r"\*{3}|\.{3}|\u2026|\u2022{2}|x{6}|X{6}|#{4}|_{4}|\?{3}")
_MASK_ONLY = frozenset("xX*.-_#?0\u2022\u2026")
_DUMMY = re.compile(
    r"(?:^|[^a-z])(?:your|my|the|some|insert|enter|replace|change|placeholder|dummy|redacted|hidden|masked|example|sample|todo"
    r"|fixme)(?:[^a-z]|$)",
    re.I,
)
_CALL = re.compile(r"[A-Za-z_][A-Za-z0-9_.>:-]*[\[(]")
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|->|::)[A-Za-z_][A-Za-z0-9_]*)+\Z")
_CODE_ROOTS = frozenset(
    "os self this process request req response res config settings env args options opts params ctx context app secrets vault data "
    "state module cls window document st conf cfg props kwargs headers session user account result client auth credentials creds "
    "import local var path".split()
)
_LONGEST_WORD = 20
_EDGES = "()[]{}*\"'`.,;:!?<>~"


def is_masked(value: str) -> bool:
    """Whether the secret part of a value was already hidden: `sk-***`, `AKIAXXXXXXXXXXXXXXXX`, `abcd...wxyz`."""
    return _MASKED.search(value) is not None or set(value) <= _MASK_ONLY


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret without being one: `<YOUR_KEY>`, `${TOKEN}`, `***`, `[redacted:jwt]`."""
    if is_masked(value):
        return True
    if not value[:1].isalnum():
        return _PLACEHOLDER.match(value) is not None
    if ":" in value and value.lower().startswith(_ELSEWHERE):
        return True
    return _DUMMY.search(value) is not None and is_wordlike(value)


def is_code(value: str) -> bool:
    """Whether a value is an expression that yields a secret elsewhere: `get_token()`, `os.environ[`, `self.token`."""
    if _CALL.match(value) is not None:
        return True
    if _DOTTED.match(value) is None:
        return False
    root = re.split(r"\W", value, maxsplit=1)[0].lower().strip("_")
    return root in _CODE_ROOTS or is_wordlike(value)


def is_wordlike(value: str, *, units: bool = True) -> bool:
    """Whether a value is made of words and short numbers, as names, sentences, dates and versions are.

    Args:
        value: any text.
        units: whether numbers with a unit, such as `256-bit` and `3rd`, count as words.
    """
    parts = [part for part in _SPLIT.split(value.strip(_EDGES)) if part]
    if not all(_is_word(part.strip(_EDGES), units) for part in parts):
        return False
    return not _mixes_manners(value, parts)


def _mixes_manners(value: str, parts: list[str]) -> bool:
    """Whether a value such as `AAAA.BBBB_cccc` joins words in a way in which no name is written."""
    if "/" in value or " " in value or any(part.lower() in _SECRET_WORDS or part.lower() in _CODE_ROOTS for part in parts):
        return False
    joints = {c for c in value if c in "-_.:"}
    return len(joints) > 1 and any(p.isupper() and len(p) > 1 for p in parts) and any(p.islower() and len(p) > 1 for p in parts)


def _is_word(part: str, units: bool) -> bool:
    if not part:
        return True
    lower = part.lower()
    if _NUMBER.fullmatch(part) is not None or lower in TECHNICAL or (units and _MEASURE.fullmatch(part) is not None):
        return True
    letters = part.replace("'", "").replace("\u2019", "")
    if letters.isalpha():
        if not letters.isascii():
            return True
        humps = _CAMEL.findall(letters)
        # Words of a name are three letters long and more on average; random letters change case at every step.
        return len(letters) <= 3 or (len(letters) / len(humps) >= 2.5 and max(map(len, humps)) <= _LONGEST_WORD)
    stem = lower.rstrip("0123456789")
    return stem in _SECRET_WORDS and len(lower) - len(stem) <= 2


@lru_cache(maxsize=4096)
def is_chosen(value: str) -> bool:
    """Whether a value that `is_wordlike` can be a password that somebody chose: `swordfish`, `LilyPad_1`, `four-words-and-a-half`.

    To be asked only where the place says that the value is data: else the name of a variable would be taken for one.
    """
    if len(value) < 4 or not _NO_CHOICE.isdisjoint(value):
        return False
    words = [word.lower() for word in _HUMP.findall(value)]
    if max(map(len, words), default=0) < 3 or any(part.lower() in TECHNICAL or _is_measured(part) for part in _SPLIT.split(value)):
        return False
    counted = any(c.isdigit() for c in value)
    if all(word in _SECRET_WORDS or word in _NAMES_OF_PASSWORDS for word in words):
        return False
    if counted:
        return not all(word in _SAYS_NO_PASSWORD or word in _SECRET_WORDS for word in words)
    if any(word in _SECRET_WORDS or word in _NAMES_OF_PASSWORDS for word in words) or "." in value:
        return False
    return not any(word in _SAYS_NO_PASSWORD for word in words) if len(words) < 3 else not any(word in _SENTENCE_WORDS for word in words)


def _is_measured(part: str) -> bool:
    return _MEASURE.fullmatch(part) is not None


_PHRASE_WORD = re.compile(r"[A-Za-z]{3,10}|[0-9]{1,6}")


def is_phrase(value: str) -> bool:
    """Whether a value is a row of words that makes no sentence, as a pass phrase is: `correct horse battery staple`, `open sesame 42`."""
    words = value.lower().split(" ")
    if not (4 <= len(words) <= 8 or (2 <= len(words) <= 8 and any(word.isdigit() for word in words))):
        return False
    stops = _SENTENCE_WORDS | _SECRET_WORDS if len(words) > 3 else _SAYS_NO_PASSWORD | _SECRET_WORDS
    return stops.isdisjoint(words) and all(map(_PHRASE_WORD.fullmatch, words)) and not all(word.isdigit() for word in words)


def describes_password(value: str) -> bool:
    """Whether a value says what belongs in its place, as `string`, `required` and `null` do."""
    return value.lower().strip("<>\"'?!.") in _SAYS_NO_PASSWORD or is_placeholder(value)


def is_free_of_sentences(line: str) -> bool:
    """Whether none of a line's words is one that sentences are made of, as on a command line."""
    return _SENTENCE_WORDS.isdisjoint(word.strip(_EDGES) for word in line.lower().split())
