/** The npm package works where nothing but the package and its declared dependencies is installed. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unstable_startWorker } from 'wrangler';
import { bundledCode } from '../../bench/bundles/bundle.ts';
import { createScorer, lexicalJudge } from '../../lib/index.ts';
import { buildLibrary } from '../../scripts/build-library.ts';
import { launchChromium } from '../../scripts/chromium.ts';
import { jsonLines, root } from '../e2e/processes.ts';

let directory: string;
/** An empty project outside the repository, into which the packed package is installed. */
let project: string;

type Manifest = Readonly<Record<string, unknown>> & { readonly version: string };

function manifestAt(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function run(program: string, ...args: readonly string[]): string {
  // The command's first line asks for `node`: this one, whatever else the machine has.
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter) };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: project, encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** Runs a module of the project and parses what it prints as JSON. */
function runModule(code: string): unknown {
  writeFileSync(join(project, 'probe.mjs'), code);
  return JSON.parse(run(process.execPath, 'probe.mjs'));
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'citeward-package-'));
  project = join(directory, 'project');
  const built = join(directory, 'built');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }');
  await buildLibrary(built);
  run('npm', 'pack', built, '--pack-destination', directory, '--silent');
  const tarball = join(directory, `citeward-${manifestAt(built).version}.tgz`);
  run('npm', 'install', tarball, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
}, 400_000);

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** The TypeScript snippets of a page. */
function snippetsOf(page: string): string[] {
  const fences = readFileSync(resolve(root, page), 'utf8').matchAll(/^```ts\n(?<code>[\s\S]*?)^```$/gmu);
  return [...fences].map(({ groups }) => groups?.['code'] ?? '');
}

/** The code of every `@example` in the doc comments of a folder's files. */
function examplesOf(folder: string): string[] {
  const sources = readdirSync(folder, { encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return sources.flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const fences = text.matchAll(/^ \* ```ts\n(?<code>(?: \*.*\n)*?) \* ```$/gmu);
    return [...fences].map(({ groups }) => (groups?.['code'] ?? '').replace(/^ \* ?/gmu, ''));
  });
}

const ROLLOUT = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
  response: '<answer><snippet id=S1>It is 288 km long.</snippet></answer>',
  positive_rubrics: [{ description: 'States the length of the Aare' }],
};

async function rewardInNode(): Promise<number | null> {
  return (await createScorer({ judge: lexicalJudge }).score(ROLLOUT, 'refiner-rl-balanced')).reward;
}

describe('the installed package', () => {
  test('scores, replays and verifies', () => {
    const printed = runModule(`
      import { createScorer, lexicalJudge, recipes, replay, verifyCitations } from 'citeward';
      import { fileStore } from 'citeward/node';
      const tool_output = '<snippet id=S1>The bridge opened in 1937.</snippet>';
      const response = '<answer><snippet id=S1>The bridge opened in 1937.</snippet></answer>';
      const { claims } = verifyCitations({ response, tool_output });
      const recipe = recipes['refiner-rl-balanced'];
      const rollout = { question: 'When did it open?', tool_output, response, positive_rubrics: [{ description: 'States 1937' }] };
      const scorer = createScorer({ judge: lexicalJudge, store: await fileStore('judgments.jsonl') });
      const { facts, reward } = await scorer.score(rollout, recipe, { measureAll: true });
      const { figures } = await replay([[{ facts, reward, recipe }]], { set: { citation_weight: 1 } });
      console.log(JSON.stringify({ claims: claims.length, reward, rollouts: figures.rollouts }));
    `);
    expect(printed).toEqual({ claims: 1, reward: expect.any(Number), rollouts: 1 });
    expect(readFileSync(join(project, 'judgments.jsonl'), 'utf8').trim().split('\n').length).toBeGreaterThan(0);
  });

  test('type-checks as strictly as a user can ask, and runs every example of its documentation', () => {
    const examples = [
      ...['lib', 'clients/typescript'].flatMap((folder) => examplesOf(resolve(root, folder))),
      ...snippetsOf('docs/guides/library.md'),
    ];
    expect(examples.length).toBeGreaterThan(10);
    for (const [position, code] of examples.entries()) writeFileSync(join(project, `example-${position}.mts`), code);
    const compilerOptions = {
      ...{ strict: true, skipLibCheck: false, module: 'nodenext', target: 'es2024', noEmit: true },
      ...{ lib: ['es2024', 'dom', 'dom.iterable', 'esnext.disposable'], types: [] },
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['example-*.mts'] }));
    run(process.execPath, resolve(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json');
    for (const position of examples.keys()) run(process.execPath, `example-${position}.mts`);
  });

  test('carries the licence of each package that is part of its code', () => {
    const installed = join(project, 'node_modules/citeward');
    const read = (file: string): string => readFileSync(join(installed, file), 'utf8');
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const licences = read('THIRD-PARTY-LICENSES.txt');
    for (const name of ['@modelcontextprotocol/server', '@noble/hashes', 'fzstd', 'hono', 'zod'])
      expect(licences).toMatch(new RegExp(`^${name} \\d\\S* \\(.+\\)\n=+\n`, 'mu'));
    const ofDashboard = files.find((file) => file.endsWith('licenses.txt')) ?? '';
    for (const name of ['preact', 'uplot', 'zod']) expect(read(ofDashboard)).toContain(`## ${name} - `);
  });

  test('has the client', () => {
    const printed = runModule(`
      import { createClient } from 'citeward/client';
      const client = createClient({ url: new URL('http://127.0.0.1:9'), key: null });
      console.log(JSON.stringify(Object.keys(client)));
    `);
    expect(printed).toEqual(expect.arrayContaining(['score', 'verify', 'batches']));
  });

  test('has the command line, which scores a file', () => {
    const command = join(project, 'node_modules/.bin/citeward');
    expect(run(command, '--version').trim()).toBe(manifestAt(root).version);
    cpSync(resolve(root, 'examples/rollouts.jsonl'), join(project, 'rollouts.jsonl'));
    const lines = jsonLines(run(command, 'score', 'rollouts.jsonl', '--json'));
    expect(lines.length).toBeGreaterThan(15);
    for (const { reward } of lines) expect(reward).toEqual(expect.any(Number));
  });

  test('serves the Worker once workerd is installed beside it', async () => {
    const command = join(project, 'node_modules/citeward/bin/citeward.mjs');
    const args = [command, 'serve', '--port', '0', '--var', 'ALLOW_LEXICAL_JUDGE=true'];
    const without = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
    const { devDependencies } = manifestAt(root);
    const version = Object(devDependencies)['workerd'];
    expect([without.status, without.stderr]).toEqual([
      1,
      expect.stringContaining(`Install it: npm install workerd@${version}`),
    ]);

    symlinkSync(resolve(root, 'node_modules/workerd'), join(project, 'node_modules/workerd'));
    const child = spawn(process.execPath, args, { cwd: project, stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [line = ''] = await once(createInterface({ input: child.stdout }), 'line');
      const url = /http:\S+/u.exec(String(line))?.[0];
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ ...ROLLOUT, recipe: 'refiner-rl-balanced' });
      const reply = await fetch(`${url}/v1/score`, { method: 'POST', headers, body });
      expect(await reply.json()).toMatchObject({ reward: await rewardInNode() });
      expect((await fetch(`${url}/`)).headers.get('content-type')).toContain('text/html');
    } finally {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });

  test('scores in a browser, without polyfills', async () => {
    const code = await bundledCode(
      project,
      `
        import { createScorer, lexicalJudge } from 'citeward';
        globalThis.scoreOf = (rollout) => createScorer({ judge: lexicalJudge }).score(rollout, 'refiner-rl-balanced');
      `,
    );
    expect(code).not.toMatch(/(?:from|import)\s*\(?\s*['"`]node:|__vite-browser-external/u);
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ content: code, type: 'module' });
      // An inline module runs after the call that adds it has returned.
      await page.waitForFunction('globalThis.scoreOf');
      const reward = await page.evaluate(`scoreOf(${JSON.stringify(ROLLOUT)}).then(({ reward }) => reward)`);
      expect(reward).toBe(await rewardInNode());
    } finally {
      await browser.close();
    }
  });

  test('scores in a Worker, with a store in KV', async () => {
    const entrypoint = join(project, 'worker.js');
    const code = `
      import { createScorer, lexicalJudge } from 'citeward';
      import { kvStore } from 'citeward/workers';
      export default {
        async fetch(request, env) {
          const scorer = createScorer({ judge: lexicalJudge, store: kvStore(env.JUDGMENTS) });
          const { reward, judgments } = await scorer.score(await request.json(), 'refiner-rl-balanced');
          return Response.json({ reward, stored: judgments.every(({ cached }) => cached) });
        },
      };
    `;
    writeFileSync(entrypoint, code);
    const worker = await unstable_startWorker({
      entrypoint,
      config: '',
      compatibilityDate: '2026-10-01',
      bindings: { JUDGMENTS: { type: 'kv_namespace', id: 'judgments' } },
      dev: { server: { port: 0 }, inspector: false, persist: false, watch: false, logLevel: 'none' },
    });
    try {
      const scored = async (): Promise<unknown> =>
        (await worker.fetch('http://citeward/', { method: 'POST', body: JSON.stringify(ROLLOUT) })).json();
      const reward = await rewardInNode();
      expect(await scored()).toEqual({ reward, stored: false });
      expect(await scored()).toEqual({ reward, stored: true });
    } finally {
      await worker.dispose();
    }
  });

  test.each([
    ['compose, recipes', 12_500, '`compose`, with or without `recipes`'],
    ['verifyCitations', 74_500, '`verifyCitations`'],
    ['replay', 55_000, '`replay`'],
    ['createScorer, lexicalJudge', 216_500, '`createScorer` with the lexical judge'],
  ])('{ %s } takes at most %i bytes after gzip, as the page says', async (names, most, row) => {
    const code = await bundledCode(project, `import { ${names} } from 'citeward'; globalThis.used = { ${names} };`);
    const size = gzipSync(code).byteLength;
    expect(size).toBeLessThan(most);
    const page = readFileSync(join(import.meta.dirname, '../../bench/README.md'), 'utf8');
    const said = page.split('\n').find((line) => line.startsWith(`| ${row} | `));
    expect(said).toBeDefined();
    // Bundles of two machines differ by some bytes.
    expect(Math.abs(size / 1_000 - Number(/(?<size>[\d.]+) kB/u.exec(said ?? '')?.[1]))).toBeLessThan(0.3);
  });

  test('tells bundlers that its modules have no side effects', () => {
    expect(manifestAt(join(project, 'node_modules/citeward'))['sideEffects']).toBe(false);
  });
});
