/**
 * Judges whose verdicts a test scripts: they disagree, drift and fail as told. The Worker, its desks and its stores are
 * the production code.
 */
import type { Backends } from '../../service/backends/configured.ts';
import { type JudgeBackend, lexicalBackend } from '../../service/backends/judge-backends.ts';
import type { Judge, JudgeReply } from '../../src/judgments/judge.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { judgeLexically } from '../../src/judgments/lexical-judge.ts';

export type Script = (request: JudgmentRequest) => JudgeReply;

/** Answers as the lexical judge does. */
export const faithful: Script = (request) => ({ ok: true, verdicts: judgeLexically(request), usage: null });

export const down: Script = () => ({
  ok: false,
  failure: { reason: 'judge_unreachable', detail: 'as told', retryable: false },
});

/** Gives every criterion the same score, and else answers as the lexical judge. */
export function scoresCriteria(score: 0 | 1 | 2): Script {
  return (request) => {
    const verdicts = judgeLexically(request);
    return {
      ok: true,
      usage: null,
      verdicts:
        verdicts.kind === 'rubric'
          ? { ...verdicts, criteria: verdicts.criteria.map((one) => ({ ...one, score })) }
          : verdicts,
    };
  };
}

/** The script of each judge by name, and how often each was asked. Tests assign and read them. */
export const scripts = new Map<string, Script>();
export const asked = new Map<string, number>();

const NAMES = ['one', 'two', 'three'] as const;

/** Writes criteria, given as descriptions; answers nothing else. */
export function writes(positive: readonly string[], negative: readonly string[]): Script {
  const titled = (all: readonly string[]) =>
    all.map((description, n) => ({ title: `Criterion ${n + 1}`, description }));
  return (request) =>
    request.kind === 'rubrics'
      ? { ok: true, usage: null, verdicts: { kind: 'rubrics', positive: titled(positive), negative: titled(negative) } }
      : down(request);
}

/** A judge that follows the script of its name. */
export function backendOf(name: string, model: string): JudgeBackend {
  const judge: Judge = {
    name,
    model,
    identityFor: () => ({ model, template: 't1', sampling: { temperature: 0.7 } }),
    context_tokens: null,
    async judge(request) {
      asked.set(name, (asked.get(name) ?? 0) + 1);
      return (scripts.get(name) ?? faithful)(request);
    },
  };
  return { judge, runs_in: 'desk', slots: 8, timeout_ms: 60_000, health: lexicalBackend.health };
}

/** `one`, `two`, `three`, and `alias`, which is the model of `one` under another name. */
export function scriptedBackends(): Backends {
  const named = [...NAMES.map((name) => backendOf(name, `model-${name}`)), backendOf('alias', 'model-one')];
  return { named, default: named[0] ?? null, sandbox: null, generators: { named: [], default: null } };
}
