/**
 * The compiler and its friends. On Debian as root what is missing is installed, so that a fresh container needs no
 * instructions; anywhere else the message says what to install, because guessing at package managers goes wrong quietly.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type BuildLog, BuildStepError, runStep } from './build-step.ts';

/** Command to Debian package. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['cmake', 'cmake'],
  ['ninja', 'ninja-build'],
  ['g++', 'g++'],
  ['strip', 'binutils'],
  ['git', 'git'],
]);

/** Installs what is missing, where that is possible. @throws BuildStepError that names what to install. */
export async function ensureBuildTools(cwd: string, log: BuildLog): Promise<void> {
  const missing = missingPackages();
  if (missing.length === 0) return;
  const canInstall = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!canInstall) {
    throw new BuildStepError(
      `missing: ${missing.join(', ')} (Debian's names). Install them, for example: ` +
        `sudo apt-get install --no-install-recommends ${missing.join(' ')}`,
    );
  }
  await installDebianPackages(missing, cwd, log);
  const still = missingPackages();
  if (still.length > 0) throw new BuildStepError(`still missing after the installation: ${still.join(', ')}`);
}

/** Installs Debian packages. Needs root. */
export async function installDebianPackages(packages: readonly string[], cwd: string, log: BuildLog): Promise<void> {
  const environment = { DEBIAN_FRONTEND: 'noninteractive' };
  await runStep({ title: 'apt-get update', command: 'apt-get', args: ['update', '--quiet'], cwd, environment }, log);
  await runStep(
    {
      title: `apt-get install ${packages.join(' ')}`,
      command: 'apt-get',
      args: ['install', '--yes', '--no-install-recommends', ...packages],
      cwd,
      environment,
    },
    log,
  );
}

function missingPackages(): string[] {
  return [...TOOLS].filter(([command]) => commandPath(command) === null).map(([, name]) => name);
}

/** Where a command lies on the PATH, or `null`. */
export function commandPath(command: string): string | null {
  // System folders too: /usr/sbin is not on every user's PATH.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  for (const folder of folders) {
    const path = join(folder, command);
    if (folder !== '' && isExecutableFile(path)) return path;
  }
  return null;
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us: either way it is not the command.
    return false;
  }
}
