/**
 * A copy of the repository with a fifth recipe family: the folder test/house/two-step becomes src/families/two-step,
 * and the registry gets its import and its entry. Nothing else differs, so whatever works in the copy needs no other
 * edit.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

export type Copy = {
  readonly path: string;
  /** Runs a script of the copy in Node. */
  run(script: string, args?: readonly string[], input?: string): Ended;
  /** Type-checks the project of a folder. */
  typecheck(project: string): Ended;
  remove(): void;
};

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export function copyWithFifthFamily(): Copy {
  const path = mkdtempSync(join(tmpdir(), 'citeward-fifth-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of listed.toString().split('\0')) {
    if (file === '' || file.startsWith('node_modules')) continue;
    mkdirSync(dirname(join(path, file)), { recursive: true });
    cpSync(join(root, file), join(path, file), { force: true });
  }
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  cpSync(join(root, 'test/house/two-step'), join(path, 'src/families/two-step'), { recursive: true });
  const registry = join(path, 'src/families/registry.ts');
  const text = readFileSync(registry, 'utf8')
    .replace('import { toolCall }', "import { twoStep } from './two-step/family.ts';\nimport { toolCall }")
    .replace('toolCall, drTulu] as const', 'toolCall, drTulu, twoStep] as const');
  writeFileSync(registry, text);

  const start = (command: string, args: readonly string[], input = ''): Ended => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: path,
      encoding: 'utf8',
      input,
      env: { ...process.env, NO_COLOR: '1' },
      maxBuffer: 64 * 1024 * 1024,
    });
    return { code: status, stdout, stderr };
  };
  return {
    path,
    run: (script, args = [], input = '') => start(process.execPath, [join(path, script), ...args], input),
    typecheck: (project) => start(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', project]),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Rows of the family: right with both criteria, right with one of them, wrong. */
export const ROWS = [
  'The bridge opened in 1937 and is painted orange.',
  'The bridge opened in 1937.',
  'The bridge opened in 1941.',
].map((response) => ({
  question: 'When did the bridge open?',
  reference: 'The bridge opened in 1937',
  response,
  positive_rubrics: ['States that the bridge opened in 1937', 'Says that the bridge is painted orange'],
  recipe: 'two-step',
}));
