/** Parts of the Worker for tests of the desk: a model judge that counts its calls, and a KV that caches its misses. */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { createDeskClient, type DeskClient } from '../../functions/desk/desk-client.ts';
import { DEFAULT_DESKS, layoutOf } from '../../functions/desk/desk-layout.ts';
import type { Environment } from '../../functions/environment.ts';
import type { Backends } from '../../service/backends/configured.ts';
import { type JudgeBackend, lexicalBackend } from '../../service/backends/judge-backends.ts';
import type { Judge, JudgeReply } from '../../src/judgments/judge.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { judgeLexically } from '../../src/judgments/lexical-judge.ts';
import { StaleKv } from '../contract/stale-kv.ts';

/** The KV of callers and desks, in tests that replace the environment with `onSharedKv`. */
export const sharedKv = new StaleKv();

/** An environment whose judgments are in `sharedKv`. */
export function onSharedKv(environment: Environment): Environment {
  const JUDGMENTS = new Proxy(environment.JUDGMENTS, {
    get: (_, name) => (name === 'get' ? sharedKv.get.bind(sharedKv) : sharedKv.put.bind(sharedKv)),
  });
  return { ...environment, JUDGMENTS };
}

/** Runs the alarm of every desk, which puts what it has finished into KV. */
export async function runDeskAlarms(): Promise<void> {
  for (let desk = 0; desk < DEFAULT_DESKS; desk++)
    await runDurableObjectAlarm(env.JUDGE_DESK.getByName(`desk-${desk}`));
}

/** Waits until an assertion holds, also on a slow machine. */
export function eventually(assertion: () => void): Promise<void> {
  return vi.waitFor(assertion, { timeout: 20_000 });
}

export const COUNTING = 'counting';

export type CountingJudge = {
  calls: { readonly kind: JudgmentRequest['kind']; readonly deadline_ms: number }[];
  /** Calls under way now, and the most there ever were. */
  running: number;
  peak: number;
  /** The scripted answer of the judge; default: the lexical judge's answer, without delay. */
  answer: (request: JudgmentRequest) => Promise<JudgeReply>;
  context_tokens: number | null;
  slots: number;
  timeout_ms: number;
};

export async function lexically(request: JudgmentRequest): Promise<JudgeReply> {
  return { ok: true, verdicts: judgeLexically(request), usage: { prompt_tokens: 100, completion_tokens: 10 } };
}

export const counting: CountingJudge = {
  calls: [],
  running: 0,
  peak: 0,
  answer: lexically,
  context_tokens: null,
  slots: 64,
  timeout_ms: 60_000,
};

export function resetCounting(): void {
  Object.assign(counting, { calls: [], running: 0, peak: 0, answer: lexically, context_tokens: null });
}

const judge: Judge = {
  name: COUNTING,
  model: 'counting-1',
  identityFor: () => ({ model: 'counting-1', template: 't1', sampling: { temperature: 0 } }),
  get context_tokens() {
    return counting.context_tokens;
  },
  async judge(request, { deadline_ms }) {
    counting.calls.push({ kind: request.kind, deadline_ms });
    counting.running++;
    counting.peak = Math.max(counting.peak, counting.running);
    try {
      return await counting.answer(request);
    } finally {
      counting.running--;
    }
  },
};

export function countingBackends(): Backends {
  const backend: JudgeBackend = {
    judge,
    runs_in: 'desk',
    timeout_ms: counting.timeout_ms,
    slots: counting.slots,
    health: lexicalBackend.health,
  };
  return { named: [backend], default: backend, sandbox: null, generators: { named: [], default: null } };
}

/** A client of the desks of `countingBackends`. */
export function countingDesks(): DeskClient {
  return createDeskClient(env.JUDGE_DESK, layoutOf(DEFAULT_DESKS, countingBackends().named));
}
