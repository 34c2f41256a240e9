import { describe, expect, it } from 'vitest';
import { Lookups } from '../../functions/lookups.ts';

/** More lookups than run at a time. */
const MANY = 20;
const FOUND = { status: 'found', value: 'key' };
const never = (): Promise<null> => new Promise(() => undefined);
const here = (address: string) => ({ address, signal: new AbortController().signal });

describe('callers whose connections break while their guesses are looked up', () => {
  it('take no turn of others', async () => {
    const lookups = new Lookups(() => 0);
    const connection = new AbortController();
    for (let n = 0; n < MANY; n++) {
      void lookups.find({ address: `192.0.2.${n}`, signal: connection.signal }, never);
    }
    connection.abort();
    expect(await lookups.find(here('198.51.100.1'), async () => 'key')).toEqual(FOUND);
  });

  it('have guessed wrong', async () => {
    const lookups = new Lookups(() => 0);
    const address = '192.0.2.1';
    const guessed = async () => (await lookups.find(here(address), async () => null)).status;
    expect(await guessed()).toBe('missing');
    for (let n = 0; n < MANY; n++) {
      const connection = new AbortController();
      void lookups.find({ address, signal: connection.signal }, never);
      connection.abort();
    }
    expect(await guessed()).toBe('refused');
    // A right key is taken all the same, and another address has all its tries.
    expect(await lookups.find(here(address), async () => 'key')).toEqual(FOUND);
    expect((await lookups.find(here('198.51.100.1'), async () => null)).status).toBe('missing');
  });
});
