/** Sends requests to the Worker like an outside caller, and checks the replies against the schemas. */
import { exports } from 'cloudflare:workers';
import { expect } from 'vitest';
import { type Problem, problemSchema } from '../../src/wire/problem.ts';
import { type ScoreResponse, scoreResponseSchema } from '../../src/wire/score.ts';

export const ORIGIN = 'https://citeward.test';

export const TOOL_OUTPUT = [
  '<snippet id=S1>The Aare is 288 kilometres long. It is the longest river that lies entirely within Switzerland.</snippet>',
  '<snippet id=S2>The Aare rises at the Aare Glaciers in the Bernese Alps and joins the Rhine near Koblenz.</snippet>',
].join('\n');

/** A rollout that needs both judgments: a paraphrased claim, a copied one, an invented id, an uncited statement. */
export const ROLLOUT = {
  question: 'How long is the Aare, and where does it rise?',
  tool_output: TOOL_OUTPUT,
  response:
    '<answer><snippet id=S1>The river Aare has a length of 288 km.</snippet> ' +
    '<snippet id=S2>The Aare rises at the Aare Glaciers in the Bernese Alps and joins the Rhine near Koblenz.</snippet> ' +
    '<snippet id=S9>It carries more water than the Danube.</snippet> ' +
    'Thousands of swimmers float down the river through Bern every summer.</answer>',
  positive_rubrics: [
    'States that the Aare is 288 km long',
    { title: 'Source', description: 'Names where the Aare rises' },
  ],
  negative_rubrics: [{ description: 'Claims that the Aare ends in Italy', weight: 0.5 }],
  recipe: 'refiner-gpt54-instance-rubric',
} as const;

/** A POST with a JSON body. A string is sent as it is. */
export function post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(`${ORIGIN}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export function send(request: Request): Promise<Response> {
  return exports.default.fetch(request);
}

/** The problem of a reply; checks its form, its headers and that it is the expected one. */
export async function problemOf(reply: Response, status: number, reason: Problem['reason']): Promise<Problem> {
  const text = await reply.text();
  expect(`${reply.status} ${text}`).toContain(`${status} {`);
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  const problem = problemSchema.parse(JSON.parse(text));
  expect(problem).toMatchObject({ status, reason, type: `urn:citeward:problem:${reason}` });
  expect(problem.request_id).toBe(reply.headers.get('x-request-id'));
  return problem;
}

/** Paths of the wrong fields of a 422. */
export async function wrongFields(reply: Response): Promise<string[]> {
  const problem = await problemOf(reply, 422, 'input_invalid');
  return (problem.errors ?? []).map(({ path }) => path);
}

export type Family = ScoreResponse['family'];
export type ScoreOf<F extends Family> = Extract<ScoreResponse, { family: F }>;
export type RefinerScore = ScoreOf<'refiner'>;

function isOf<F extends Family>(family: F, reply: ScoreResponse): reply is ScoreOf<F> {
  return reply.family === family;
}

/** A reply with status 200, as the score of a family. */
export async function familyScoreOf<F extends Family>(family: F, reply: Response): Promise<ScoreOf<F>> {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const parsed = scoreResponseSchema.parse(JSON.parse(text));
  if (!isOf(family, parsed)) throw new Error(`a score of the family ${parsed.family}`);
  return parsed;
}

/** The refiner's score of a reply with status 200. */
export function scoreOf(reply: Response): Promise<RefinerScore> {
  return familyScoreOf('refiner', reply);
}

export async function score(body: unknown): Promise<RefinerScore> {
  return scoreOf(await send(post('/v1/score', body)));
}

/** SHA-256 in hex, as API_KEYS wants it. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
