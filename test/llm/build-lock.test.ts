/** The build lock: one build at a time; an error and the death of the holder release the lock. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { whileLocked } from '../../scripts/llm/build-lock.ts';

const lockModule = resolve(import.meta.dirname, '../../scripts/llm/build-lock.ts');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'citeward-lock-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it('lets one work at a time, and says once that it waits', async () => {
  const file = join(folder, 'a.lock');
  const events: string[] = [];
  const work = (name: string) =>
    whileLocked(
      file,
      () => events.push(`${name} waits`),
      async () => {
        events.push(`${name} starts`);
        await pause(1_200);
        events.push(`${name} ends`);
      },
    );
  await Promise.all([work('first'), work('second')]);
  expect(events).toEqual(['first starts', 'second waits', 'first ends', 'second starts', 'second ends']);
});

it('is free again after an error', async () => {
  const file = join(folder, 'b.lock');
  const fails = whileLocked(
    file,
    () => undefined,
    () => Promise.reject(new Error('no compiler')),
  );
  await expect(fails).rejects.toThrow('no compiler');
  let waited = false;
  const note = (): void => {
    waited = true;
  };
  expect(await whileLocked(file, note, async () => 'built')).toBe('built');
  expect(waited).toBe(false);
});

it('is free again when its holder is killed', async () => {
  const file = join(folder, 'c.lock');
  const program = `
    const { whileLocked } = await import(${JSON.stringify(lockModule)});
    await whileLocked(${JSON.stringify(file)}, () => {}, () => new Promise(() => { console.log('held'); setInterval(() => {}, 1000); }));`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  let waits = 0;
  const built = whileLocked(
    file,
    () => {
      waits++;
    },
    async () => 'built',
  );
  await pause(100);
  expect(waits).toBe(1);
  holder.kill('SIGKILL');
  expect(await built).toBe('built');
});
