/** Finds what `citeward serve` runs: the package brings it, and a clone builds it when its sources have changed. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SERVE_FILES } from '../../../serve/worker-description.ts';
import { RunError } from '../../shared/exit.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

/** The absolute path of the folder. @throws RunError if the build fails. */
export function serveFiles(): string {
  const packaged = pathOf('worker');
  if (existsSync(`${packaged}/${SERVE_FILES.description}`)) return packaged;
  const built = spawnSync(process.execPath, [pathOf('scripts/build-serve.ts')], {
    encoding: 'utf8',
    // A person sees that it builds; elsewhere standard error is the log of `serve`.
    stdio: ['ignore', 'pipe', process.stderr.isTTY ? 'inherit' : 'pipe'],
  });
  if (built.status !== 0) throw new RunError(`the Worker cannot be built:\n${built.stderr ?? ''}`);
  return built.stdout.trimEnd().split('\n').at(-1) ?? '';
}
