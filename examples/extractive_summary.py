"""Which three sentences sum up a text, and which five words is it about?

    python examples/extractive_summary.py

Sentences are chosen together with their words: a pair's weight is how often the sentence uses the word, times how rare
the word is (tf-idf); a word's own score grows with the sentences that use it. The text was written for this example.
What the objective says: sentences and words that belong together; the words explain why a sentence is in.
What it cannot say: that two sentences repeat each other. There is no term between sentences, so a repetition scores
twice. A rule can say it: of sentences that are nearly alike at most one.
"""

import re

import numpy as np

from biselect import solve
from biselect.core import Group, Rules, SelectionProblem

TEXT = """The harbour town lost its ferry in the spring storm. For two centuries the ferry had carried fishermen,
letters and schoolchildren across the sound. Without the ferry the island school stands empty on Mondays. The council
met on Tuesday evening. Engineers say that a bridge across the sound would cost forty million. A bridge would cost
forty million, the engineers say, and would take six years. A new ferry would cost nine million and could sail next
summer. Fishermen fear that a bridge would close the sound to their boats. The baker gave out rolls at the door.
Islanders voted for a new ferry, four to one. The council will order the new ferry in June. It rained all night."""
DULL = set("the a in on for to and at its it that had would could will their one all two say six out".split())
SENTENCES = [" ".join(part.split()) + "." for part in TEXT.split(".") if part.strip()]
K, M, ALIKE, THEME = 3, 5, 0.5, 2.0


def weights() -> tuple[np.ndarray, list[str]]:
    """Tf-idf of each word (column) in each sentence (row), and the words."""
    split = [[word for word in re.findall(r"[a-z]+", one.lower()) if word not in DULL] for one in SENTENCES]
    words = sorted({word for one in split for word in one})
    counts = np.array([[one.count(word) for word in words] for one in split], dtype=float)
    return counts * np.log(len(split) / (counts > 0).sum(axis=0)), words


def similarity() -> np.ndarray:
    """Cosine between different sentences."""
    rows = weights()[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T - np.eye(len(rows))


def problem(no_repeats: bool = True) -> SelectionProblem:
    """The text; with the rule against repetition or without."""
    table, words = weights()
    pairs = np.argwhere(np.triu(similarity()) > ALIKE) if no_repeats else []
    rules = Rules(groups=[Group(members=tuple(pair)) for pair in pairs])
    more = {"feature_scores": THEME * (table > 0).sum(axis=0), "feature_names": tuple(words)}
    return SelectionProblem(coupling=table, k=K, m=M, sample_rules=rules, **more)


if __name__ == "__main__":
    for no_repeats in (False, True):
        best = solve(problem(no_repeats))
        alike = similarity()[np.ix_(best.samples, best.samples)].max()
        print(f"about {', '.join(best.feature_names)}: {' '.join(SENTENCES[i] for i in best.samples)}")
        print(f"  score {best.score:.2f}, proven optimal: {best.proven_optimal}; most alike two: {alike:.2f}")
