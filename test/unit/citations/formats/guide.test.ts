import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ANSWER_FORMATS } from '../../../../src/citations/formats/names.ts';
import { requestedRollout, scoreRequestSchema } from '../../../../src/wire/score.ts';
import { verifyRequested, verifyRequestSchema } from '../../../../src/wire/verify.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../../docs/guides/answer-formats.md'), 'utf8');
const sections = page.split('\n## ').slice(2);
const examples = sections.map((section): [string, unknown] => {
  const name = section.slice(0, section.indexOf('\n')).toLowerCase().replace(' ', '-');
  return [name, JSON.parse(section.split('```json\n')[1]?.split('```')[0] ?? 'null')];
});

describe('the guide of answer formats', () => {
  it('has an example of every format', () => {
    expect(examples.map(([name]) => name).toSorted()).toEqual([...ANSWER_FORMATS].toSorted());
  });

  it.each(examples)('has a %s answer that is detected and verified without a finding', (name, body) => {
    const result = verifyRequested(verifyRequestSchema.parse(body), 'lexical');
    if (!result.ok) throw new Error(JSON.stringify(result.error));
    const { claims, statements, findings, cited_answer, format } = result.value;
    expect(cited_answer).toEqual({ format: name, findings: [], finding_count: 0 });
    expect({ findings, statements, format }).toEqual({
      findings: [],
      statements: [],
      format: { answer_only: 1, full: 1 },
    });
    expect(claims).toHaveLength(1);
    expect(claims[0]?.text).toMatch(/opened in 1937\.?$/);
    expect(claims[0]?.ids).toMatchObject([{ source: 0 }]);
    expect(claims[0]?.evidence?.support).toBeGreaterThan(0.3);
  });

  it.each(examples)('has a %s answer that becomes a rollout', (name, body) => {
    const request = scoreRequestSchema.parse({
      ...Object(body),
      question: 'When?',
      recipe: 'refiner-gpt54-instance-only',
    });
    const rollout = requestedRollout(request);
    expect(rollout.response).toContain('opened in 1937');
    expect(rollout.sources?.[0]?.text).toBe('It opened in 1937.');
    expect(name).toBeTruthy();
  });
});
