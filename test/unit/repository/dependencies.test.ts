/** Where dependencies come from and under which licences: the lock file and what is installed, without a network. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readAudit } from '../../../scripts/audit.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Licences whose code may be part of a work under Apache-2.0. */
const SHIPPED = new Set(['MIT', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', '0BSD']);
/** Further ones of tools that build and test, and are in no artifact. */
const TOOLS = new Set([...SHIPPED, 'MIT OR Apache-2.0', 'CC0-1.0', 'Unlicense', 'MPL-2.0']);
/** Native parts of a tool's image library, which nothing here uses. */
const SHARP = /^@img\/sharp-/u;

const packageSchema = z.object({
  version: z.string(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
});
const lockSchema = z.object({ packages: z.record(z.string(), packageSchema) });
const manifestSchema = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
  allowScripts: z.record(z.string(), z.boolean()),
});

const json = (path: string): unknown => JSON.parse(readFileSync(resolve(root, path), 'utf8'));
const manifest = manifestSchema.parse(json('package.json'));
const locked = Object.entries(lockSchema.parse(json('package-lock.json')).packages).flatMap(([path, one]) => {
  const name = path.replace(/^.*node_modules\//u, '');
  return path === '' ? [] : [{ path, name, ...one }];
});

describe('a dependency', () => {
  it('is pinned to a version and to a digest of its content', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const ranges = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(ranges.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/u.test(version))).toEqual([]);
    expect(locked.filter(({ integrity }) => integrity?.startsWith('sha512-') !== true)).toEqual([]);
  });

  it('has a licence that fits Apache-2.0', () => {
    const wrong = locked.filter(({ name, license = 'none', dev, devOptional }) => {
      const isTool = dev === true || devOptional === true;
      return !(isTool ? TOOLS.has(license) || SHARP.test(name) : SHIPPED.has(license));
    });
    expect(wrong.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  });

  it('says the same where it is installed', () => {
    const installed = locked.filter(({ path }) => existsSync(resolve(root, path, 'package.json')));
    expect(installed.length).toBeGreaterThan(50);
    const found = installed.map(({ path }) => z.object({ license: z.string() }).parse(json(`${path}/package.json`)));
    expect(found.map(({ license }) => license)).toEqual(installed.map(({ license }) => license));
  });

  it('runs no script when it is installed', () => {
    const scripted = locked.filter(({ hasInstallScript }) => hasInstallScript === true).map(({ name }) => name);
    expect(scripted.filter((name) => manifest.allowScripts[name] !== false)).toEqual([]);
  });
});

describe('the audit', () => {
  const advisory = { title: 'Reads beyond the end', url: 'https://advisories.example/1', severity: 'high' };
  const vulnerable = JSON.stringify({ vulnerabilities: { a: { via: [advisory] }, b: { via: ['a'] } } });

  it('names each vulnerability once, unless it is explained', () => {
    const problems = ['a: high: Reads beyond the end (https://advisories.example/1)'];
    expect(readAudit(vulnerable, {})).toEqual({ ok: true, value: problems });
    expect(readAudit(vulnerable, { [advisory.url]: 'not used' })).toEqual({ ok: true, value: [] });
    expect(readAudit('{"vulnerabilities": {}}', {})).toEqual({ ok: true, value: [] });
  });

  it('that could not ask found nothing, and says so', () => {
    expect(readAudit('{"message": "no", "statusCode": 405}', {})).toEqual({ ok: false, error: 'status 405' });
    for (const output of ['', '{}', '{"error": {}}']) expect(readAudit(output, {}).ok).toBe(false);
  });
});
