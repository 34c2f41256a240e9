/** The structure of the code: who may import whom, and that no rooms depend on each other. A room is a folder. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, repositoryFiles, root } from './imports.ts';

const TOPS = [
  'src',
  'lib',
  'service',
  'hosts',
  'functions',
  'serve',
  'cli',
  'dashboard/src',
  'clients/typescript',
] as const;

/** Floors of src/, ground first: a file imports files of its own floor and of those below. */
const FLOORS: readonly string[] = [
  'text',
  'lexical',
  'tools',
  'citations',
  'trajectory',
  'judgments',
  'rubrics',
  'family',
  'families',
  'generation',
  'agent',
  'scoring',
  'runs',
  'labels',
  'probe',
  'wire',
];

/** Files outside a family's folder that may import from it. Add one only if it needs this one family by nature. */
const FAMILY_IMPORTERS: Readonly<Record<string, readonly string[]>> = {
  // The lists of families, what each family's reward divides into, and the exact ports that the package offers.
  '*': ['src/families/list.ts', 'src/scoring/reward-steps.ts', 'lib/exact.ts'],
  // `refine` generates answers for the refiner; the CLI shows its findings and checks its criteria.
  refiner: ['src/generation/refine-plan.ts', 'cli/commands/judge/criteria-check.ts', 'cli/shared/remarks.ts'],
  // The adapter of CaRR speaks the wire of that trainer, on the route of LongTraceRL.
  carr: ['src/wire/adapters/carr.ts', 'functions/http/adapters/longtracerl.ts'],
  // The adapter of LongTraceRL speaks the wire of that trainer.
  'long-trace': ['src/wire/adapters/longtracerl.ts', 'functions/http/adapters/longtracerl.ts'],
  // The agent produces trajectories of this family.
  'tool-call': ['src/wire/agent-reply.ts', 'service/agent.ts'],
};

const files = repositoryFiles();
const code = files.filter((file) => /\.(?:ts|tsx|mjs)$/u.test(file) && TOPS.some((top) => file.startsWith(`${top}/`)));
const imports = importsOf(code);

/** The folder of a file; a file directly in a top folder is a room of its own. */
function roomOf(file: string): string {
  const folder = dirname(file);
  return TOPS.some((top) => top === folder) ? file : folder;
}

/** All imports within one top folder that cross a border between rooms. */
function borders(top: string): { readonly from: string; readonly to: string; readonly file: string }[] {
  return [...imports].flatMap(([file, targets]) =>
    file.startsWith(`${top}/`)
      ? targets
          .filter((target) => target.startsWith(`${top}/`) && roomOf(target) !== roomOf(file))
          .map((target) => ({ from: roomOf(file), to: roomOf(target), file: `${file} -> ${target}` }))
      : [],
  );
}

/** Strongly connected sets of more than one file (Tarjan). */
function circles(): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    open.push(file);
    let low = own;
    for (const target of imports.get(file) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    lowest.set(file, low);
    if (low === own) {
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1) found.push(circle.sort());
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return found;
}

describe('imports', () => {
  it.each(TOPS)('of %s have no two rooms that import each other', (top) => {
    const crossing = borders(top);
    const known = new Set(crossing.map(({ from, to }) => `${from} ${to}`));
    expect(crossing.filter(({ from, to }) => known.has(`${to} ${from}`)).map(({ file }) => file)).toEqual([]);
  });

  it('form no circle, type imports included', () => {
    expect(circles()).toEqual([]);
  });

  it('of src/ never lead to a higher floor', () => {
    const floorOf = (file: string): number => {
      const [, folder = ''] = file.split('/');
      // Files directly in src/ are below the ground floor.
      return file.split('/').length === 2 ? -1 : FLOORS.indexOf(folder);
    };
    const ofSrc = [...imports].filter(([file]) => file.startsWith('src/'));
    const unknown = ofSrc.filter(([file]) => file.split('/').length > 2 && floorOf(file) === -1);
    expect(unknown.map(([file]) => file)).toEqual([]);
    const upward = ofSrc.flatMap(([file, targets]) =>
      targets.filter((target) => floorOf(target) > floorOf(file)).map((target) => `${file} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  it('of a family come from the family itself and from the files listed for it', () => {
    const familyOf = (file: string): string | null =>
      /^src\/families\/(?<name>[^/]+)\//u.exec(file)?.groups?.['name'] ?? null;
    const importers = new Map<string, Set<string>>();
    for (const [file, targets] of imports) {
      for (const target of targets) {
        const family = familyOf(target);
        if (family === null || family === familyOf(file)) continue;
        const known = FAMILY_IMPORTERS['*']?.includes(file) === true ? '*' : family;
        importers.set(known, (importers.get(known) ?? new Set()).add(file));
      }
    }
    const found = Object.fromEntries([...importers].map(([family, names]) => [family, [...names].sort()]));
    const listed = Object.entries(FAMILY_IMPORTERS).map(([family, names]) => [family, [...names].sort()]);
    expect(found).toEqual(Object.fromEntries(listed));
  });
});

describe('tests', () => {
  it('replace no module of the project: dependencies are passed in', () => {
    const mocking = files
      .filter((file) => file.startsWith('test/') && file.endsWith('.ts'))
      .filter((file) => /\bvi\.(?:do)?mock\(\s*(?:import\()?['"]\./iu.test(readFileSync(resolve(root, file), 'utf8')));
    expect(mocking).toEqual([]);
  });
});
