/** Objects that another process has, without the socket between them: both ends of a call, and what its errors say. */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { DESK_MESSAGE_VERSION, type DeskMethods } from '../../functions/desk/desk-messages.ts';
import { rpcFailure } from '../../functions/rpc.ts';
import { ObjectsEntry } from '../../serve/workers/objects-entry.ts';
import remoteObjects from '../../serve/workers/remote-objects.ts';

type Throwing = { readonly [method: string]: () => Promise<never> };

/** A namespace whose objects throw an error with these properties. */
function throwing(properties: Readonly<Record<string, unknown>>) {
  const object: Throwing = {
    judge: async () => {
      throw Object.assign(new Error('it failed'), properties);
    },
  };
  return { getByName: () => object };
}

function remoteOf(binding: string, more: Readonly<Record<string, unknown>> = {}) {
  const environment = { ...env, SERVE_CLOCK: { start: async () => undefined }, ...more };
  const process = new ObjectsEntry(createExecutionContext(), environment);
  return remoteObjects({ process, binding });
}

it('an object answers as if it were here', async () => {
  const desk = remoteOf('JUDGE_DESK').getByName('desk-0') as Pick<DeskMethods, 'find'>;
  const message = { v: DESK_MESSAGE_VERSION, place: null, keys: ['0'.repeat(64)], wait: false };
  expect(await desk.find(message)).toEqual({ judgments: [], held: [], failure: null });
});

it.each([
  [{ overloaded: true, remote: true }, 'overloaded'],
  [{ retryable: true, remote: true }, 'lost'],
  [{ durableObjectReset: true, remote: true }, 'lost'],
  [{}, 'lost'],
  [{ remote: true }, null],
] as const)('an error keeps its meaning: %o', async (properties, meaning) => {
  const object = remoteOf('BROKEN', { BROKEN: throwing(properties) }).getByName('any') as Throwing;
  const error: unknown = await object['judge']?.().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: 'it failed', ...properties });
  expect(rpcFailure(error)).toBe(meaning);
});

it('an awaited object is no promise', async () => {
  const object = remoteOf('JUDGE_DESK').getByName('desk-0');
  expect(await object).toBe(object);
});
