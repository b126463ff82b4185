"""Names of persons and places, by Presidio and a language model that its user installed, as one more look after the other rules.

Off unless the setting `redact.names` names a spaCy model. Nothing is downloaded: a model that is not on the machine is
an error, and of Presidio's recognisers only the one that asks the model is used, as others fetch lists at run time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tenure.errors import MissingExtra, UserError
from tenure.governance.redaction import add_finder
from tenure.governance.searching import Span

KINDS = {"PERSON": "name", "LOCATION": "place"}
LONGEST_PIECE = 20_000
"""Characters that are read at once; a model's memory grows with them."""

_BETWEEN = "\n\x00\n"
"""Stands between texts that are searched as one: a model must not see what is not of the text it judges."""


def install(model: str) -> None:
    """Have every redaction in this process take names out as well.

    Args:
        model: name or folder of a spaCy model that is installed, such as `en_core_web_sm`.

    Raises:
        MissingExtra: Presidio is not installed.
        UserError: the model is not there.
    """
    add_finder(_finder(model))


@cache
def _finder(model: str) -> Callable[[str], Iterator[Span]]:
    if find_spec("presidio_analyzer") is None or find_spec("spacy") is None:
        raise MissingExtra("Taking names out of texts", extra="names", get=f"the spaCy model '{model}', as its makers say")
    analyzer, language = _analyzer(model)

    def find_names(text: str) -> Iterator[Span]:
        start = 0
        for part in text.split(_BETWEEN):
            for low, high in _pieces(part):
                for found in analyzer.analyze(text=part[low:high], language=language, entities=list(KINDS)):
                    at, end = low + found.start, low + found.end
                    if _is_name(part[at:end]):
                        yield start + at, start + end, KINDS[found.entity_type]
            start += len(part) + len(_BETWEEN)

    return find_names


def _analyzer(model: str) -> tuple[Any, str]:
    """Presidio around a model that is on this machine, and the model's language."""
    spacy: Any = importlib.import_module("spacy")
    if not spacy.util.is_package(model) and not Path(model).is_dir():
        raise UserError(
            f"The spaCy model '{model}' of redact.names is not installed. Install it from where its makers publish it; "
            "Tenure downloads none. Or switch names off: tenure config set redact.names ''"
        )
    loaded: Any = spacy.load(model)
    presidio: Any = importlib.import_module("presidio_analyzer")
    engines: Any = importlib.import_module("presidio_analyzer.nlp_engine")
    recognizers: Any = importlib.import_module("presidio_analyzer.predefined_recognizers")
    engine: Any = engines.SpacyNlpEngine(models=[{"lang_code": loaded.lang, "model_name": model}])
    engine.nlp = {loaded.lang: loaded}  # else Presidio would load it by its name, and download it if it were not there
    registry: Any = presidio.RecognizerRegistry(
        recognizers=[recognizers.SpacyRecognizer(supported_language=loaded.lang, supported_entities=list(KINDS))],
        supported_languages=[loaded.lang],
    )
    return presidio.AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[loaded.lang]), loaded.lang


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of pieces of a text that end with a line, if they can."""
    start = 0
    while start < len(text):
        end = min(len(text), start + LONGEST_PIECE)
        if end < len(text) and (line := text.rfind("\n", start, end)) > start:
            end = line + 1
        yield start, end
        start = end


def _is_name(value: str) -> bool:
    """Whether what a model takes for a name can be one: no id with digits, no mark, and a capital letter at its start if it has case."""
    first = value[:1]
    return len(value) > 1 and not any(c.isdigit() or c in '[]{}<>:="\n' for c in value) and first.isalpha() and not first.islower()
