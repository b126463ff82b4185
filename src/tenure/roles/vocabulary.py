"""Word lists that the reading of tool names, commands and error texts rests on."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# --- tools and commands ----------------------------------------------------------------------------

READ_VERBS = _set(
    "get list search find read show calculate calc compute think check lookup look fetch query view describe count grep glob ls cat head"
    " browse inspect validate verify compare estimate preview explain summarize summarise analyze analyse diff retrieve recall ask"
    " status info log logs history whoami ping test doc docs help convert translate parse notebookread screenshot wait sleep plan todo"
)
"""First words of tool names that only look."""

CHANGE_VERBS = _set(
    "add append apply assign book buy cancel change close commit copy create decline delete deploy disable drop edit enable exchange"
    " execute export grant import insert install issue kill merge modify move multiedit order patch pay place post publish push put refund"
    " register reject release remove rename replace reply reset restart return revoke run save schedule send set start stop submit transfer"
    " update upgrade upload withdraw write"
)
"""First words of tool names that change something."""

SHELLS = _set("bash shell sh zsh terminal exec powershell pwsh cmd console shell_command local_shell container.exec")
"""Names of tools that run command lines, and of the shells themselves."""

READ_PROGRAMS = _set(
    "ls cat head tail less more grep rg ag find fd wc pwd which whereis type file stat du df tree echo printf env printenv date ps whoami"
    " id uname sort uniq cut awk jq yq diff cmp true test cd hostname history man sleep"
)
"""Programs that only look."""

PROGRAMS_WITH_SUBCOMMANDS = _set(
    "git npm pnpm yarn pip pip3 uv cargo go docker kubectl gh brew apt apt-get conda poetry make helm terraform aws"
)
"""Programs whose first argument says what they do."""

READ_SUBCOMMANDS = _set(
    "status log diff show branch remote blame ls-files rev-parse describe list ls view search info help version --version config get"
    " outdated freeze inspect logs ps images top"
)
"""Subcommands that only look."""

WRAPPERS = _set("sudo time env nohup command exec timeout nice xargs")
"""Programs that run another program."""

# --- error texts -----------------------------------------------------------------------------------

STOP_WORDS = _set(
    "the and for not but with was are has have does did can cannot could should must from this that than more only too also its your you"
    " error invalid unknown found missing failed fail wrong"
)
"""Words of an error that name no argument."""

EMPTY_WORDS = _set(
    "error errors exit exited code status failed failure fail exception unknown command process tool call execution returned return non"
    " zero nonzero with the an it is was has no output stderr stdout line"
)
"""Words that say no more than that something failed."""

TERMS = _set(
    "utf8 utf-8 utf16 utf-16 base64 base32 sha1 sha256 sha512 md5 int8 int16 int32 int64 float16 float32 float64 python2 python3 pip3"
    " http2 oauth2 ipv4 ipv6 s3 ec2 k8s x86 x64 x86_64 mp3 mp4 h264 win32 iso8601 iso-8601 latin1 latin-1 web3 neo4j sqlite3 psycopg2 log4j"
)
"""Words with digits that are words, not values."""

ENTITIES = (
    "user|customer|passenger|client|employee|member|patient|contact|person|owner|author|assignee|account|agent|seller|buyer|supplier"
    "|vendor|company|country|city|airport|airline|reservation|booking|order|flight|ticket|invoice|item|product|project|table|column"
    "|currency|symbol|ticker|route|station|region|code|reference|id|named|called|name"
)
"""Nouns after which a capitalised word is a name and a word in capitals is a code; a pattern."""

NO_NAMES = (
    "Not|No|Is|Was|Are|Has|Have|Does|Do|Did|Can|Cannot|Could|Must|Should|Will|May|Already|Invalid|Missing|Required|Unknown|Exists?|Found"
    "|Denied|Expired|Error|Failed|Failure|Method|Name|Type|Value|Number|Status|Date|And|Or|In|On|At|Of|For|From|With|Without|The|This|Id"
)
"""Capitalised words that are no names; a pattern."""

ACRONYMS = (
    "JSON|HTTPS?|URLS?|URI|API|SQL|NULL|NONE|IDS?|UUID|XML|YAML|CSV|HTML|PDF|SSL|TLS|SSH|DNS|TCP|UDP|IP|CPU|GPU|RAM|EOF|UTF|ASCII|GET"
    "|POST|PUT|DELETE|PATCH|HEAD|SELECT|INSERT|UPDATE|NOT|AND|OR|IS|IN|NO|ERROR|TRUE|FALSE"
)
"""Words in capitals that are no codes; a pattern."""

MONTHS = (
    "January|February|March|April|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    "|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre"
    "|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
)
"""Names of months in English, German, French and Spanish; a pattern."""

FILE_ENDINGS = (
    "py|pyc|ipynb|js|jsx|mjs|cjs|ts|tsx|json|jsonl|toml|ya?ml|ini|cfg|conf|lock|md|rst|txt|log|csv|tsv|xml|html?|css|scss|sql|db|sqlite"
    "|sh|bash|ps1|bat|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|lua|vue|svelte|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|zip|tar|gz|whl"
    "|env"
)
"""Endings by which a word is a file's name; a pattern."""
