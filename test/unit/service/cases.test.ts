/** The host in memory answers every case of test/cases, and the client over it the same. */
import { expect, it } from 'vitest';
import { createMemoryHost } from '../../../hosts/memory/memory-host.ts';
import { problemOf } from '../../../service/problems.ts';
import { verifyQuerySchema } from '../../../src/wire/verify.ts';
import { ALL_CASES, steady } from '../../cases/cases.ts';

const host = createMemoryHost();

it.each(ALL_CASES)('$route: $name', async ({ route, query = {}, body, without_worker, ...asWorker }) => {
  const { status, reply } = without_worker ?? asWorker;
  const how = route === '/v1/verify' ? { verifying: verifyQuerySchema.parse(query) } : {};
  const result = await host.answer(route, body, how);
  const problem = result.ok ? null : problemOf(result.error, 'r');
  const got = result.ok ? { status: 200, reply: result.value } : { status: problem?.status, reply: problem };
  expect({ ...got, reply: steady(got.reply) }).toEqual({ status, reply });
});
