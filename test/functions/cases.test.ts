/** The Worker, and the TypeScript client of it, answer every case of test/cases. */
import { describe, expect, it } from 'vitest';
import type { Full } from '../../clients/typescript/client.ts';
import {
  type CompareInput,
  createClient,
  type GroupInput,
  type MakeRubricsInput,
  type RefineInput,
  type ScoreInput,
  type VerifyInput,
  type VerifyOptions,
} from '../../clients/typescript/index.ts';
import type { ClientFailure, Reply } from '../../clients/typescript/reply.ts';
import { ALL_CASES, CASES, type Case, pathOf, steady } from '../cases/cases.ts';
import { ORIGIN, post, send } from './api.ts';

describe('the Worker answers', () => {
  it.each(ALL_CASES)('$route: $name', async (one) => {
    const reply = await send(post(pathOf(one), one.body));
    expect({ status: reply.status, reply: steady(await reply.json()) }).toEqual({
      status: one.status,
      reply: one.reply,
    });
  });
});

function refusalOf(failure: ClientFailure): { readonly status: number; readonly reply: unknown } {
  if (failure.kind !== 'problem') throw new Error(JSON.stringify(failure));
  return { status: failure.status, reply: failure.problem };
}

describe('the TypeScript client', () => {
  const client = createClient({
    url: new URL(ORIGIN),
    key: null,
    transport: { fetch: (url, init) => send(new Request(url, init)), attempts: 1 },
  });

  /** Sends the cases of a route, and compares the replies and problems that the client returns. */
  async function returns(cases: readonly Case[] = [], call: (one: Case) => Promise<Reply<unknown>>): Promise<void> {
    expect(cases.length).toBeGreaterThan(0);
    for (const one of cases) {
      const reply = await call(one);
      const got = reply.ok ? { status: 200, reply: reply.body } : refusalOf(reply.failure);
      expect({ ...got, reply: steady(got.reply) }, one.name).toEqual({ status: one.status, reply: one.reply });
    }
  }

  /** Also a body for the short reply: the client reads the detail of the body. */
  const bodyOf = <Input>({ body }: Case): Input => JSON.parse(JSON.stringify(body));
  const queryOf = ({ query = {} }: Case): VerifyOptions => JSON.parse(JSON.stringify(query));

  it('scores', () => returns(CASES.get('/v1/score'), (one) => client.score(bodyOf<Full<ScoreInput>>(one))));
  it('scores groups', () => returns(CASES.get('/v1/groups'), (one) => client.group(bodyOf<Full<GroupInput>>(one))));
  it('compares', () => returns(CASES.get('/v1/compare'), (one) => client.compare(bodyOf<CompareInput>(one))));
  it('verifies', () =>
    returns(CASES.get('/v1/verify'), (one) => client.verify(bodyOf<VerifyInput>(one), queryOf(one))));
  it('refines', () => returns(CASES.get('/v1/refine'), (one) => client.refine(bodyOf<RefineInput>(one))));
  it('makes rubrics', () =>
    returns(CASES.get('/v1/rubrics'), (one) => client.makeRubrics(bodyOf<MakeRubricsInput>(one))));
});
