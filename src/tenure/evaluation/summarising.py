"""An extractive summariser under a cap on words: it keeps the statements that say most of what the whole says, and writes nothing.

Source: Nenkova and Vanderwende, The impact of frequency on summarization (2005): a statement is worth the mean frequency of
its words, and words that were said once count less from then on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tenure.ranking import STOP_WORDS, words

_ENDS = re.compile(r"\n+|(?<=[.!?])\s+(?=[A-Z0-9(])")


def statements_of(text: str) -> list[str]:
    """The statements of a text: its lines, cut at the ends of sentences."""
    return [part.strip() for part in _ENDS.split(text) if part and part.strip()]


def summarise(statements: Sequence[str], most_words: int) -> list[str]:
    """Statements that together have at most so many words, in their order.

    Args:
        statements: what there is to say; nothing is cut.
        most_words: cap, words as they stand between spaces.

    Returns:
        All of them where they fit. Else those whose words are frequent in the whole, one after the other, each time with
        what has been said counting less (its share of all words is squared).
    """
    sizes = [len(one.split()) for one in statements]
    if sum(sizes) <= most_words:
        return list(statements)
    said = [[word for word in words(one) if word not in STOP_WORDS] for one in statements]
    counted = Counter(word for some in said for word in some)
    total = max(1, sum(counted.values()))
    chance = {word: count / total for word, count in counted.items()}
    left = most_words
    waiting = {place for place, some in enumerate(said) if some}
    chosen: list[int] = []
    while waiting:
        fitting = [place for place in waiting if sizes[place] <= left]
        if not fitting:
            break
        best = max(fitting, key=lambda place: (sum(chance[word] for word in said[place]) / len(said[place]), -place))
        waiting.discard(best)
        chosen.append(best)
        left -= sizes[best]
        for word in set(said[best]):
            chance[word] **= 2
    return [statements[place] for place in sorted(chosen)]
