"""A small transformer as a policy: imitates targets, samples answers, and learns from advantages, on a CPU.

Its calls are the methods of `Policy` (calls.py). Token 0 is padding, 1 starts an answer, 2 ends it. Each prompt is
encoded once for all of its answers. The same calls give the same numbers on one machine.
"""

from __future__ import annotations

import functools
import math
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from calls import answer_calls

PADDING, START, END = 0, 1, 2
Params = dict[str, Any]

#: Adam's constants, and the largest norm of a gradient, which longer ones are scaled to.
BETA1, BETA2, EPSILON, LARGEST_NORM = 0.9, 0.99, 1e-8, 1.0


class Policy:
    """The weights, Adam's means, and the last sampled batch."""

    def open(self, vocabulary: int, sources: int, layers: int, width: int, heads: int, seed: int) -> dict[str, Any]:
        """Makes new weights. `sources`: the most sources of a prompt; each has an embedding that marks its tokens."""
        self.heads = heads
        keys = iter(jax.random.split(jax.random.PRNGKey(seed), 8 * layers + 3))

        def matrix(rows: int, columns: int, scale: float = 1.0) -> jax.Array:
            return jax.random.normal(next(keys), (rows, columns)) * scale / math.sqrt(rows)

        def layer() -> Params:
            # A token attends to equal tokens and copies them from the start, so copying is learned in minutes.
            match, copy = matrix(width, width), matrix(width, width)
            return {
                "attention_norm": jnp.ones(width),
                "queries": match,
                "keys": match,
                "values": copy,
                "mixed": copy.T / math.sqrt(2 * layers),
                "hidden_norm": jnp.ones(width),
                "hidden": matrix(width, 3 * width),
                "output": matrix(3 * width, width, 1 / math.sqrt(2 * layers)),
            }

        # Layers are stacked, so that a scan compiles one of them.
        blocks = [layer() for _ in range(layers)]
        self.params: Params = {
            "tokens": matrix(vocabulary, width, math.sqrt(vocabulary) * 0.1),
            "sources": matrix(sources + 1, width, math.sqrt(sources + 1) * 0.1),
            "before": matrix(width, width, 0.5),
            "norm": jnp.ones(width),
            "layers": jax.tree.map(lambda *one: jnp.stack(one), *blocks),
        }
        self._forget()
        return {"parameters": sum(leaf.size for leaf in jax.tree.leaves(self.params))}

    def _forget(self) -> None:
        """Starts a new optimization of the weights."""
        zeros = jax.tree.map(jnp.zeros_like, self.params)
        self.moments = (zeros, zeros)
        self.updates = 0
        self.batch: tuple[jax.Array, ...] | None = None

    def save(self, file: str) -> dict[str, Any]:
        """Writes weights and optimizer to a file, which has its name only when it is complete."""
        leaves = jax.tree.leaves((self.params, self.moments))
        with open(file + ".part", "wb") as part:
            np.savez(part, updates=self.updates, **{str(place): np.asarray(leaf) for place, leaf in enumerate(leaves)})
        os.replace(file + ".part", file)
        return {}

    def load(self, file: str, optimizer: bool) -> dict[str, Any]:
        """Reads a saved file into an opened policy of the same shape. Without `optimizer`, its means are left out."""
        leaves, shape = jax.tree.flatten((self.params, self.moments))
        with np.load(file) as stored:
            read = [jnp.asarray(stored[str(place)]) for place in range(len(leaves))]
            updates = int(stored["updates"])
        if [leaf.shape for leaf in read] != [leaf.shape for leaf in leaves]:
            raise ValueError(f"{file} holds a policy of another shape; delete it")
        self.params, self.moments = jax.tree.unflatten(shape, read)
        self.updates = updates
        if not optimizer:
            self._forget()
        return {}

    def imitate(
        self,
        prompts: list[list[int]],
        sources: list[list[int]],
        targets: list[list[list[int]]],
        prompt_tokens: int,
        answer_tokens: int,
        learning_rate: float,
    ) -> dict[str, Any]:
        """One step of supervised training. Every prompt has the same number of targets. Returns the mean loss."""
        answers = _filled([_filled(group, answer_tokens) for group in targets])
        return self._update(_batch(prompts, sources, prompt_tokens), answers, np.ones(answers.shape[:2]), learning_rate)

    def sample(
        self,
        prompts: list[list[int]],
        sources: list[list[int]],
        samples: int,
        prompt_tokens: int,
        answer_tokens: int,
        seed: int,
        step: int,
    ) -> dict[str, Any]:
        """Samples answers at temperature 1, without the token that ends them. `learn` learns from them."""
        batch = _batch(prompts, sources, prompt_tokens)
        key = jax.random.fold_in(jax.random.PRNGKey(seed), step)
        answers = np.asarray(_sample(self.params, *batch, key, self.heads, samples, answer_tokens))
        self.batch = (*batch, answers)
        return {"answers": [[_answer(one.tolist()) for one in group] for group in answers]}

    def learn(self, advantages: list[list[float]], learning_rate: float) -> dict[str, Any]:
        """One step of GRPO without a reference model: -advantage x log-probability, mean over the tokens of the batch.

        As TRL's loss `dapo` for one on-policy update. Advantage 0 teaches nothing.
        """
        if self.batch is None:
            raise ValueError("learn: no batch was sampled")
        *batch, answers = self.batch
        return self._update(tuple(batch), answers, np.asarray(advantages), learning_rate)

    def _update(self, batch: Any, answers: Any, weights: Any, learning_rate: float) -> dict[str, Any]:
        """Updates the weights, unless the gradient is not finite: then `skipped` is true."""
        given = (self.params, self.moments, self.updates, *batch, answers, weights.astype(np.float32))
        params, moments, loss, norm = _step(*given, jnp.float32(learning_rate), self.heads)
        skipped = not math.isfinite(float(norm))
        if not skipped:
            self.params, self.moments = params, moments
            self.updates += 1
        return {"loss": None if skipped else float(loss), "norm": None if skipped else float(norm), "skipped": skipped}


def _answer(tokens: list[int]) -> dict[str, Any]:
    """The answer without the token that ends it; `cut` if it has none."""
    return {"tokens": [t for t in tokens if t not in (PADDING, END)], "cut": END not in tokens}


def _filled(rows: list[Any], length: int | None = None) -> np.ndarray:
    """Rows as one array; with a length, tokens are padded on the right, and END follows the last one if it fits."""
    if length is None:
        return np.stack(rows)
    array = np.full((len(rows), length), PADDING, np.int32)
    for place, row in enumerate(rows):
        tokens = [*row, END][:length]
        array[place, : len(tokens)] = tokens
    return array


def _batch(prompts: list[list[int]], sources: list[list[int]], length: int) -> tuple[np.ndarray, np.ndarray]:
    """Prompts and the sources of their tokens, padded on the left. @raises ValueError if a prompt is too long."""
    arrays = (np.full((len(prompts), length), PADDING, np.int32), np.zeros((len(prompts), length), np.int32))
    for array, rows in zip(arrays, (prompts, sources)):
        for place, row in enumerate(rows):
            if len(row) > length:
                raise ValueError(f"a prompt has {len(row)} tokens, more than {length}")
            array[place, length - len(row) :] = row
    return arrays


def _norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def _rotated(x: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotary position embedding of a quarter of the last axis; `positions` are those of the axis before it.

    The other dimensions compare what tokens are, wherever they are.
    """
    half = x.shape[-1] // 8
    angles = positions[:, None] / 100.0 ** (jnp.arange(half) / half)
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    turned = [a * jnp.cos(angles) - b * jnp.sin(angles), a * jnp.sin(angles) + b * jnp.cos(angles)]
    return jnp.concatenate([*turned, rest], -1)


def _split(x: jax.Array, heads: int) -> jax.Array:
    """(..., tokens, width) to (..., heads, tokens, width of a head)."""
    return jnp.moveaxis(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def _joined(x: jax.Array) -> jax.Array:
    x = jnp.moveaxis(x, -3, -2)
    return x.reshape(*x.shape[:-2], -1)


def _projected(x: jax.Array, layer: Params, positions: jax.Array, heads: int) -> tuple[jax.Array, ...]:
    h = _norm(x, layer["attention_norm"])
    queries, keys, values = (_split(h @ layer[name], heads) for name in ("queries", "keys", "values"))
    return _rotated(queries, positions), _rotated(keys, positions), values


def _fed(x: jax.Array, attended: jax.Array, layer: Params) -> jax.Array:
    x = x + _joined(attended) @ layer["mixed"]
    return x + jax.nn.gelu(_norm(x, layer["hidden_norm"]) @ layer["hidden"]) @ layer["output"]


def _encode(params: Params, prompts: jax.Array, sources: jax.Array, heads: int) -> tuple[jax.Array, jax.Array]:
    """Keys and values of the prompts: each (layers, groups, heads, tokens, width of a head)."""
    length = prompts.shape[1]
    tokens = params["tokens"][prompts]
    # Each token also carries the token before it, so that one layer finds what followed a word.
    before = jnp.pad(tokens, ((0, 0), (1, 0), (0, 0)))[:, :-1] @ params["before"]
    x = tokens + before + params["sources"][sources]
    # A prompt is read as a whole: its tokens attend to those before and after them.
    seen = (prompts != PADDING)[:, None, None, :]

    def layer(x: jax.Array, weights: Params) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        q, k, v = _projected(x, weights, jnp.arange(length), heads)
        scores = jnp.einsum("ghqd,ghkd->ghqk", q, k) / math.sqrt(q.shape[-1])
        shares = jax.nn.softmax(jnp.where(seen, scores, -1e9), -1)
        return _fed(x, jnp.einsum("ghqk,ghkd->ghqd", shares, v), weights), (k, v)

    return jax.lax.scan(layer, x, params["layers"])[1]


def _attend(q: Any, prompt: Any, own: Any, prompt_seen: Any, own_seen: Any) -> jax.Array:
    """Attention of answers (g, s, h, q, d) to their group's prompt (g, h, p, d) and to themselves (g, s, h, k, d)."""
    scale = 1 / math.sqrt(q.shape[-1])
    to_prompt = jnp.einsum("gshqd,ghpd->gshqp", q, prompt[0]) * scale
    to_own = jnp.einsum("gshqd,gshkd->gshqk", q, own[0]) * scale
    to_prompt = jnp.where(prompt_seen[:, None, None, None, :], to_prompt, -1e9)
    shares = jax.nn.softmax(jnp.concatenate([to_prompt, jnp.where(own_seen, to_own, -1e9)], -1), -1)
    length = to_prompt.shape[-1]
    from_prompt = jnp.einsum("gshqp,ghpd->gshqd", shares[..., :length], prompt[1])
    return from_prompt + jnp.einsum("gshqk,gshkd->gshqd", shares[..., length:], own[1])


def _log_probabilities(params: Params, prompts: Any, sources: Any, answers: Any, heads: int) -> jax.Array:
    """Of every token of the answers (groups, samples, tokens), given the tokens before it."""
    encoded = _encode(params, prompts, sources, heads)
    length, first = answers.shape[-1], prompts.shape[1]
    before = jnp.concatenate([jnp.full_like(answers[..., :1], START), answers[..., :-1]], -1)
    causal = jnp.tril(jnp.ones((length, length), bool))

    def layer(x: jax.Array, weights: Any) -> tuple[jax.Array, None]:
        weights, prompt = weights
        q, k, v = _projected(x, weights, first + jnp.arange(length), heads)
        return _fed(x, _attend(q, prompt, (k, v), prompts != PADDING, causal), weights), None

    x, _ = jax.lax.scan(layer, params["tokens"][before], (params["layers"], encoded))
    logits = _norm(x, params["norm"]) @ params["tokens"].T
    return jnp.take_along_axis(jax.nn.log_softmax(logits, -1), answers[..., None], -1)[..., 0]


@functools.partial(jax.jit, static_argnames=("heads",))
def _step(params, moments, updates, prompts, sources, answers, weights, learning_rate, heads):  # type: ignore
    """One update by Adam of the weighted log-likelihood. Returns weights, moments, loss and the gradient's norm."""

    def loss_of(params: Params) -> jax.Array:
        told = answers != PADDING
        logs = _log_probabilities(params, prompts, sources, answers, heads)
        return -jnp.sum(logs * weights[..., None] * told) / jnp.maximum(1, jnp.sum(told))

    loss, gradient = jax.value_and_grad(loss_of)(params)
    norm = jnp.sqrt(sum(jnp.sum(leaf * leaf) for leaf in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda g: g * jnp.minimum(1, LARGEST_NORM / (norm + 1e-9)), gradient)
    time = updates + 1.0
    means = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, moments[0], gradient)
    squares = jax.tree.map(lambda s, g: BETA2 * s + (1 - BETA2) * g * g, moments[1], gradient)
    rate = learning_rate * jnp.sqrt(1 - BETA2**time) / (1 - BETA1**time)
    params = jax.tree.map(lambda p, m, s: p - rate * m / (jnp.sqrt(s) + EPSILON), params, means, squares)
    return params, (means, squares), loss, norm


@functools.partial(jax.jit, static_argnames=("heads", "samples", "length"))
def _sample(params, prompts, sources, key, heads, samples, length):  # type: ignore
    """Answers (groups, samples, tokens), padded after END."""
    encoded = _encode(params, prompts, sources, heads)
    groups, first = prompts.shape
    layers, width = encoded[0].shape[0], encoded[0].shape[-1]
    cache = jnp.zeros((layers, 2, groups, samples, heads, length, width))

    def token(state: Any, place: Any) -> Any:
        cache, last, ended = state

        def layer(x: jax.Array, weights: Any) -> Any:
            weights, prompt, (keys, values) = weights
            q, k, v = _projected(x, weights, first + place[None], heads)
            keys = jax.lax.dynamic_update_slice_in_dim(keys, k, place, 3)
            values = jax.lax.dynamic_update_slice_in_dim(values, v, place, 3)
            attended = _attend(q, prompt, (keys, values), prompts != PADDING, jnp.arange(length) <= place)
            return _fed(x, attended, weights), (keys, values)

        told = (params["layers"], encoded, (cache[:, 0], cache[:, 1]))
        x, (keys, values) = jax.lax.scan(layer, params["tokens"][last][..., None, :], told)
        logits = (_norm(x, params["norm"]) @ params["tokens"].T)[..., 0, :]
        # Neither padding nor the start is ever an answer's token.
        logits = logits.at[..., :END].set(-1e9)
        drawn = jax.random.categorical(jax.random.fold_in(key, place), logits).astype(jnp.int32)
        drawn = jnp.where(ended, PADDING, drawn)
        return (jnp.stack([keys, values], 1), drawn, ended | (drawn == END)), drawn

    start = (cache, jnp.full((groups, samples), START, jnp.int32), jnp.zeros((groups, samples), bool))
    _, drawn = jax.lax.scan(token, start, jnp.arange(length))
    return jnp.moveaxis(drawn, 0, -1)


if __name__ == "__main__":
    answer_calls(Policy())
