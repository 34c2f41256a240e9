/**
 * `citeward serve` as a process: it says when it listens or what prevents that, asks for keys where it must, and keeps
 * its data. How it ends is in test/slow/serve-ends.test.ts.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DESCRIBED_ROUTES } from '../../src/wire/openapi/document.ts';
import { jsonLines, spawnCiteward } from './processes.ts';
import { EXAMPLE, ended, score, startServe as serve, serverFolder } from './serve-process.ts';

const { folder, state } = serverFolder();

it('scores, shows the dashboard, logs JSON lines, and keeps its data between starts', async () => {
  const data = state();
  const flags = ['--state', data, '--var', 'ALLOW_LEXICAL_JUDGE=true'];
  const first = await serve(...flags);
  expect(first.line).toContain('requests need no key');
  const recorded = JSON.stringify({ ...JSON.parse(EXAMPLE), run: { id: 'kept', step: 0, group: 0, sample: 0 } });
  expect(await (await score(first.url, recorded)).json()).toMatchObject({ reward: expect.any(Number) });
  const page = await fetch(`${first.url}/`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await page.text()).toContain('<title>Citeward</title>');
  first.child.kill('SIGTERM');
  expect(await ended(first.child)).toBe(0);
  for (const line of jsonLines(first.log())) expect(line).toMatchObject({ time: expect.any(String) });
  expect(jsonLines(first.log())).toContainEqual(expect.objectContaining({ event: 'request', route: '/v1/score' }));

  const second = await serve(...flags);
  expect(await (await fetch(`${second.url}/v1/runs/kept`)).json()).toMatchObject({ rollouts: 1 });
});

it('asks for a key where the settings have one', async () => {
  const key = 'k'.repeat(43);
  const sha256 = createHash('sha256').update(key).digest('hex');
  const settings = join(folder, 'serve.vars');
  const keys = JSON.stringify({ trainer: { sha256, scopes: ['score'] } });
  writeFileSync(settings, `API_KEYS='${keys}'\nALLOW_LEXICAL_JUDGE=true\n`);
  const { url, line } = await serve('--state', state(), '--settings', settings);
  expect(line).toContain('requests need a key');
  expect((await score(url, EXAMPLE)).status).toBe(401);
  expect((await score(url, EXAMPLE, key)).status).toBe(200);
  // SECURITY.md lists what answers without a key. Authentication runs before routing, so an unknown path asks for one.
  const statusOf = async (path: string, method = 'GET') => (await fetch(`${url}${path}`, { method })).status;
  for (const path of ['/', '/favicon.svg', '/openapi.json', '/recipes.json', '/healthz'])
    expect([path, await statusOf(path)]).toEqual([path, 200]);
  const closed = DESCRIBED_ROUTES.filter(
    ({ path, scope }) => scope !== null && scope !== 'signed' && path !== '/openapi.json',
  );
  expect(closed.length).toBeGreaterThan(60);
  for (const { method, path } of closed) {
    const at = path.replaceAll(/\{[^}]+\}/gu, 'x');
    // Bedrock's own status for a wrong key is 403.
    const refused = at.startsWith('/compat/bedrock/') ? 403 : 401;
    expect([at, await statusOf(at, method.toUpperCase())]).toEqual([at, refused]);
  }
  for (const path of ['/v1/nothing', '/assets/nothing.js', '/index.ts', '/readyz']) {
    expect([path, await statusOf(path)]).toEqual([path, 401]);
  }
});

it('says what prevents its start', async () => {
  const data = state();
  const { url } = await serve('--state', data);
  const port = new URL(url).port;
  const failures = await Promise.all([
    spawnCiteward({ args: ['serve', '--port', port, '--state', state()] }),
    spawnCiteward({ args: ['serve', '--port', '0', '--state', data] }),
    spawnCiteward({ args: ['serve', '--port', '0', '--host', '0.0.0.0', '--state', state()] }),
    spawnCiteward({ args: ['serve', '--port', '0', '--state', state(), '--var', 'DESKS=many'] }),
    spawnCiteward({ args: ['serve', '--port', '0', '--state', state(), '--var', 'DESKS'] }),
    spawnCiteward({ args: ['serve', '--port', port, '--state', state(), '--processes', '3'] }),
    spawnCiteward({ args: ['serve', '--port', '0', '--state', state(), '--processes', '0'] }),
    spawnCiteward({ args: ['serve', '--port', '0', '--state', state(), '--settings', join(folder, 'absent.vars')] }),
  ]);
  expect(failures.map(({ code }) => code)).toEqual([1, 1, 2, 1, 2, 1, 2, 2]);
  const messages = failures.map(({ stderr }) => stderr.split('\n').filter((line) => line.startsWith('citeward: ')));
  expect(failures[0]?.stderr).toMatch(/^Port \d+ is free: start the Worker with --port \d+\.$/mu);
  expect(messages).toEqual([
    [expect.stringMatching(`^citeward: port ${port} of 127\\.0\\.0\\.1 is in use by workerd, process \\d+$`)],
    [expect.stringMatching(/^citeward: the folder \S+ is in use by \S+, process \d+$/u)],
    [expect.stringMatching(/^citeward: other machines can reach 0\.0\.0\.0: the settings need API_KEYS/u)],
    ['citeward: setting DESKS: expected a whole number from 1 to 1024'],
    ['citeward: --var: expected NAME=VALUE, got "DESKS"'],
    [expect.stringMatching(`^citeward: port ${port} of 127\\.0\\.0\\.1 is in use by workerd, process \\d+$`)],
    [expect.stringMatching(/^citeward: --processes: expected an integer from 1 to 64/u)],
    [expect.stringMatching(/^citeward: no such file: /u)],
  ]);
});

it('doctor says which setting prevents a start, and whether a Worker that starts is ready', async () => {
  const empty = join(folder, 'empty.vars');
  writeFileSync(empty, '');
  const [malformed, alone, well, none] = await Promise.all(
    ['--var DESKS=many', '--var DESKS=2', '--var ALLOW_LEXICAL_JUDGE=true', `--settings ${empty}`].map((settings) =>
      spawnCiteward({ args: ['doctor', ...settings.split(' ')] }),
    ),
  );
  expect(none?.stdout).toContain('ok    settings: none are set; a Worker starts\n');
  expect([malformed?.code, malformed?.stderr]).toEqual([1, expect.stringMatching(/^\d of these must be mended\n$/u)]);
  expect(malformed?.stdout).toContain('FAIL  settings: setting DESKS: expected a whole number from 1 to 1024');
  // As with `serve`: a judge must be set.
  expect(alone?.stdout).toMatch(/^ok {4}settings: DESKS: .*\nFAIL {2}http:\/\/127.*: judge_unconfigured\n/mu);
  expect(well?.stdout).toMatch(
    /^ok {4}settings: ALLOW_LEXICAL_JUDGE: .*\nok {4}http:\/\/127.*: ready, judge lexical\n/mu,
  );
});
