/** Groups rows of training data and scored rollouts by prompt, as the requests of a probe. */
import { responseFields } from '../family/rollout-schema.ts';
import { MAX_GROUP, MAX_PROBE_SAMPLES } from '../limits.ts';
import { outcomeFields } from '../runs/rollout-counts.ts';
import type { ProbeRowInput } from './probe.ts';
import { scoringFields } from './score.ts';

type Fields = Readonly<Record<string, unknown>>;
type Sample = NonNullable<ProbeRowInput['responses']>[number];

/** Fields of scored rows that say how they are scored and recorded: the request says it for all rows of a probe. */
const UNREAD: ReadonlySet<string> = new Set([
  ...Object.keys(scoringFields),
  'on_judge_failure',
  'deadline_s',
  'advantages',
  'run',
  'store_text',
  'evolution',
]);

/** Fields of one sample; the others are the prompt's. */
const OF_SAMPLE: ReadonlySet<string> = new Set([...Object.keys(responseFields), ...Object.keys(outcomeFields)]);

/** The fields of a row as those of a prompt: a response with its own fields becomes the only one of its samples. */
export function promptFields(fields: Fields): Fields {
  const read = Object.entries(fields).filter(([name]) => !UNREAD.has(name));
  const own = Object.fromEntries(read.filter(([name]) => OF_SAMPLE.has(name)));
  const prompt = Object.fromEntries(read.filter(([name]) => !OF_SAMPLE.has(name)));
  return Object.keys(own).length === 0 || 'responses' in prompt
    ? { ...prompt, ...own }
    : { ...prompt, responses: [own] };
}

/** A prompt with its samples. `line`: of its first row. */
export type PromptRow = { readonly line: number; readonly row: ProbeRowInput };

type OpenPrompt = { readonly line: number; readonly row: Omit<ProbeRowInput, 'responses'>; readonly samples: Sample[] };

/** Collects the first prompts of a file with all their samples, up to the limit of a group. */
export class PromptCollector {
  readonly #most: number;
  readonly #open = new Map<string, OpenPrompt>();
  #left = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(line: number, { id, responses = [], ...prompt }: ProbeRowInput): void {
    const key = JSON.stringify(prompt);
    const known = this.#open.get(key);
    if (known === undefined && this.#open.size === this.#most) return;
    const open = known ?? { line, row: { ...prompt, ...(id === undefined ? {} : { id }) }, samples: [] };
    this.#open.set(key, open);
    const room = MAX_GROUP - open.samples.length;
    open.samples.push(...responses.slice(0, room));
    this.#left += Math.max(0, responses.length - room);
  }

  /** Samples beyond the limit of a group, which are not kept. */
  get left(): number {
    return this.#left;
  }

  get prompts(): readonly PromptRow[] {
    return [...this.#open.values()].map(({ line, row, samples }) => ({
      line,
      row: samples.length === 0 ? row : { ...row, responses: samples },
    }));
  }
}

/**
 * Prompts of one request: few, so that a slow judge reads their answers within the deadline of a request, and callers see
 * progress.
 */
const PROMPTS_AT_ONCE = 4;

/** The prompts of each request, in order. */
export function* probeRequests(prompts: readonly PromptRow[]): Generator<readonly PromptRow[]> {
  let some: PromptRow[] = [];
  let samples = 0;
  for (const prompt of prompts) {
    const own = prompt.row.responses?.length ?? 0;
    if (some.length === PROMPTS_AT_ONCE || samples + own > MAX_PROBE_SAMPLES) {
      yield some;
      some = [];
      samples = 0;
    }
    some.push(prompt);
    samples += own;
  }
  if (some.length > 0) yield some;
}
