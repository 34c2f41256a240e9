/** The input side that all adapters share: reading trainers' rows and labels, and logging refused requests. */

import { createMiddleware } from 'hono/factory';
import type * as z from 'zod';
import { RequestError, type RequestFailure } from '../../../service/failures.ts';
import { wireReason } from '../../../service/problems.ts';
import type { FamilyName } from '../../../src/families/composers.ts';
import { type InputProblem, pathText, UNKNOWN_FIELD } from '../../../src/input-problem.ts';
import { labelledRollout, type PolicyOutput, readLabel } from '../../../src/wire/adapters/request.ts';
import { type KnownPlace, wantedPlace } from '../../../src/wire/adapters/run-place.ts';
import { reportedOutcome } from '../../../src/wire/score.ts';
import { logEvent } from '../../log-event.ts';
import { readJson } from '../body.ts';
import type { AppEnvironment, Context } from '../context.ts';
import type { Sample } from './adapter-scoring.ts';

/**
 * Maximum nesting of a row. Rows of trainers nest a few levels; writing or hashing thousands of levels would overflow
 * the stack.
 */
const MAX_NESTING = 256;
const TOO_DEEP = `expected at most ${MAX_NESTING} levels`;

/**
 * Reads and validates the body. @throws RequestError for every error of the caller.
 * @param waitMs how long the body waits for room in the isolate, for clients that hardly retry.
 */
export async function readRow<S extends z.ZodObject>(c: Context, schema: S, waitMs = 0): Promise<z.output<S>> {
  const row = await readJson(c, schema, waitMs);
  const problems = Object.entries(row)
    .filter(([, value]) => isDeeperThan(value, MAX_NESTING))
    .map(([name]) => ({ path: [name], message: TOO_DEEP }));
  if (problems.length > 0) throw new RequestError({ reason: 'input_invalid', problems });
  return row;
}

/** Iterates level by level, without recursion. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one): unknown[] => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

type Path = InputProblem['path'];

export type LabelledSample = {
  readonly label: { readonly value: unknown; readonly path: Path };
  readonly output: { readonly value: PolicyOutput; readonly path: Path };
  /** The question in the prompt, used if the label has none. */
  readonly question: string | undefined;
  readonly family: FamilyName;
  /** The run that the query names. */
  readonly run: string | undefined;
  /** What the trainer knows of the sample's place in a run. */
  readonly known: KnownPlace;
};

/** Builds the rollout of a labelled row. @throws RequestError if the label is invalid. */
export function labelledSample({ label, output, question, family, run, known }: LabelledSample): Sample {
  const read = readLabel(label.value, family, label.path);
  if (!read.ok) throw new RequestError({ reason: 'input_invalid', problems: read.error });
  const { label: fields, path } = read.value;
  const place: Sample['place'] = ([first, ...rest]) =>
    first === 'response' || first === 'messages' || first === 'cited_answer'
      ? [...output.path, ...rest]
      : [...path, ...(first === undefined ? [] : [first]), ...rest];
  const rollout = labelledRollout(fields, output.value, question);
  if (rollout.ok) {
    const wanted = wantedPlace(run, fields.run, known);
    return { rollout: rollout.value, wanted, reported: reportedOutcome(fields), place };
  }
  const problems = rollout.error.map(({ path: at, message }) => ({ path: place(at), message }));
  throw new RequestError({ reason: 'input_invalid', problems });
}

const MAX_FIELDS = 20;

/**
 * Logs each request that an adapter refuses, with the invalid fields of the schema and no text of the row: the log
 * shows a field name that the caller chose as `*`, and only the reply names it. The log is needed because trainers
 * retry refused requests like failed ones and log a status without its body: one typo costs slime ten tries and two and
 * a half minutes.
 */
export const reportRefusals = createMiddleware<AppEnvironment>(async function reportRefusals(c, next) {
  const adapter = c.req.param('adapter');
  await next();
  if (c.res.status < 400 || c.res.status >= 500 || !(c.error instanceof RequestError)) return;
  const { failure } = c.error;
  logEvent('warn', {
    event: 'adapter_request_refused',
    adapter,
    reason: wireReason(failure),
    fields: fieldsOf(failure),
    request_id: c.get('requestId'),
  });
});

function fieldsOf(failure: RequestFailure): string[] {
  if (failure.reason === 'judge_unknown') return ['query.judge'];
  if (failure.reason !== 'input_invalid') return [];
  return failure.problems.slice(0, MAX_FIELDS).map(({ path, message }) => {
    const isNamedByCaller = message === UNKNOWN_FIELD || message === TOO_DEEP;
    return isNamedByCaller ? [pathText(path.slice(0, -1)), '*'].filter(Boolean).join('.') : pathText(path);
  });
}
