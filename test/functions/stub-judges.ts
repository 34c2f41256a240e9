/**
 * Judges on the stub server: one judge for each behaviour, with its name. Tests pass `stubBackends` to the Worker, for
 * its handlers and its desks. Everything except the waiting times is real.
 */
import { inject } from 'vitest';
import type { RouterClock } from '../../lib/model-servers/calls/router.ts';
import type { Backends } from '../../service/backends/configured.ts';
import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import { lexicalBackend, modelJudge } from '../../service/backends/judge-backends.ts';
import { readBackends } from '../../service/backends/settings.ts';
import {
  DIALECTS,
  isRefused,
  SERVER_FAULTS,
  STUB_KEY,
  STUB_MODEL,
  type StubBehaviour,
} from '../contract/backend-faults.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    stubUrl: string;
    closedUrl: string;
  }
}

/** Long enough for a whole reply of the stub, short enough for one that never comes. */
const DEADLINE_MS = 3_000;

/** Where the stub behaves so. @param own keeps the caller's requests apart from all others. */
export function stubUrl(behaviour: StubBehaviour, own?: string): string {
  const origin = inject(isRefused(behaviour) ? 'closedUrl' : 'stubUrl');
  return `${origin}/${behaviour}/${own === undefined ? '' : `${own}/`}v1`;
}

/** One backend of BACKENDS on the stub server. */
export function stubBackend(behaviour: StubBehaviour, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    name: behaviour,
    kind: 'vllm',
    base_url: stubUrl(behaviour),
    model: STUB_MODEL,
    api_key: STUB_KEY,
    slots: 8,
    context_tokens: 32_768,
    ...fields,
  };
}

/** The real clock, and waits that are over at once. */
export const HURRIED: RouterClock = { now: () => performance.now(), sleep: async () => undefined, random: () => 0 };

function createStubBackends(): Backends {
  const behaviours: readonly StubBehaviour[] = [...Object.keys(SERVER_FAULTS).filter(isFault), ...DIALECTS];
  const text = JSON.stringify({ backends: behaviours.map((name) => stubBackend(name)), default_judge: null });
  const read = readBackends(text, { secret: () => undefined, isBound: () => false });
  if (!read.ok) throw new Error(`stub-judges: ${read.error.join('; ')}`);
  const judges = read.value.judges.map((config): JudgeBackend => {
    const backend = modelJudge(config, () => undefined, HURRIED);
    const judge = { ...backend.judge, judge: shortened(backend) };
    return { ...backend, judge };
  });
  return { named: [...judges, lexicalBackend], default: null, sandbox: null, generators: { named: [], default: null } };
}

function shortened({ judge }: JudgeBackend): JudgeBackend['judge']['judge'] {
  return (request, options) => judge.judge(request, { ...options, deadline_ms: DEADLINE_MS });
}

function isFault(name: string): name is keyof typeof SERVER_FAULTS {
  return name in SERVER_FAULTS;
}

let made: Backends | null = null;

export function stubBackends(): Backends {
  made ??= createStubBackends();
  return made;
}

/** The requests that the stub received under a base URL. */
export async function seenUnder(base_url: string): Promise<readonly SeenRequest[]> {
  const reply = await fetch(base_url.replace(/v1$/, 'seen'));
  return reply.json();
}

export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The caller's port, which names its connection. */
  readonly port: number;
  readonly aborted: boolean;
  readonly closed: boolean;
  /** Number of pieces written of an endless reply. */
  readonly pieces: number;
};
