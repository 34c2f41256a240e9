/**
 * Runs a refinement: streams the policy's candidates and what is certain of their citations. It is lazy like the
 * generator behind it: it sends no request before the first `next`, and `return` or the signal stops it.
 * src/wire/refine-reply.ts scores the candidates afterwards.
 *
 * With `on_invented_citation: "abort"` a candidate stops at its first invented citation: in the step that read the
 * text, before that text's events are yielded.
 */
import type { TokenUsage } from '../judgments/protocol/failure.ts';
import type { Result } from '../result.ts';
import { CandidateReader, type CertainEvent, type Ending, type FinishedCandidate, type Pushed } from './candidate.ts';
import { Calls, type ConcurrencyOptions } from './concurrent-calls.ts';
import type { GenerationEvent, GenerationFailure, Generator } from './generator.ts';
import type { RefinePlan } from './refine-plan.ts';

/** Maximum concurrent calls of one refinement. Workers wait for at most six simultaneous subrequest replies. */
const MAX_CONCURRENT_CALLS = 6;
/** Deadline of a refinement that streams, or that a batch waits for. */
export const REFINE_STREAM_DEADLINE_MS = 10 * 60 * 1000;

export type RefineEvent =
  | { readonly type: 'delta'; readonly candidate: number; readonly text: string }
  | { readonly type: 'thinking'; readonly candidate: number; readonly text: string }
  | (CertainEvent & { readonly candidate: number })
  | ({ readonly type: 'candidate'; readonly candidate: number } & Pick<
      FinishedCandidate,
      'finish_reason' | 'aborted' | 'verification'
    >);

/** All candidates by index, or the failure that left some of them incomplete. */
export type Refined = Result<RefinedCandidates, GenerationFailure>;

export type RefinedCandidates = {
  readonly candidates: readonly FinishedCandidate[];
  readonly usage: TokenUsage | null;
};

type RefineOptions = Omit<ConcurrencyOptions, 'maxConcurrent'>;

/** Generates the candidates of a plan. Expected failures are returned; a rejection is a bug. */
export async function* refineCandidates(
  plan: RefinePlan,
  generator: Generator,
  options: RefineOptions,
): AsyncGenerator<RefineEvent, Refined> {
  const calls = new Calls(generator, plan.calls, { ...options, maxConcurrent: MAX_CONCURRENT_CALLS });
  const candidates = new Candidates(plan);
  try {
    for (;;) {
      const step = await calls.next();
      if (step === null) return candidates.all();
      if ('end' in step) {
        if (!step.end.ok) return { ok: false, error: step.end.error };
        continue;
      }
      const taken = candidates.take(step.call, step.event);
      if (taken.stop) await calls.stop();
      yield* taken.events;
    }
  } finally {
    await calls.end();
  }
}

/**
 * Drives a refinement until it ends or is stopped.
 * @param tell is awaited before the next event is read; if it throws, the refinement stops.
 */
export async function finishRefinement(
  run: AsyncGenerator<RefineEvent, Refined>,
  tell: (event: RefineEvent) => Promise<void> = async () => undefined,
): Promise<Refined> {
  try {
    for (;;) {
      const step = await run.next();
      if (step.done === true) return step.value;
      await tell(step.value);
    }
  } finally {
    await run.return(NOT_FINISHED);
  }
}

/** The value for `return`; callers read the result of `next` instead. */
const NOT_FINISHED: Refined = {
  ok: false,
  error: { reason: 'generator_interrupted', detail: 'the refinement was stopped', retryable: true },
};

type Taken = { readonly events: readonly RefineEvent[]; readonly stop: boolean };

/** Routes events to the readers of the candidates, and collects the finished ones. */
class Candidates {
  readonly #plan: RefinePlan;
  readonly #readers: readonly CandidateReader[];
  readonly #finished: FinishedCandidate[] = [];
  readonly #usages: TokenUsage[] = [];

  constructor(plan: RefinePlan) {
    const { mode, evidence, n, question } = plan.request;
    const { sources, citations } = plan;
    this.#plan = plan;
    this.#readers = Array.from({ length: n }, (_, index) => {
      return new CandidateReader(index, { sources, mode, evidence, citations, question });
    });
  }

  take(call: number, event: GenerationEvent): Taken {
    switch (event.type) {
      case 'text': {
        const { candidate, reader } = this.#readerOf(call, event.choice);
        return this.#pushed(candidate, reader, event.text, reader.push(event.text));
      }
      case 'thinking': {
        const { candidate, reader } = this.#readerOf(call, event.choice);
        reader.think(event.text);
        return going([{ type: 'thinking', candidate, text: event.text }]);
      }
      case 'finish': {
        const { candidate, reader } = this.#readerOf(call, event.choice);
        return going(this.#finish(candidate, reader, { finish_reason: event.finish_reason }));
      }
      case 'usage':
        this.#usages.push(event.usage);
        return going([]);
      case 'tool_call':
        // The request described no tools; the finish reason shows that the policy called one.
        return going([]);
    }
  }

  /** @throws Error if a candidate is missing although the generator ended well, which is a bug of the generator. */
  all(): Refined {
    const candidates = this.#finished.toSorted((a, b) => a.index - b.index);
    if (candidates.length !== this.#readers.length)
      throw new Error('refine: the generator ended before its choices did');
    return { ok: true, value: { candidates, usage: this.#usage() } };
  }

  #pushed(candidate: number, reader: CandidateReader, text: string, { events, invented }: Pushed): Taken {
    const told: RefineEvent[] = [{ type: 'delta', candidate, text }, ...named(candidate, events)];
    if (invented === null || this.#plan.request.on_invented_citation === 'flag') return going(told);
    return { events: [...told, ...this.#finish(candidate, reader, { aborted: invented })], stop: true };
  }

  #finish(index: number, reader: CandidateReader, ending: Ending): RefineEvent[] {
    const { events, candidate } = reader.finish(ending);
    this.#finished.push(candidate);
    const { finish_reason, aborted, verification } = candidate;
    return [...named(index, events), { type: 'candidate', candidate: index, finish_reason, aborted, verification }];
  }

  /** Token usage summed over all calls; `null` if a call reported none, as stopped calls do not. */
  #usage(): TokenUsage | null {
    if (this.#usages.length !== this.#plan.calls.length) return null;
    return {
      prompt_tokens: this.#usages.reduce((sum, usage) => sum + usage.prompt_tokens, 0),
      completion_tokens: this.#usages.reduce((sum, usage) => sum + usage.completion_tokens, 0),
    };
  }

  #readerOf(call: number, choice: number): { readonly candidate: number; readonly reader: CandidateReader } {
    const candidate = this.#plan.calls.length === 1 ? choice : call;
    const reader = this.#readers[candidate];
    if (reader === undefined || reader.isOver) throw new Error('refine: an event of an unknown or finished choice');
    return { candidate, reader };
  }
}

function going(events: readonly RefineEvent[]): Taken {
  return { events, stop: false };
}

function named(candidate: number, events: readonly CertainEvent[]): RefineEvent[] {
  return events.map((event) => ({ ...event, candidate }));
}
