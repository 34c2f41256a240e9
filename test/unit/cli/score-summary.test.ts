/** The summary of `citeward score`: an unscored row never enters the mean. */

import { describe, expect, test } from 'vitest';
import { ScoreSummary } from '../../../cli/commands/score/render.ts';
import { scoringRows } from '../../../cli/commands/score/run.ts';
import { createLocalClient } from '../../../hosts/memory/local-client.ts';
import { createMemoryHost } from '../../../hosts/memory/memory-host.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';

const request = (response: string, extra: object = {}) =>
  scoreRequestSchema.parse({
    question: 'What is x?',
    response,
    sources: [{ id: 'a', text: 'The letter x is the twenty-fourth of the alphabet.' }],
    positive_rubrics: ['Says that x is the twenty-fourth letter of the alphabet.'],
    recipe: 'refiner-gpt54-instance-rubric',
    ...extra,
  });
const CITED = '<answer><snippet id=a>The letter x is the twenty-fourth one of the alphabet.</snippet></answer>';

function localRows() {
  const client = createLocalClient(createMemoryHost());
  return scoringRows({ client, judgeNotices: [], refinerNotices: [], concurrency: 1 }, new Set());
}

describe('summary', () => {
  test('scored, unscored and bad rows; judge calls and stored judgments', async () => {
    const { handle } = localRows();
    const summary = new ScoreSummary();
    summary.add(await handle(request('no answer block')));
    summary.add(await handle(request(CITED)));
    const calls = summary.judgeCalls;
    expect(calls).toBeGreaterThan(0);
    summary.add(await handle(request(CITED)));
    expect([summary.judgeCalls, summary.cached]).toEqual([calls, calls]);
    expect(summary.isComplete).toBe(true);
    const mean = /mean reward ([\d.]+)/.exec(summary.text(1))?.[1];

    summary.add(await handle(request(CITED, { judgments: 'skip' })));
    expect(summary.isComplete).toBe(true);
    summary.add({ kind: 'failed', reason: 'judgment_missing', detail: '' });
    expect(summary.isComplete).toBe(false);
    summary.add({ kind: 'refused', problems: [] });
    expect(summary.text(1)).toBe(
      `3 rows scored · mean reward ${mean} · unscored: 1 judgment_skipped, 1 judgment_missing · 1 bad line · ` +
        `${calls} judge calls · ${calls} stored judgments · 1.0 s`,
    );
    expect(summary.madeBy()).toMatch(/^recipe refiner-gpt54-instance-rubric · judge citeward-lexical-\d+$/);
  });

  test('warns of claims in a language that the lexical judge does not know, and names them in the reply', async () => {
    const { handle } = localRows();
    const sources = [{ id: 'a', text: 'De brug van de stad werd in 1937 geopend en is van rode zandsteen.' }];
    const dutch = '<answer><snippet id=a>De brug van de stad is niet van rode zandsteen.</snippet></answer>';
    const summary = new ScoreSummary();
    summary.add(await handle(request(CITED)));
    expect(summary.warnings().join()).not.toContain('unknown language');
    const result = await handle(request(dutch, { sources }));
    expect(result).toMatchObject({ reply: { claims: [{ unknown_language: true }] } });
    summary.add(result);
    expect(summary.warnings().join()).toContain('unknown language: in 1 row the lexical judge does not know');
  });

  test('one bad line makes the run incomplete', () => {
    const summary = new ScoreSummary();
    expect(summary.isComplete).toBe(true);
    summary.add({ kind: 'refused', problems: [] });
    expect(summary.isComplete).toBe(false);
    expect(summary.madeBy()).toBe('');
  });
});

test('a row that names another judge is refused', async () => {
  expect(await localRows().handle(request(CITED, { judge: 'gpt' }))).toEqual({
    kind: 'refused',
    problems: [{ field: 'judge', message: 'expected one of lexical' }],
  });
});
