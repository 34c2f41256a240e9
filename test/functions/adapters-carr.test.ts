/**
 * CaRR's requests on the route of LongTraceRL: the golden rows of the reference's `evaluate` that show no defect, and
 * what is an error here.
 */
import { describe, expect, it } from 'vitest';
import type { Backends } from '../../service/backends/configured.ts';
import { createNameFinder } from '../../src/judgments/kinds/entities/name-finder.ts';
import type { JudgmentRequest, Verdicts } from '../../src/judgments/kinds/registry.ts';
import rowsText from '../golden/carr.jsonl?raw';
import { adapterPath } from './adapters-trainers.ts';
import { post, send, wrongFields } from './api.ts';
import { replaceParts } from './worker.ts';

const NAMES = new Map([
  ['E0', 'Skarvholm Light'],
  ['E1', 'Idun Farstad'],
  ['E2', 'Bremvik Glassworks'],
]);

function answer(request: JudgmentRequest): Verdicts {
  switch (request.kind) {
    case 'outcome':
    case 'outcome_text':
      return { kind: request.kind, correct: true };
    case 'entities': {
      const find = createNameFinder(request.answer);
      return {
        kind: 'entities',
        entities: request.labels.map((label) => ({ label, span: find(NAMES.get(label) ?? '') })),
      };
    }
    case 'entities_text':
      return {
        kind: 'entities_text',
        entities: request.labels.map((label) => ({ label, name: NAMES.get(label) ?? null })),
      };
    case 'statements':
    case 'statements_text':
      // As in the rows: the third is not supported.
      return { kind: request.kind, supported: request.statements.map((_, n) => n !== 2) };
    default:
      throw new Error(`not asked: ${request.kind}`);
  }
}

function backend(name: string, down: boolean): Backends['named'][number] {
  return {
    judge: {
      name,
      model: name,
      identityFor: () => ({ model: name, template: 'told', sampling: null }),
      context_tokens: null,
      judge: async (request) =>
        down
          ? { ok: false, failure: { reason: 'judge_unreachable', detail: 'down', retryable: true } }
          : { ok: true, verdicts: answer(request), usage: null },
    },
    runs_in: 'caller',
    timeout_ms: 60_000,
    slots: 1,
    health: async () => ({ reachable: true, model_present: true, last_error: null, routes: [] }),
  };
}

replaceParts({
  backendsOf: () => ({
    named: [backend('up', false), backend('down', true)],
    default: null,
    sandbox: null,
    generators: { named: [], default: null },
  }),
});

type Row = {
  readonly id: string;
  readonly fn: string;
  readonly defect?: boolean;
  readonly input: { readonly request: Readonly<Record<string, unknown>> };
  readonly output: { readonly status: number; readonly body: unknown };
};
const ROWS = rowsText
  .split('\n')
  .filter((line) => line !== '')
  .map((line): Row => JSON.parse(line));
const request = (id: string) => ROWS.find((row) => row.id === id)?.input.request ?? {};
const evaluate = (body: unknown, recipe?: string, judge = 'up') =>
  send(post(adapterPath('longtracerl', { judge, ...(recipe === undefined ? {} : { recipe }) }), body));

describe.each([undefined, 'carr', 'carr-exact'])('recipe %s', (recipe) => {
  const rows = ROWS.filter(({ fn, defect, output }) => fn === 'evaluate' && defect !== true && output.status === 200);

  it.each(rows.map((row) => [row.id, row] as const))('answers %s as the reference does', async (_id, row) => {
    const reply = await evaluate(row.input.request, recipe);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual(row.output.body);
  });

  it('answers 503 if the judge is down, never a number', async () => {
    const reply = await evaluate(request('car-s088'), recipe, 'down');
    expect(reply.status).toBe(503);
  });
});

it('names the wrong field of a request', async () => {
  expect(await wrongFields(await evaluate(request('car-s093')))).toEqual(['task_unfinished']);
  const { remote_env_info: info, ...rest } = request('car-s088');
  const changed = (change: object) => evaluate({ ...rest, remote_env_info: { ...Object(info), ...change } });
  expect(await wrongFields(await changed({ search_forbidden_strs: [] }))).toEqual(['remote_env_info.question']);
  expect(await wrongFields(await changed({ rubric_reward_ratio: 1.5 }))).toEqual([
    'remote_env_info.rubric_reward_ratio',
  ]);
  expect(await wrongFields(await changed({ rubrics: [] }))).toEqual(['remote_env_info.rubrics']);
  expect(await wrongFields(await evaluate(request('car-s088'), 'longtrace-rl'))).toEqual(['query.recipe']);
});

it('takes the question from a field of its own, and histories in the shape of OpenAI', async () => {
  expect((await evaluate(request('car-s098'))).status).toBe(200);
  const { remote_env_info: info, ...rest } = request('car-s094');
  expect((await evaluate({ ...rest, remote_env_info: info })).status).toBe(200);
});
