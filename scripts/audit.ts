/**
 * `node scripts/audit.ts`: asks the package registry for known vulnerabilities of the dependencies (`npm audit`), and
 * exits with 1 if there is one that ALLOWED does not explain. A registry that cannot be asked is said, and is no failure.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import * as z from 'zod';
import { parsedJson } from '../src/json.ts';
import type { Result } from '../src/result.ts';

/** Advisories that do not concern this project, by their address, with the reason. Remove what is fixed. */
const ALLOWED: Readonly<Record<string, string>> = {};

const advisorySchema = z.object({ title: z.string(), url: z.string(), severity: z.string() });
const auditSchema = z.object({
  vulnerabilities: z.record(
    z.string(),
    // A text names another package of the list, which has the advisory.
    z.object({ via: z.array(z.union([z.string(), advisorySchema])) }),
  ),
});

/** One line for each advisory (empty = none), or why the registry could not be asked. */
export type Audit = Result<readonly string[], string>;

/** Reads the output of `npm audit --json`. @param allowed advisories that are no problem, by address. */
export function readAudit(output: string, allowed: Readonly<Record<string, string>>): Audit {
  const value = parsedJson(output);
  if (value === undefined) return { ok: false, error: 'npm audit printed no JSON' };
  const audit = auditSchema.safeParse(value);
  if (!audit.success) {
    const failure = z.object({ statusCode: z.number() }).safeParse(value);
    return { ok: false, error: failure.success ? `status ${failure.data.statusCode}` : 'no list of vulnerabilities' };
  }
  const problems = Object.entries(audit.data.vulnerabilities).flatMap(([name, { via }]) =>
    via.flatMap((cause) =>
      typeof cause === 'string' || cause.url in allowed
        ? []
        : [`${name}: ${cause.severity}: ${cause.title} (${cause.url})`],
    ),
  );
  return { ok: true, value: problems };
}

if (import.meta.main) {
  const ran = spawnSync('npm', ['audit', '--json'], {
    cwd: resolve(import.meta.dirname, '..'),
    encoding: 'utf8',
    timeout: 120_000,
    shell: process.platform === 'win32',
  });
  const audit = readAudit(ran.stdout ?? '', ALLOWED);
  if (!audit.ok) console.log(`audit: the registry could not be asked (${audit.error}); nothing was checked`);
  else if (audit.value.length === 0) console.log('audit: no known vulnerability');
  else {
    console.error(`audit: ${audit.value.length} known vulnerabilities\n${audit.value.join('\n')}`);
    process.exitCode = 1;
  }
}
