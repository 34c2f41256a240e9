/**
 * `npm run dev` runs the same Worker as a deployment: the two configurations bind the same names, and differ only in
 * AI.
 */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unstable_readConfig } from 'wrangler';

const root = resolve(import.meta.dirname, '../..');

function configOf(file: string): Readonly<Record<string, unknown>> {
  return { ...unstable_readConfig({ config: resolve(root, file) }, { hideWarnings: true }) };
}

/** Kind and name of every binding, wherever a configuration defines it. */
function bindingsOf(config: unknown, kind = ''): string[] {
  if (Array.isArray(config)) return config.flatMap((member) => bindingsOf(member, kind));
  if (typeof config !== 'object' || config === null) return [];
  const name: unknown =
    Reflect.get(config, 'binding') ?? (kind.startsWith('durable_objects') ? Reflect.get(config, 'name') : undefined);
  const own = typeof name === 'string' ? [`${kind} ${name}`] : [];
  return [
    ...own,
    ...Object.entries(config).flatMap(([key, value]) => bindingsOf(value, kind === '' ? key : `${kind}.${key}`)),
  ];
}

describe('the configuration of npm run dev', () => {
  const deployed = configOf('wrangler.toml');
  const dev = configOf('wrangler.dev.toml');

  it('binds the same names, and AI to the fake', () => {
    const production = bindingsOf(deployed);
    expect(production).toContain('kv_namespaces JUDGMENTS');
    expect(production).toContain('ai AI');
    expect(bindingsOf(dev).toSorted()).toEqual(
      production.map((binding) => (binding === 'ai AI' ? 'services AI' : binding)).toSorted(),
    );
    expect(dev['services']).toMatchObject([{ binding: 'AI', service: configOf('fake-ai/wrangler.toml')['name'] }]);
  });

  it('has the same settings, but for what opens it', () => {
    for (const field of [
      'name',
      'main',
      'compatibility_date',
      'migrations',
      'kv_namespaces',
      'durable_objects',
      'dev',
    ]) {
      expect(dev[field], field).toEqual(deployed[field]);
    }
    expect(dev['compatibility_flags']).toEqual([...flagsOf(deployed), 'enable_abortsignal_rpc']);
    expect(namesOf(dev['vars'])).toEqual(namesOf(deployed['vars']));
  });
});

function flagsOf(config: Readonly<Record<string, unknown>>): unknown[] {
  const flags = config['compatibility_flags'];
  return Array.isArray(flags) ? flags : [];
}

function namesOf(variables: unknown): string[] {
  return typeof variables === 'object' && variables !== null ? Object.keys(variables).toSorted() : [];
}
