/**
 * The strict reader of judge replies: exactly the keys that were asked for, each verdict in range, or no verdicts at
 * all. A missing, extra or out-of-range entry is a judge failure; nothing is filled in, clamped or guessed.
 */
import * as z from 'zod';
import { claimKey, statementKey } from './entry-keys.ts';
import { QuoteFinder } from './quote.ts';
import type {
  CitationsRequest,
  CitationVerdicts,
  OutcomeVerdicts,
  ReadingRequest,
  RubricRequest,
  RubricVerdicts,
  Support,
  Verdicts,
} from './types.ts';

/** Joins the template of each judgment: raise it when the same reply may be read differently. */
export const READER_VERSION = 'citeward-reader-2';

export type ReadReply =
  | { readonly ok: true; readonly verdicts: Verdicts }
  | {
      readonly ok: false;
      /** `not_json`: no JSON object. `wrong_shape`: keys missing, extra, or values out of range. */
      readonly problem: 'not_json' | 'wrong_shape';
      /** Names the keys concerned; holds no text of the reply. */
      readonly detail: string;
    };

const rubricEntry = z.strictObject({
  reason: z.string(),
  score: z.union([z.literal(0), z.literal(1), z.literal(2)]),
});

const statementEntry = z.strictObject({ reason: z.string(), needs_citation: z.boolean() });

const SUPPORT: Readonly<Record<'full' | 'partial' | 'none', Support>> = { full: 1, partial: 0.5, none: 0 };

function claimEntry(sources: number): z.ZodType<ClaimEntry> {
  return z.strictObject({
    reason: z.string(),
    quote: z.string(),
    support: z.enum(['full', 'partial', 'none']),
    relevant: z.array(z.boolean()).length(sources),
  });
}

type ClaimEntry = { reason: string; quote: string; support: 'full' | 'partial' | 'none'; relevant: boolean[] };

/** Reads the text of a reply against its request. */
export function readReply(request: ReadingRequest, text: string): ReadReply {
  const json = parseObject(text);
  if (json === null) return { ok: false, problem: 'not_json', detail: 'the reply is not one JSON object' };
  switch (request.kind) {
    case 'rubric':
      return readRubric(request, json);
    case 'citations':
      return readCitations(request, json);
    case 'outcome':
      return readOutcome(json);
  }
}

/** One JSON object, alone or in one Markdown fence; `null` for anything else, also for one that has a key twice anywhere. */
function parseObject(text: string): unknown {
  let body = text.trim();
  if (body.startsWith('```') && body.endsWith('```') && body.length > 6) {
    const firstLine = body.indexOf('\n');
    if (firstLine === -1) return null;
    body = body.slice(firstLine + 1, -3).trim();
  }
  if (!body.startsWith('{') || !body.endsWith('}')) return null;
  try {
    const value: unknown = JSON.parse(body);
    return hasRepeatedKey(body, value) ? null : value;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * `JSON.parse` lets the last of two equal keys win; a judge that scores a criterion twice, or gives one entry two scores,
 * has not scored it. Every member of every object has one colon outside texts, so a repeated key leaves one too many.
 */
function hasRepeatedKey(body: string, value: unknown): boolean {
  let colons = 0;
  for (let i = 0; i < body.length; i++) {
    const unit = body.charAt(i);
    if (unit === '"') {
      i++;
      while (body.charAt(i) !== '"') i += body.charAt(i) === '\\' ? 2 : 1;
    } else if (unit === ':') colons++;
  }
  return colons !== countMembers(value);
}

/** Members of all objects in a JSON value. No recursion: a reply may be nested as deep as it is long. */
function countMembers(value: unknown): number {
  let members = 0;
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inside: readonly unknown[] = Object.values(next);
    if (!Array.isArray(next)) members += inside.length;
    for (const one of inside) open.push(one);
  }
  return members;
}

function readRubric(request: RubricRequest, json: unknown): ReadReply {
  const shape = z.strictObject(Object.fromEntries(request.criteria.map(({ key }) => [key, rubricEntry])));
  const parsed = shape.safeParse(json);
  if (!parsed.success) return wrongShape(parsed.error);
  const verdicts: RubricVerdicts = {
    kind: 'rubric',
    criteria: request.criteria.map(({ key }) => ({ key, score: entryOf(parsed.data, key).score })),
  };
  return { ok: true, verdicts };
}

function readCitations(request: CitationsRequest, json: unknown): ReadReply {
  const claimShape = Object.fromEntries(
    request.claims.map(({ sources }, position) => [claimKey(position), claimEntry(sources.length)]),
  );
  const statementShape = Object.fromEntries(
    request.statements.map((_one, position) => [statementKey(position), statementEntry]),
  );
  const keys = new Set([...Object.keys(claimShape), ...Object.keys(statementShape)]);
  const members = z.record(z.string(), z.unknown()).safeParse(json);
  if (!members.success) return wrongShape(members.error);
  const extra = Object.keys(members.data).filter((key) => !keys.has(key));
  if (extra.length > 0) {
    return { ok: false, problem: 'wrong_shape', detail: `${extra.length} entries that were not asked for` };
  }
  const pick = (shape: object) => Object.fromEntries(Object.entries(members.data).filter(([key]) => key in shape));
  const claims = z.strictObject(claimShape).safeParse(pick(claimShape));
  if (!claims.success) return wrongShape(claims.error);
  const statements = z.strictObject(statementShape).safeParse(pick(statementShape));
  if (!statements.success) return wrongShape(statements.error);
  const quotes = new QuoteFinder(request.sources.map(({ text }) => text));
  const verdicts: CitationVerdicts = {
    kind: 'citations',
    claims: request.claims.map(({ claim, sources }, position) => {
      const entry = entryOf(claims.data, claimKey(position));
      return {
        claim,
        support: SUPPORT[entry.support],
        relevant: entry.relevant,
        quote: quotes.locate(entry.quote, sources),
      };
    }),
    statements: request.statements.map(({ statement }, position) => ({
      statement,
      needs_citation: entryOf(statements.data, statementKey(position)).needs_citation,
    })),
  };
  return { ok: true, verdicts };
}

const outcomeReply = z.strictObject({ reason: z.string(), correct: z.boolean() });

function readOutcome(json: unknown): ReadReply {
  const parsed = outcomeReply.safeParse(json);
  if (!parsed.success) return wrongShape(parsed.error);
  const verdicts: OutcomeVerdicts = { kind: 'outcome', correct: parsed.data.correct };
  return { ok: true, verdicts };
}

function entryOf<T>(entries: Readonly<Record<string, T>>, key: string): T {
  const entry = entries[key];
  if (entry === undefined) throw new Error(`readReply: no entry ${key} after its shape was checked`);
  return entry;
}

const MAX_ISSUES_NAMED = 5;

/** Names the places, never the reply's text. */
function wrongShape(error: z.ZodError): ReadReply {
  const named = error.issues.slice(0, MAX_ISSUES_NAMED).map((issue) => {
    const at = issue.path.join('.') || 'the reply';
    return issue.code === 'unrecognized_keys' ? `${at}: entries that were not asked for` : `${at}: ${issue.code}`;
  });
  return { ok: false, problem: 'wrong_shape', detail: named.join('; ') };
}
