"""A language model of transformers as a policy: imitates answers, samples them, and learns from advantages.

Its calls are the methods of `Policy` (calls.py). On a GPU it writes and learns in bfloat16, with weights in 32 bits.
The same calls give the same numbers on one machine, on a GPU only nearly so.
"""

from __future__ import annotations

import contextlib
import copy
import math
import os
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from calls import answer_calls

#: Answers whose gradient is computed at once; more need more memory.
ANSWERS_AT_ONCE = 16
#: Longer gradients are scaled to this norm.
LARGEST_NORM = 1.0


class Policy:
    """The model, its optimizer, and the last sampled batch."""

    def open(self, model: str, answer_tokens: int) -> dict[str, Any]:
        """Reads a model: a name of the Hugging Face hub, or a folder. `answer_tokens`: the longest answer."""
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = AutoTokenizer.from_pretrained(model, padding_side="left")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        # Without dropout, so that the policy which learns is the one that answered.
        self.model = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).to(self.device).eval()
        self.answer_tokens = answer_tokens
        # 16 bits halve the time of an answer; the weights that learn need 32.
        self.writer = copy.deepcopy(self.model).to(torch.bfloat16) if self.device == "cuda" else self.model
        self._forget()
        return {"parameters": sum(one.numel() for one in self.model.parameters())}

    def _forget(self) -> None:
        """Starts a new optimization of the weights."""
        self.optimizer = torch.optim.AdamW(self.model.parameters(), weight_decay=0.0)
        self.batch: tuple[Any, torch.Tensor, torch.Tensor] | None = None

    def save(self, file: str) -> dict[str, Any]:
        """Writes weights and optimizer to a file, which has its name only when it is complete."""
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, file + ".part")
        os.replace(file + ".part", file)
        return {}

    def load(self, file: str, optimizer: bool) -> dict[str, Any]:
        """Reads a saved file of the same model. Without `optimizer`, its state of AdamW is left out."""
        stored = torch.load(file, map_location=self.device, weights_only=True)
        self.model.load_state_dict(stored["model"])
        self._forget()
        if optimizer:
            self.optimizer.load_state_dict(stored["optimizer"])
        self._copy_to_writer()
        return {}

    def _copy_to_writer(self) -> None:
        if self.writer is not self.model:
            self.writer.load_state_dict(self.model.state_dict())

    def imitate(self, prompts: list[str], targets: list[str], learning_rate: float) -> dict[str, Any]:
        """One step of supervised training on a target for each prompt. Returns the mean loss of their tokens."""
        ended = [f"{target}{self.tokenizer.eos_token}" for target in targets]
        read = self.tokenizer(
            ended, add_special_tokens=False, padding=True, padding_side="right", return_tensors="pt"
        ).to(self.device)
        weights = torch.ones(len(targets), device=self.device)
        return self._update(self._read(prompts), read["input_ids"], read["attention_mask"], weights, learning_rate)

    def sample(self, prompts: list[str], samples: int, seed: int, step: int) -> dict[str, Any]:
        """Samples answers at temperature 1. `learn` learns from them."""
        torch.manual_seed(1_000_003 * seed + step)
        read = self._read(prompts)
        with torch.no_grad():
            written = self.writer.generate(
                **read,
                do_sample=True,
                temperature=1.0,
                top_k=0,
                top_p=1.0,
                num_return_sequences=samples,
                max_new_tokens=self.answer_tokens,
                eos_token_id=self.tokenizer.eos_token_id,
                pad_token_id=self.tokenizer.pad_token_id,
            )
        answers = written[:, read["input_ids"].shape[1] :]
        ends = (answers == self.tokenizer.eos_token_id).long()
        # The token that ends an answer is part of it.
        told = (ends.cumsum(-1) - ends == 0).long()
        self.batch = ({name: part.repeat_interleave(samples, 0) for name, part in read.items()}, answers, told)
        texts = self.tokenizer.batch_decode(answers, skip_special_tokens=True)
        # An answer without an end was cut at its longest length.
        cut = (ends.sum(-1) == 0).tolist()
        written_answers = [{"text": text, "cut": is_cut} for text, is_cut in zip(texts, cut, strict=True)]
        return {"answers": [written_answers[at : at + samples] for at in range(0, len(texts), samples)]}

    def learn(self, advantages: list[list[float]], learning_rate: float) -> dict[str, Any]:
        """One step of GRPO without a reference model: -advantage x log-probability, mean over the tokens of the batch.

        As TRL's loss `dapo` for one on-policy update. Advantage 0 teaches nothing.
        """
        if self.batch is None:
            raise ValueError("learn: no batch was sampled")
        read, answers, told = self.batch
        weights = torch.tensor([one for group in advantages for one in group], device=self.device)
        return self._update(read, answers, told, weights, learning_rate)

    def _read(self, prompts: list[str]) -> dict[str, torch.Tensor]:
        """Prompts as token ids and mask, in the model's template of a conversation if it has one."""
        texts = [self._in_template(prompt) for prompt in prompts]
        read = self.tokenizer(texts, add_special_tokens=False, padding=True, return_tensors="pt").to(self.device)
        return {"input_ids": read["input_ids"], "attention_mask": read["attention_mask"]}

    def _in_template(self, prompt: str) -> str:
        if self.tokenizer.chat_template is None:
            return prompt
        message = [{"role": "user", "content": prompt}]
        return self.tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False)

    def _update(self, read: Any, answers: Any, told: Any, weights: Any, learning_rate: float) -> dict[str, Any]:
        """Updates the weights, unless the gradient is not finite: then `skipped` is true."""
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.zero_grad()
        tokens, loss = told.sum(), 0.0
        for at in range(0, len(answers), ANSWERS_AT_ONCE):
            part = slice(at, at + ANSWERS_AT_ONCE)
            given = {name: one[part] for name, one in read.items()}
            logs = self._log_probabilities(given, answers[part], told[part])
            lost = -(logs * weights[part, None] * told[part]).sum() / tokens
            lost.backward()
            loss += lost.item()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), LARGEST_NORM).item()
        skipped = not math.isfinite(norm)
        if not skipped:
            self.optimizer.step()
            self._copy_to_writer()
        return {"loss": None if skipped else loss, "norm": None if skipped else norm, "skipped": skipped}

    def _log_probabilities(self, read: dict[str, torch.Tensor], answers: Any, told: Any) -> torch.Tensor:
        """Of every token of the answers (answers, tokens), given the tokens before it."""
        seen = torch.cat([read["attention_mask"], told], -1)
        on_gpu = torch.autocast("cuda", torch.bfloat16) if self.device == "cuda" else contextlib.nullcontext()
        with on_gpu:
            logits = self.model(
                input_ids=torch.cat([read["input_ids"], answers], -1),
                attention_mask=seen,
                position_ids=(seen.cumsum(-1) - 1).clamp(min=0),
                logits_to_keep=answers.shape[1] + 1,
            ).logits[:, :-1]
        return -torch.nn.functional.cross_entropy(logits.float().transpose(1, 2), answers, reduction="none")


if __name__ == "__main__":
    answer_calls(Policy())
