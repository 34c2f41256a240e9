/**
 * Takes the descriptions of schema fields out of compiled code. They are for the Worker's OpenAPI document, which is
 * made from the source, and would be 6 KB of a bundle with `createScorer`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseAst } from 'vite';

/** Rewrites every module in a folder. */
export function withoutFieldDescriptions(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.js')) continue;
    const path = resolve(folder, entry);
    const code = readFileSync(path, 'utf8');
    const calls = code.includes('.describe(') ? describeCalls(parseAst(code)) : [];
    if (calls.length > 0)
      writeFileSync(
        path,
        calls.reduceRight((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), code),
      );
  }
}

/** The ranges of `.describe(TEXT)` after each schema, in order. */
function describeCalls(node: unknown): (readonly [from: number, to: number])[] {
  if (Array.isArray(node)) return node.flatMap(describeCalls);
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(describeCalls);
  const own = isDescribeCall(node) ? [[node.callee.object.end, node.end] as const] : [];
  return [...inner, ...own].sort(([one], [other]) => one - other);
}

type DescribeCall = { readonly end: number; readonly callee: { readonly object: { readonly end: number } } };

function isDescribeCall(node: object): node is DescribeCall {
  if (!('type' in node && 'callee' in node) || node.type !== 'CallExpression') return false;
  const { callee } = node;
  if (typeof callee !== 'object' || callee === null || !('property' in callee)) return false;
  const { property } = callee;
  return typeof property === 'object' && property !== null && 'name' in property && property.name === 'describe';
}
