/**
 * The contract of src/generation/generator.ts, for every generator: when it sends the request, the order of choices,
 * and that ending a generation frees the backend at once. Tests observe the backend, not the generator's own reports.
 */
import { describe, expect, it, vi } from 'vitest';
import type { GenerationEnd, GenerationEvent, GenerationRequest, Generator } from '../../src/generation/generator.ts';

/** A generator, and observations of its backend. */
export type Staged = {
  readonly generator: Generator;
  /** Calls that have reached the backend; for a generator without a backend, an equivalent count. */
  readonly asked: () => Promise<number>;
  /** Calls that the backend has not ended. */
  readonly working: () => Promise<number>;
};

export type GeneratorSubject = {
  readonly name: string;
  /** A generator that replies normally. */
  readonly good: () => Staged;
  /** A generator that writes until its reader stops. `null`: not possible. */
  readonly endless: (() => Staged) | null;
  /** A generator that never replies. `null`: not possible. */
  readonly silent: (() => Staged) | null;
  /** The text of a choice for a seed, without thinking; `null` = any text. */
  readonly text: ((seed: number) => string) | null;
};

export const GENERATION: GenerationRequest = {
  messages: [{ role: 'user', content: 'How long is the Aare?' }],
  n: 1,
  sampling: { temperature: 1, top_p: 0.9, top_k: null, seed: 7 },
  max_tokens: 512,
  thinking: false,
  tools: [],
  subject: {
    question: 'How long is the river Aare?',
    tool_output: '<snippet id=S1>The river Aare is 288 km long and flows through Bern.</snippet>',
  },
};

export type Told = { readonly events: readonly GenerationEvent[]; readonly end: GenerationEnd };

/** Reads a generation to its end. */
export async function readAll(generation: AsyncGenerator<GenerationEvent, GenerationEnd>): Promise<Told> {
  const events: GenerationEvent[] = [];
  for (;;) {
    const step = await generation.next();
    if (step.done) return { events, end: step.value };
    events.push(step.value);
  }
}

/** A choice as a whole. */
export function choiceOf({ events }: Told, choice: number) {
  const own = events.filter((event) => event.type !== 'usage' && event.choice === choice);
  return {
    text: own.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    thinking: own.map((event) => (event.type === 'thinking' ? event.text : '')).join(''),
    calls: own.flatMap((event) => (event.type === 'tool_call' ? [event.call] : [])),
    finishes: own.flatMap((event) => (event.type === 'finish' ? [event.finish_reason] : [])),
    last: own.at(-1)?.type,
  };
}

/** Longer than a test may take, so a generation that ends earlier was ended by the test. */
const LONG_MS = 60_000;
const never = new AbortController().signal;
const within = (deadline_ms: number, signal: AbortSignal = never) => ({ deadline_ms, signal });
/** Time within which a request in flight arrives. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 30));

/** Waits until the backend has ended all calls. */
const idle = (working: Staged['working']) =>
  vi.waitFor(async () => expect(await working()).toBe(0), { timeout: 20_000, interval: 20 });

export function generatorContract({ name, good, endless, silent, text }: GeneratorSubject): void {
  describe(name, () => {
    it('asks for nothing before its first event is wanted', async () => {
      const { generator, asked, working } = good();
      const generation = generator.generate(GENERATION, within(LONG_MS));
      await settled();
      expect(await asked()).toBe(0);
      await generation.next();
      expect(await asked()).toBe(1);
      await generation.return({ ok: true });
      await idle(working);

      const unread = generator.generate(GENERATION, within(LONG_MS));
      expect(await unread.return({ ok: true })).toEqual({ done: true, value: { ok: true } });
      expect((await unread.next()).done).toBe(true);
      expect(await asked()).toBe(1);
    });

    it.each([1, 3])('gives %i whole choices', async (n) => {
      const { generator, working } = good();
      const told = await readAll(generator.generate({ ...GENERATION, n }, within(LONG_MS)));
      expect(told.end).toEqual({ ok: true });
      for (let choice = 0; choice < n; choice++) {
        const one = choiceOf(told, choice);
        expect(one).toMatchObject({ finishes: ['stop'], last: 'finish' });
        if (text === null) expect(one.text).not.toBe('');
        else expect(one.text).toBe(text(7 + choice));
      }
      const choices = told.events.flatMap((event) => (event.type === 'usage' ? [] : [event.choice]));
      expect(new Set(choices).size).toBe(n);
      expect(told.events.filter(({ type }) => type === 'usage').length).toBeLessThanOrEqual(1);
      await idle(working);
    });

    it('asks for nothing where its caller has left before', async () => {
      const { generator, asked } = good();
      const told = await readAll(generator.generate(GENERATION, within(LONG_MS, AbortSignal.abort())));
      expect(told).toMatchObject({ events: [], end: { ok: false, error: { reason: 'generator_interrupted' } } });
      await settled();
      expect(await asked()).toBe(0);
    });

    if (endless !== null) stopsWriting(endless);
    if (silent !== null) stopsWaiting(silent);
  });
}

const LONG: GenerationRequest = { ...GENERATION, max_tokens: 100_000_000 };

function stopsWriting(endless: () => Staged): void {
  it.each([1, 2])('lets the backend go when %i choices are read no further', async (n) => {
    const { generator, working } = endless();
    const generation = generator.generate({ ...LONG, n }, within(LONG_MS));
    expect((await generation.next()).value).toMatchObject({ type: 'text' });
    expect(await working()).toBeGreaterThan(0);
    expect((await generation.return({ ok: true })).done).toBe(true);
    await idle(working);
    expect((await generation.next()).done).toBe(true);
  });

  it.each([1, 2])('lets the backend go when the caller of %i choices leaves', async (n) => {
    const { generator, working } = endless();
    const leaving = new AbortController();
    const generation = generator.generate({ ...LONG, n }, within(LONG_MS, leaving.signal));
    await generation.next();
    leaving.abort();
    // Before the next event is requested.
    await idle(working);
    const { end } = await readAll(generation);
    expect(end).toMatchObject({ ok: false, error: { reason: 'generator_interrupted', retryable: true } });
  });

  it('ends at the deadline, in the middle of the text', async () => {
    // On a busy machine the first event may be late.
    for (let deadline_ms = 100; ; deadline_ms *= 4) {
      const { generator, working } = endless();
      const { events, end } = await readAll(generator.generate(LONG, within(deadline_ms)));
      expect(end).toMatchObject({ ok: false, error: { reason: 'generator_timeout', retryable: true } });
      await idle(working);
      if (events.length > 0) break;
    }
  });
}

function stopsWaiting(silent: () => Staged): void {
  it('can be ended while an event is waited for', async () => {
    const { generator, asked, working } = silent();
    const generation = generator.generate(GENERATION, within(LONG_MS));
    const pending = generation.next();
    await vi.waitFor(async () => expect(await asked()).toBe(1), 20_000);
    expect((await generation.return({ ok: true })).done).toBe(true);
    expect((await pending).done).toBe(true);
    await idle(working);
  });

  it('gives up at the deadline', async () => {
    const { generator, working } = silent();
    const told = await readAll(generator.generate({ ...GENERATION, n: 2 }, within(80)));
    expect(told).toMatchObject({ events: [], end: { ok: false, error: { reason: 'generator_timeout' } } });
    await idle(working);
  });
}
