/** Criteria for a question, written by a judge of the caller: what `POST /v1/rubrics` does, without a server. */
import { type SourceInput, sourcesOf } from '../src/citations/sources.ts';
import { problemsOfIssues } from '../src/input-problem.ts';
import type { Judge } from '../src/judgments/judge.ts';
import type { JudgeFailure } from '../src/judgments/protocol/failure.ts';
import type { JudgmentStore } from '../src/judgments/store.ts';
import type { Result } from '../src/result.ts';
import { makeRubrics as make } from '../src/rubrics/make-rubrics.ts';
import type { PromptCriterion } from '../src/rubrics/rubric-set.ts';
import {
  type MakeRubricsReply,
  makeRubricsReplyOf,
  makeRubricsRequestSchema,
  rubricsToMake,
} from '../src/wire/make-rubrics.ts';
import { InputError } from './input-error.ts';
import { memoryStore } from './memory-store.ts';

/** What criteria are made from; the fields of `POST /v1/rubrics`. */
export type RubricsInput = {
  readonly question: string;
  /** The search results, as tagged text; at most one of `tool_output` and `sources`. */
  readonly tool_output?: string;
  readonly sources?: readonly SourceInput[];
  /** An answer that is known to be right. */
  readonly reference?: string;
  /** Answers whose quality the criteria are to tell apart. */
  readonly responses?: readonly string[];
  /** `answer`: the judge sees the text after the last thinking. `response`: also the thinking. Default `answer`. */
  readonly reads?: 'answer' | 'response';
  /** Criteria that the prompt has or had; none of them is made again. */
  readonly existing?: Readonly<Partial<Record<'persistent' | 'active' | 'inactive', readonly PromptCriterion[]>>>;
  /** The largest numbers of criteria. Default 5 and 3. */
  readonly most?: { readonly positive?: number; readonly negative?: number };
};

/** Options of `makeRubrics`. */
export type MakeRubricsOptions = {
  /** The model that writes. The lexical judge writes nothing. */
  readonly judge: Judge;
  /** Where generations are kept and looked up, by content. Default: a new `memoryStore()`. */
  readonly store?: JudgmentStore;
  /** `only`: takes a stored generation, or fails with `judgment_missing`. Default `use`. */
  readonly judgments?: 'use' | 'only';
  /** Another independent generation from the same input: an integer from 0. Default 0. */
  readonly replicate?: number;
  /** Time for the generation in milliseconds. Default 90,000. */
  readonly deadlineMs?: number;
};

const DEFAULT_DEADLINE_MS = 90_000;

/**
 * Lets a judge write criteria for a question, and checks them: none repeats or negates another one, can be met by length,
 * or asks about something that one answer does not show. Equal inputs ask once for each store.
 *
 * @example
 * ```ts
 * import { memoryStore, openAiCompatible } from 'citeward';
 * import { makeRubrics } from 'citeward/rubrics';
 *
 * const judge = openAiCompatible({ baseUrl: 'http://127.0.0.1:8000/v1', model: 'Qwen/Qwen3.5-35B-A3B' });
 * const made = await makeRubrics(
 *   {
 *     question: 'How long is the Aare?',
 *     responses: ['<answer>It is 288 km long.</answer>', '<answer>It is about 300 km long.</answer>'],
 *     existing: { active: [{ polarity: 'positive', description: 'Names the source of the Aare' }] },
 *   },
 *   { judge, store: memoryStore(), deadlineMs: 2_000 },
 * );
 * if (made.ok) console.log(made.value.criteria, made.value.rejected);
 * else console.log(made.error.reason);   // judge_unreachable, judge_reply_invalid, …
 * ```
 * @returns the reply of `POST /v1/rubrics`, or why there is no generation. A failure is never an empty list.
 * @throws InputError that names the field; TypeError for a `deadlineMs` that is no positive number.
 */
export async function makeRubrics(
  input: RubricsInput,
  options: MakeRubricsOptions,
): Promise<Result<MakeRubricsReply, JudgeFailure>> {
  const { judge, store = memoryStore(), judgments = 'use', replicate = 0, deadlineMs = DEFAULT_DEADLINE_MS } = options;
  if (!(Number.isFinite(deadlineMs) && deadlineMs > 0)) {
    throw new TypeError('makeRubrics: deadlineMs: expected a positive number of milliseconds');
  }
  const fields = { ...input, judgments, replicate };
  const request = makeRubricsRequestSchema.safeParse(fields);
  if (!request.success) throw new InputError(problemsOfIssues(request.error.issues, fields));
  const made = await make(rubricsToMake(request.data, sourcesOf), {
    judge: { ok: true, judge },
    store,
    mode: judgments,
    replicate,
    deadline_ms: deadlineMs,
    now: () => new Date().toISOString(),
    elapsed: () => performance.now(),
  });
  const { outcome } = made.obtained;
  return outcome.ok ? { ok: true, value: makeRubricsReplyOf(made) } : { ok: false, error: outcome.failure };
}
