/** The npm package works where nothing but the package and its declared dependencies is installed. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildLibrary } from '../../scripts/build-library.ts';
import { jsonLines, root } from './processes.ts';

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

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'citeward-package-'));
  project = join(directory, 'project');
  const built = join(directory, 'built');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }');
  buildLibrary(built);
  run('npm', 'pack', built, '--pack-destination', directory, '--silent');
  const tarball = join(directory, `citeward-${manifestAt(built).version}.tgz`);
  run('npm', 'install', tarball, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('the installed package', () => {
  test('verifies, and makes a judgment key', () => {
    const printed = runModule(`
      import { digestJson, verifyCitations } from 'citeward';
      const tool_output = '<snippet id=S1>The bridge opened in 1937.</snippet>';
      const response = '<answer><snippet id=S1>The bridge opened in 1937.</snippet></answer>';
      const { claims } = verifyCitations({ response, tool_output, mode: 'answer_only' }, { evidence: 'lexical' });
      const digest = await digestJson({ b: 1, a: 2 });
      console.log(JSON.stringify({ claims: claims.length, digest }));
    `);
    expect(printed).toEqual({
      claims: 1,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/u),
    });
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

  test('tells bundlers that its modules have no side effects', () => {
    expect(manifestAt(join(project, 'node_modules/citeward'))['sideEffects']).toBe(false);
  });
});
