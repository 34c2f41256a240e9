/** No invocation makes more KV operations than the platform allows, and nothing is lost by that. */
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Environment } from '../../functions/environment.ts';
import { KvOperations } from '../../functions/kv-operations.ts';
import { lexicalBackend } from '../../service/backends/judge-backends.ts';
import { kindOf } from '../../src/judgments/kinds/registry.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { post, ROLLOUT, send } from './api.ts';
import { batchOf, get, line, outputLines, submit } from './batch-api.ts';
import { COUNTING, counting, countingBackends, lexically, resetCounting } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

/** Operations of an invocation (limit of the platform). */
const LIMIT = 1_000;

/** Operations of the handlers by invocation, each of which gets an environment of its own. */
let invocations: { operations: number }[] = [];

function countingKv(environment: Environment, place: string): Environment {
  if (place !== 'handlers') return environment;
  const invocation = { operations: 0 };
  invocations.push(invocation);
  const JUDGMENTS = new Proxy(environment.JUDGMENTS, {
    get(kv, name) {
      const method: unknown = Reflect.get(kv, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        invocation.operations++;
        if (invocation.operations > LIMIT) throw new Error('KV: too many operations in one invocation');
        return Reflect.apply(method, kv, args);
      };
    },
  });
  return { ...environment, JUDGMENTS };
}

function backends(): ReturnType<typeof countingBackends> {
  const { named, ...others } = countingBackends();
  return { ...others, named: [...named, lexicalBackend] };
}

replaceParts({ backendsOf: backends, environmentOf: countingKv });

beforeEach(() => {
  resetCounting();
  invocations = [];
});

const { response, ...SHARED } = ROLLOUT;
const CRITERIA = 16;
/** The tests make some thousands of judgments. */
const LONG_MS = 90_000;

/** A group whose criteria are judged one by one: more judgments than an invocation may make operations. */
function groupOf(name: string, judge: string, samples = 64): object {
  return {
    ...SHARED,
    judge,
    recipe: { base: ROLLOUT.recipe, judging: 'per_criterion' },
    positive_rubrics: Array.from(
      { length: CRITERIA },
      (_, n) => `Names the length, as way ${n} of saying it in ${name}.`,
    ),
    responses: Array.from({ length: samples }, (_, n) => response.replace('Thousands', `${name} ${n} thousands`)),
  };
}

async function scored(body: object) {
  const reply = await send(post('/v1/groups', body));
  const text = await reply.text();
  expect(reply.status, text.slice(0, 500)).toBe(200);
  return groupResponseSchema.parse(JSON.parse(text));
}

it(
  'leaves judgments of the lexical judge to the desks where one request makes too many',
  async () => {
    const group = groupOf('lexical', 'lexical');
    const first = await scored(group);
    const judgments = first.members.flatMap((member) => member.judgments);
    expect(judgments.length).toBeGreaterThan(LIMIT);
    expect(judgments.filter(({ stored }) => !stored)).toEqual([]);
    const again = await scored({ ...group, judgments: 'only' });
    expect(again.rewards).toEqual(first.rewards);
    expect(again.members.flatMap((member) => member.judgments).every(({ cached }) => cached)).toBe(true);
  },
  LONG_MS,
);

it(
  'keeps the reasons of many criteria of one answer in one value',
  async () => {
    counting.answer = async (request) => {
      const reply = await lexically(request);
      const kind = kindOf(request.kind);
      const places = kind.answeredBy === 'reader' ? (kind.reasonPlaces?.(request) ?? []) : [];
      return reply.ok ? { ...reply, reasons: places.map(({ index }) => `because ${index}`) } : reply;
    };
    const group = { ...groupOf('reasons', COUNTING), store_reasons: true };
    const first = await scored(group);
    const again = await scored(group);
    const reasonsOf = ({ members }: typeof first) =>
      members.flatMap((one) => one.judgments.map(({ reasons }) => reasons));
    expect(reasonsOf(first).length).toBeGreaterThan(LIMIT);
    expect(reasonsOf(again)).toEqual(reasonsOf(first));
    expect(reasonsOf(again).every((reasons) => reasons?.status === 'kept')).toBe(true);
  },
  LONG_MS,
);

it(
  'leaves those of a chunk to the desks, too',
  async () => {
    const groups = Array.from({ length: 4 }, (_, n) =>
      line(`g${n}`, groupOf(`batch ${n}`, 'lexical', 16), '/v1/groups'),
    );
    const batch = await submit(groups.join('\n'), '/v1/groups');
    const done = await vi.waitFor(
      async () => {
        const now = await batchOf(await get(batch.id));
        expect(now.status).toBe('completed');
        return now;
      },
      { timeout: LONG_MS, interval: 500 },
    );
    expect(done.request_counts).toEqual({ total: 4, completed: 4, failed: 0 });
    const output = await outputLines(done.output_file_id);
    expect(output.map(({ custom_id }) => custom_id).toSorted()).toEqual(['g0', 'g1', 'g2', 'g3']);
    expect(Math.max(...invocations.map(({ operations }) => operations))).toBeLessThan(LIMIT);
  },
  LONG_MS,
);

it('counts what an invocation has left for writes, and for further lines and jobs', async () => {
  const operations = new KvOperations();
  const kv = operations.countedKv(env.JUDGMENTS);
  const read = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) await kv.get(['nothing'], 'text');
  };
  await read(599);
  expect([operations.takesWrite, operations.takesWork]).toEqual([true, true]);
  await kv.put('something', 'small');
  expect([operations.takesWrite, operations.takesWork]).toEqual([false, true]);
  await read(150);
  expect([operations.takesWrite, operations.takesWork]).toEqual([false, false]);
});
