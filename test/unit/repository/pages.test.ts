/** Markdown files have short lines, print commands in one way, and point at nothing outside the repository. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const MAX_COLUMNS = 120;

const pages = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .stdout.split('\n')
  .filter((page) => page !== '' && existsSync(resolve(root, page)));

/**
 * A command that starts with `citeward`, after a prompt, an assignment, a pipe or nothing, instead of `npx citeward`.
 */
const BARE_COMMAND = /(?:^|[|;&(]|\$\()\s*(?:\$ )?(?:[A-Z_]+=\S* )*citeward [a-z-]/u;

/** The lines of a page that break a rule, as `line: what`. */
function faultsOf(page: string, text: string): string[] {
  let fence: string | null = null;
  return text.split('\n').flatMap((line, index) => {
    const marker = /^\s*(?<marker>```|~~~)/u.exec(line)?.groups?.['marker'] ?? null;
    if (marker !== null && (fence === null || fence === marker)) fence = fence === null ? marker : null;
    const isCode = fence !== null || /^(?: {4}|\t)/u.test(line);
    const faults: string[] = [];
    const columns = [...line].length;
    if (columns > MAX_COLUMNS && !/^\s*(?:\[[^\]]*\]: )?<?https?:\S+$/u.test(line)) faults.push(`${columns} columns`);
    if (line.includes('npm run citeward')) faults.push('npm run citeward: print npx citeward');
    if (isCode && BARE_COMMAND.test(line)) faults.push('citeward as a command: print npx citeward');
    if (/`citeward [^`]*--?[a-z]/u.test(line)) faults.push('citeward with flags: print npx citeward');
    if (/(?:\.\.\/)+shared\/|(?<![\w.:/-])\/(?:home|root|Users|work)\/|(?<![\w/])~\//u.test(line)) {
      faults.push('a path of one machine');
    }
    const targets = [...line.matchAll(/\]\((?<target>\.[^)\s#]*)/gu)].map(({ groups }) => groups?.['target'] ?? '');
    const outside = targets.filter((target) => relative(root, resolve(root, dirname(page), target)).startsWith('..'));
    return [...faults, ...outside].map((fault) => `${index + 1}: ${fault}`);
  });
}

describe('the rules', () => {
  it.each([
    ['a long line', 'x'.repeat(121), '1: 121 columns'],
    ['an old command', 'Run `npm run citeward -- score`.', '1: npm run citeward: print npx citeward'],
    ['a bare command', '```sh\nKEY=x citeward score a.jsonl\n```', '2: citeward as a command: print npx citeward'],
    ['a bare command after a pipe', '    cat a | citeward score -', '1: citeward as a command: print npx citeward'],
    ['flags in a sentence', 'Use `citeward score --json`.', '1: citeward with flags: print npx citeward'],
    ['a path of one machine', 'See /home/me/x.', '1: a path of one machine'],
    ['a neighbour of the repository', 'See ../shared/x.', '1: a path of one machine'],
    ['a link that leaves the repository', '[x](../../x.md)', '1: ../../x.md'],
  ])('refuse %s', (_, text, fault) => {
    expect(faultsOf('docs/page.md', text)).toEqual([fault]);
  });

  it.each([
    ['a line of 120 characters', 'ä'.repeat(120)],
    ['an address alone on its line', `https://example.com/${'x'.repeat(120)}`],
    ['a subcommand as a noun', 'The command `citeward replay` recomputes.'],
    ['a command', '```sh\nKEY=x npx citeward score a.jsonl | npx citeward verify -\n```'],
    ['output', '    citeward: the Worker refused the request'],
    ['a link within', '[x](../README.md)'],
  ])('accept %s', (_, text) => {
    expect(faultsOf('docs/page.md', text)).toEqual([]);
  });
});

describe('the page', () => {
  it.each(pages)('%s', (page) => {
    expect(faultsOf(page, readFileSync(resolve(root, page), 'utf8'))).toEqual([]);
  });
});
