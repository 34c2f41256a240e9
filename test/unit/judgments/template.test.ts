/**
 * A template digest is part of every key of its kind, so it must change with the texts, schemas and harnesses of the
 * kind.
 */
import { describe, expect, it } from 'vitest';
import { digestJson } from '../../../src/digest.ts';
import { JUDGMENT_KINDS } from '../../../src/judgments/kinds/names.ts';
import { kindOf } from '../../../src/judgments/kinds/registry.ts';
import { READER_TEMPLATE, SANDBOX_TEMPLATE } from '../../../src/judgments/protocol/frozen-templates.ts';

const EXECUTION_SOURCE = '22f1a3b127a09e2ae828b681eab422f1491e536dbde251709c04640c797404d6';

const KINDS = JUDGMENT_KINDS.map(kindOf);

/** The digest of several kinds' sources merged into one, as the oldest kinds share it. */
function sharedDigest(template: string): string {
  const sources = KINDS.filter((kind) => kind.template === template).map((kind): object => kind.templateSource());
  const texts = sources.map((source) => ('texts' in source ? source.texts : undefined));
  const merged: object = Object.assign({}, ...sources);
  return digestJson('texts' in merged ? { ...merged, texts: Object.assign({}, ...texts) } : merged);
}

describe('after a change of prompt, schema, data block, harness or reader', () => {
  it('rubric, citations and outcome need a new shared digest', () => {
    expect(READER_TEMPLATE).toBe(sharedDigest(READER_TEMPLATE));
  });

  it('execution needs a digest of its own', () => {
    // What SANDBOX_TEMPLATE stands for since `equivalence` has its own digest. If this changes, so must the template.
    expect(digestJson(kindOf('execution').templateSource())).toBe(EXECUTION_SOURCE);
  });

  const own = KINDS.filter(({ template }) => template !== READER_TEMPLATE && template !== SANDBOX_TEMPLATE);
  it('any other kind needs a new digest of its own', async () => {
    for (const kind of own) expect([kind.kind, kind.template]).toEqual([kind.kind, digestJson(kind.templateSource())]);
  });
});

it('the four oldest kinds keep the digests that stored keys contain', () => {
  expect(KINDS.filter(({ template }) => template === READER_TEMPLATE).map(({ kind }) => kind)).toEqual([
    'rubric',
    'citations',
    'outcome',
  ]);
  expect(KINDS.filter(({ template }) => template === SANDBOX_TEMPLATE).map(({ kind }) => kind)).toEqual(['execution']);
});
