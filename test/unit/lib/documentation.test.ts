/**
 * Every name that the package exports is documented where it is declared, and what people call first has an example.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

/** An exported name, with the documentation comment of its declaration; empty = none. */
type Export = { readonly name: string; readonly isValue: boolean; readonly comment: string };

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

const REEXPORT = /^export (?<type>type )?\{(?<names>[^}]*)\} from '(?<from>\.[^']*)';/gmu;
const DECLARATION =
  /(?<comment>\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^export (?:declare |abstract |async )*(?<form>function\*?|const|class|type|interface) (?<name>\w+)/gmu;

/** The exports of a file, re-exports followed to their declarations. Packages such as zod document themselves. */
function exportsOf(file: string): readonly Export[] {
  const text = read(file);
  const own = [...text.matchAll(DECLARATION)].map(({ groups }): Export => {
    const { comment = '', form, name = '' } = groups ?? {};
    return { name, isValue: form !== 'type' && form !== 'interface', comment };
  });
  const others = [...text.matchAll(REEXPORT)].flatMap(({ groups }) => {
    const declared = exportsOf(resolve(dirname(file), groups?.['from'] ?? ''));
    return (groups?.['names'] ?? '').split(',').flatMap((entry): Export[] => {
      const [original = '', alias = original] = entry
        .trim()
        .replace(/^type /u, '')
        .split(' as ');
      if (original === '') return [];
      const found = declared.find(({ name }) => name === original);
      if (found === undefined) throw new Error(`${file}: the declaration of ${original} was not found`);
      return [{ ...found, name: alias }];
    });
  });
  // An overloaded function is declared several times; the first declaration has the comment.
  const all = [...own, ...others];
  return all.filter(({ name }, position) => all.findIndex((one) => one.name === name) === position);
}

const { exports }: { exports: Readonly<Record<string, string>> } = JSON.parse(read(resolve(root, 'package.json')));
const entries = Object.entries(exports).filter(([, file]) => file.endsWith('.ts'));

describe.each(entries)('citeward %s', (entry, file) => {
  const names = exportsOf(resolve(root, file));

  it('documents every name', () => {
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter(({ comment }) => comment === '').map(({ name }) => name)).toEqual([]);
  });

  if (['.', './node', './workers'].includes(entry)) {
    it('shows an example of every value', () => {
      const values = names.filter(({ isValue }) => isValue);
      const constants = ['InputError', 'lexicalJudge'];
      const without = values.filter(({ name, comment }) => !comment.includes('@example') && !constants.includes(name));
      expect(without.map(({ name }) => name)).toEqual([]);
    });
  }
});
