/** A generator that plays a script and records how it was read and stopped. */
import type {
  GenerationEnd,
  GenerationEvent,
  GenerationRequest,
  Generator,
} from '../../../src/generation/generator.ts';
import { refineCandidates } from '../../../src/generation/refine.ts';
import { planRefinement, type RefinePlan } from '../../../src/generation/refine-plan.ts';
import { type RefineRequest, refineRequestSchema } from '../../../src/wire/refine.ts';

export type ScriptedCall = {
  readonly request: GenerationRequest;
  readonly signal: AbortSignal;
  readonly deadline_ms: number;
  /** Number of events that were read. */
  read: number;
  /** Whether it was stopped before the end of its script. */
  stopped: boolean;
};

export type Scripted = { readonly generator: Generator; readonly calls: ScriptedCall[] };

export type Script = (request: GenerationRequest, call: number) => readonly (GenerationEvent | GenerationEnd)[];

/** @param script the events of each call; a script without an end ends well. */
export function scripted(script: Script, fields: Partial<Generator> = {}): Scripted {
  const calls: ScriptedCall[] = [];
  const generator: Generator = {
    name: 'scripted',
    model: 'scripted-1',
    context_tokens: null,
    native_tools: false,
    async *generate(request, { signal, deadline_ms }) {
      const call: ScriptedCall = { request, signal, deadline_ms, read: 0, stopped: true };
      calls.push(call);
      try {
        for (const step of script(request, calls.length - 1)) {
          await Promise.resolve();
          if (signal.aborted) return INTERRUPTED;
          if ('ok' in step) return step;
          call.read++;
          yield step;
        }
        call.stopped = false;
        return { ok: true };
      } finally {
        if (signal.aborted) call.stopped = true;
      }
    },
    ...fields,
  };
  return { generator, calls };
}

const INTERRUPTED: GenerationEnd = {
  ok: false,
  error: { reason: 'generator_interrupted', detail: 'stopped', retryable: true },
};

/** Splits a choice into pieces, followed by its end. */
export function choice(
  index: number,
  text: string | readonly string[],
  finish_reason = 'stop',
): readonly GenerationEvent[] {
  const pieces = typeof text === 'string' ? [text] : text;
  return [
    ...pieces.map((piece) => ({ type: 'text', choice: index, text: piece }) as const),
    { type: 'finish', choice: index, finish_reason },
  ];
}

export const TOOL_OUTPUT =
  '<snippet id=S1>The Aare is 288 kilometres long.</snippet>\n<snippet id=S2>It rises in the Bernese Alps.</snippet>';

export const QUESTION = 'How long is the Aare?';

export function refineRequest(fields: Readonly<Record<string, unknown>> = {}): RefineRequest {
  const origin = 'sources' in fields ? {} : { tool_output: TOOL_OUTPUT };
  return refineRequestSchema.parse({ question: QUESTION, ...origin, ...fields });
}

export async function planOf(
  fields: Readonly<Record<string, unknown>> = {},
  context_tokens: number | null = null,
): Promise<RefinePlan<RefineRequest>> {
  const planned = await planRefinement(refineRequest(fields), { context_tokens });
  if (!planned.ok) throw new Error(JSON.stringify(planned.error));
  return planned.value;
}

export function running(plan: RefinePlan<RefineRequest>, generator: Generator, signal = new AbortController().signal) {
  return refineCandidates(plan, generator, { deadline_ms: 1_000, signal, elapsed: () => 0 });
}

/** Collects all events of a refinement, and its result. */
export async function collected(run: ReturnType<typeof running>) {
  const events = [];
  for (;;) {
    const step = await run.next();
    if (step.done === true) return { events, refined: step.value };
    events.push(step.value);
  }
}
