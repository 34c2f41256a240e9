/**
 * A temporary copy of the repository's files with a test-only feature added: the folder of a fixture and a few edits.
 * What works in the copy needs no other edit.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type CopiedSources = {
  readonly path: string;
  /** Runs a program of node_modules/.bin, or `node` for the Node that runs the test, in the copy. */
  run(program: string, args?: readonly string[], input?: string): Ended;
  remove(): void;
};

export type Addition = {
  /** Files or folders from the repository's root, each with its place in the copy. */
  readonly files: Readonly<Record<string, string>>;
  /** Replacements by file. Each text to replace must occur exactly once. */
  readonly edits: Readonly<Record<string, readonly (readonly [text: string, replacement: string])[]>>;
};

/** @param folders top folders to copy; absent = the whole repository. Files at the root are always copied. */
export function copySources({ files, edits }: Addition, folders?: readonly string[]): CopiedSources {
  const path = mkdtempSync(join(tmpdir(), 'citeward-copy-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const isWanted = (file: string): boolean => {
    const [top = '', inside] = file.split('/');
    return file !== '' && top !== 'node_modules' && (inside === undefined || folders?.includes(top) !== false);
  };
  for (const file of listed.toString().split('\0').filter(isWanted)) {
    // Git also lists files whose deletion is not committed yet.
    if (!existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(path, file)), { recursive: true });
    cpSync(join(root, file), join(path, file));
  }
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  for (const [from, to] of Object.entries(files)) cpSync(join(root, from), join(path, to), { recursive: true });
  for (const [file, replacements] of Object.entries(edits)) {
    let text = readFileSync(join(path, file), 'utf8');
    for (const [old, replacement] of replacements) {
      if (text.split(old).length !== 2) throw new Error(`copySources: ${file} must contain "${old}" exactly once`);
      text = text.replace(old, () => replacement);
    }
    writeFileSync(join(path, file), text);
  }

  const run: CopiedSources['run'] = (program, args = [], input = '') => {
    const command = program === 'node' ? process.execPath : join(root, 'node_modules/.bin', program);
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
    run,
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
