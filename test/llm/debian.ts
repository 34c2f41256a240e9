/** Debian packages that a test needs. As root on Debian they are installed; elsewhere the error names them. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuildStepError, buildLog } from '../../scripts/llm/build-step.ts';
import { commandPath, installDebianPackages } from '../../scripts/llm/build-tools.ts';

/** Returns the path of a command and installs its package if it is missing. @throws BuildStepError */
export async function ensureCommand(command: string, debianPackage: string): Promise<string> {
  const present = commandPath(command);
  if (present !== null) return present;
  await ensureDebianPackage(debianPackage);
  const installed = commandPath(command);
  if (installed === null) throw new BuildStepError(`${command} is missing: install Debian's ${debianPackage}`);
  return installed;
}

/** @throws BuildStepError that names the package, where it cannot be installed */
export async function ensureDebianPackage(name: string): Promise<void> {
  if (process.getuid?.() !== 0 || commandPath('apt-get') === null) {
    throw new BuildStepError(`this test needs Debian's package ${name}: install it, or run as root`);
  }
  await installDebianPackages([name], tmpdir(), buildLog(join(tmpdir(), `citeward-apt-${process.pid}.log`)));
}
