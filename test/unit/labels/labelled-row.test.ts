/** Labelled rows: what is read, what is asked of a judge, and what a wrong row is told. */
import { describe, expect, test } from 'vitest';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { waysOfAsking } from '../../../src/labels/label-probes.ts';
import { labelRequest, levelOfVerdict } from '../../../src/labels/label-request.ts';
import {
  labelFormatOf,
  labelledRowFields,
  readLabelledRow,
  readLabelQuestion,
} from '../../../src/labels/labelled-row.ts';
import { CLAIM_FIELDS, CRITERION_FIELDS, labelled, STATEMENT_FIELDS } from './label-rows.ts';

function problemsOf(fields: Readonly<Record<string, unknown>>): string[] {
  const read = readLabelledRow(fields, labelFormatOf(fields) ?? 'rows');
  return read.ok ? [] : read.error.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('our own rows', () => {
  test.each([
    ['criterion', CRITERION_FIELDS, 2],
    ['claim', CLAIM_FIELDS, 2],
    ['needs_citation', STATEMENT_FIELDS, 1],
  ])('%s: is read, and written as it was', (_kind, fields, level) => {
    const row = labelled(fields);
    expect(row.level).toBe(level);
    expect(labelledRowFields(row)).toEqual(fields);
  });

  test('ratings, reason and adversarial are kept', () => {
    const fields = {
      ...CLAIM_FIELDS,
      reason: 'said',
      adversarial: true,
      ratings: [{ rater: 'Ada', label: 'partial' }],
    };
    expect(labelledRowFields(labelled(fields))).toEqual(fields);
  });

  test.each([
    [{ ...CRITERION_FIELDS, label: 3 }, ['label: expected one of 0, 1, 2']],
    [{ ...CRITERION_FIELDS, label: undefined }, ['label: required: one of 0, 1, 2']],
    [{ ...CRITERION_FIELDS, answer: undefined }, ['answer: required: a string']],
    [{ ...CRITERION_FIELDS, criterion: {} }, ['criterion.description: required: a string']],
    [{ ...CRITERION_FIELDS, kind: 'verdict' }, ['kind: expected one of "criterion", "claim", "needs_citation"']],
    [{ ...CRITERION_FIELDS, lable: 2 }, ['lable: unknown field']],
    [{ ...CLAIM_FIELDS, label: 2 }, ['label: expected one of "unsupported", "partial", "supported"']],
    [{ ...CLAIM_FIELDS, cites: ['S2', 'S3'] }, ['cites.1: expected the id of one of the sources']],
    [{ ...CLAIM_FIELDS, cites: [] }, ['cites: expected at least 1 entries']],
    [
      { ...CLAIM_FIELDS, sources: [...CLAIM_FIELDS.sources, CLAIM_FIELDS.sources[0]] },
      ['sources.0.id: expected an id that no other source has'],
    ],
    [{ ...STATEMENT_FIELDS, label: undefined }, ['label: required: one of false, true']],
  ])('a wrong row names the field and what is expected (%#)', (fields, problems) => {
    expect(problemsOf(JSON.parse(JSON.stringify(fields)))).toEqual(problems);
  });

  test('a row to be labelled needs no label, and the label that it has is not read', () => {
    const { label: _label, ...unlabelled } = CLAIM_FIELDS;
    expect(readLabelQuestion(unlabelled, 'rows')).toEqual(readLabelQuestion(CLAIM_FIELDS, 'rows'));
    expect(JSON.stringify(readLabelQuestion(CLAIM_FIELDS, 'rows'))).not.toContain('supported');
  });
});

describe('public sets', () => {
  test('claims: the evidence is the cited source, edit types are kept', () => {
    const row = labelled({ set: 's', id: 7, claim: 'c', evidence: 'e', label: 'partial', edit_types: ['a', 'b'] });
    expect(row).toMatchObject({ id: '7', level: 1, edits: ['a', 'b'], question: null });
    expect(labelRequest(row).request).toEqual({
      kind: 'citations',
      question: '(not known)',
      sources: [{ id: 'evidence', text: 'e' }],
      claims: [{ claim: 0, text: 'c', sources: [0] }],
      statements: [],
    });
  });

  test('statements of long answers', () => {
    const row = labelled({ set: 's', question: 'q', statement: 'It rains.', needs_citation: false });
    expect(row).toMatchObject({ level: 0, question: 'q', asked: { kind: 'needs_citation' } });
    expect(problemsOf({ set: 's', statement: 'x' })).toEqual(['needs_citation: required: one of false, true']);
    expect(problemsOf({ set: 's', statement: 'x', needs_citation: 'no' })).toEqual([
      'needs_citation: expected a boolean, got a string',
    ]);
  });

  test('a row without a field of labelled rows is a rollout', () => {
    expect(labelFormatOf({ question: 'q', response: 'r' })).toBeNull();
  });
});

describe('what a judge is asked', () => {
  test('the level of a verdict is that of the label which says the same', () => {
    for (const fields of [CRITERION_FIELDS, CLAIM_FIELDS, STATEMENT_FIELDS]) {
      const row = labelled(fields);
      expect(levelOfVerdict(row, judgeLexically(labelRequest(row).request))).toBe(row.level);
    }
    expect(() => levelOfVerdict(labelled(CLAIM_FIELDS), { kind: 'rubric', criteria: [] })).toThrow('do not answer');
  });

  test('a criterion: alone, first and last of four, with a padded answer, with the sources reversed', () => {
    const row = labelled(CRITERION_FIELDS);
    const { request, cited } = labelRequest(row);
    expect(cited).toEqual(new Set([0]));
    const { measured, others } = waysOfAsking(row, request, { judging: 'per_criterion', batch: 2 });
    expect(measured).toEqual({ way: 'alone', request, position: 0 });
    const shapes = others.map(({ way, request: other, position }) => {
      if (other.kind !== 'rubric') throw new Error('another kind');
      expect(other.criteria[position]).toEqual(CRITERION_FIELDS.criterion);
      return [
        way,
        other.criteria.length,
        position,
        other.answer.length > CRITERION_FIELDS.answer.length,
        other.sources[0]?.id,
      ];
    });
    expect(shapes).toEqual([
      ['first_of_four', 4, 0, false, 'S1'],
      ['last_of_four', 4, 3, false, 'S1'],
      ['padded_answer', 1, 0, true, 'S1'],
      ['sources_reversed', 1, 0, false, 'S2'],
    ]);
  });

  test('judged jointly, padding and order of sources are measured on the joint request', () => {
    const row = labelled(CRITERION_FIELDS);
    const { measured, others } = waysOfAsking(row, labelRequest(row).request, { judging: 'joint', batch: 2 });
    expect(measured.way).toBe('first_of_four');
    const sizes = others.map(({ way, request }) => [way, request.kind === 'rubric' ? request.criteria.length : 0]);
    expect(Object.fromEntries(sizes)).toEqual({ alone: 1, last_of_four: 4, padded_answer: 4, sources_reversed: 4 });
  });

  test('a claim keeps its cited source when the sources are reversed; padding is not asked about padding', () => {
    const claim = labelled(CLAIM_FIELDS);
    const [reversed] = waysOfAsking(claim, labelRequest(claim).request, { judging: 'per_criterion', batch: 2 }).others;
    if (reversed?.request.kind !== 'citations') throw new Error('no citations request');
    const [{ sources = [] } = {}] = reversed.request.claims;
    expect(sources.map((at) => reversed.request.kind === 'citations' && reversed.request.sources[at]?.id)).toEqual([
      'S2',
    ]);
    const padding = labelled({ ...CRITERION_FIELDS, edit: 'padding', sources: [] });
    const ways = waysOfAsking(padding, labelRequest(padding).request, {
      judging: 'per_criterion',
      batch: 2,
    }).others.map(({ way }) => way);
    expect(ways).toEqual(['first_of_four', 'last_of_four']);
  });
});
