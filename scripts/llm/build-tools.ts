/**
 * Finds the compiler and build tools. On Debian as root it installs missing ones, so that a fresh container needs no
 * setup; elsewhere the error says what to install.
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

/** Installs missing tools if possible. @throws BuildStepError that names the tools to install. */
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

/** The path of a command, or `null`. */
export function commandPath(command: string): string | null {
  // Also searches system folders: /usr/sbin is not on every user's PATH.
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
    // Missing or not executable.
    return false;
  }
}
