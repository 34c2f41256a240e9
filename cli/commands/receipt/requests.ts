/** Finds the request of a receipt by id, line or position, and reads it as the Worker does. */

import * as z from 'zod';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import type { Result } from '../../../src/result.ts';
import { groupRequestSchema, groupRollouts } from '../../../src/wire/groups.ts';
import { requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';
import type { Document, Origin } from './documents.ts';

/** The request of a receipt, or the reason why it is not found. */
export type FoundRequest = Result<
  {
    readonly rollout: Rollout;
    /** Digest of the request's recipe; `null` = the request names no recipe (a flag did). */
    readonly recipe: string | null;
  },
  string
>;

export type RequestFinder = (origin: Origin) => Promise<FoundRequest>;

const batchLineSchema = z.looseObject({ custom_id: z.string(), body: z.unknown() });

const rowSchema = z.looseObject({ recipe: z.unknown().optional() });

/** Finds requests in the documents of a file. */
export function createRequestFinder(documents: readonly Document[]): RequestFinder {
  const byId = new Map<string, unknown>();
  const byLine = new Map<number, unknown>();
  for (const { line, value } of documents) {
    const batch = batchLineSchema.safeParse(value);
    if (batch.success) byId.set(batch.data.custom_id, batch.data.body);
    if (line !== null) byLine.set(line, value);
  }
  return (origin) => {
    const { custom_id, row, position } = origin;
    const [only, ...more] = documents;
    if (custom_id !== null && byId.size > 0) return readRequest(byId.get(custom_id), origin);
    if (row !== null && byLine.size > 0) return readRequest(byLine.get(row), origin);
    return readRequest(more.length === 0 ? only?.value : documents[position]?.value, origin);
  };
}

/** A recipe name that the schemas accept and no recipe has. */
const UNNAMED = '';

async function readRequest(value: unknown, { member }: Origin): Promise<FoundRequest> {
  const row = rowSchema.safeParse(value);
  if (!row.success) return { ok: false, error: 'not found in the file' };
  // The command line does not send the labels of a row.
  const { id: _id, note: _note, training_row: _row, ...fields } = row.data;
  const request = { recipe: UNNAMED, ...fields };
  const read = member === null ? readAlone(request) : readMember(request, member);
  if (!read.ok) return read;
  const { rollout, recipe } = read.value;
  if (recipe === UNNAMED) return { ok: true, value: { rollout, recipe: null } };
  const resolved = await resolveRecipe(recipe);
  if (!resolved.ok) return { ok: false, error: 'its recipe is invalid' };
  return { ok: true, value: { rollout, recipe: resolved.value.digest } };
}

type Read = Result<{ readonly rollout: Rollout; readonly recipe: Parameters<typeof resolveRecipe>[0] }, string>;

function readAlone(request: unknown): Read {
  const parsed = scoreRequestSchema.safeParse(request);
  if (!parsed.success) return refused('POST /v1/score', parsed.error.issues, request);
  return { ok: true, value: { rollout: requestedRollout(parsed.data), recipe: parsed.data.recipe } };
}

function readMember(request: unknown, member: number): Read {
  const parsed = groupRequestSchema.safeParse(request);
  if (!parsed.success) return refused('POST /v1/groups', parsed.error.issues, request);
  const rollout = groupRollouts(parsed.data)[member];
  if (rollout === undefined) return { ok: false, error: 'it has fewer responses than the reply has members' };
  return { ok: true, value: { rollout, recipe: parsed.data.recipe } };
}

function refused(route: string, issues: readonly z.core.$ZodIssue[], request: unknown): Read {
  const [first] = problemsOfIssues(issues, request);
  const problem = first === undefined ? '' : `: ${pathText(first.path)}: ${first.message}`;
  return { ok: false, error: `not a request of ${route}${problem}` };
}
