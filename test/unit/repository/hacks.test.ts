/** The page about hacks has the tables of the matrix, and what it says of them is true. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentTable } from '../../../bench/hacks/agent-hacks.ts';
import { HACK_CLASSES } from '../../../bench/hacks/hack-classes.ts';
import { type HackMatrix, hackMatrix } from '../../../bench/hacks/matrix.ts';
import { pageWith } from '../../../bench/hacks/page.ts';
import { countsTable, grammarsTable, hacksTable, paysInFull } from '../../../bench/hacks/tables.ts';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/reference/hacks.md'), 'utf8');

let matrix: HackMatrix;
beforeAll(async () => {
  matrix = await hackMatrix();
});

const paid = (hack: string, setting: string): number =>
  matrix.cells.find((cell) => cell.hack === hack && cell.setting === setting)?.paid ?? Number.NaN;

describe('the page', () => {
  it('has the tables of npm run bench:hacks', async () => {
    const tables = {
      counts: countsTable(matrix),
      hacks: hacksTable(matrix),
      grammars: grammarsTable(matrix),
      agent: await agentTable(),
    };
    expect(pageWith(page, tables), 'npm run bench:hacks -- --write').toBe(page);
    expect(page).toContain(`The ${HACK_CLASSES.length} classes`);
  });
});

describe.each(GRAMMAR_NAMES)('in the grammar %s', (grammar) => {
  const cells = () => matrix.grammars.filter((cell) => cell.grammar === grammar);

  it('every citation hack is reported and pays less than the honest answer', () => {
    const citations = cells().filter(({ changes }) => changes === 'citations');
    expect(citations.length).toBeGreaterThanOrEqual(20);
    expect(citations.filter(({ isReported }) => !isReported)).toEqual([]);
    expect(citations.filter((cell) => Object.values(cell.paid).some(paysInFull))).toEqual([]);
  });

  it('every content hack is reported and pays less than the honest answer', () => {
    const content = cells().filter(({ changes }) => changes === 'content');
    expect(content.length).toBeGreaterThanOrEqual(15);
    expect(content.filter(({ isReported }) => !isReported)).toEqual([]);
    expect(content.filter((cell) => Object.values(cell.paid).some(paysInFull))).toEqual([]);
  });

  it('no honest answer is reported', () => {
    expect(matrix.alarms.filter((alarm) => alarm.grammar === grammar)).toEqual([]);
  });
});

describe('a hack', () => {
  it('of citations only costs most of the reward under a recipe of our own', () => {
    for (const hack of ['constant_id', 'example_id', 'invented_id', 'wrong_document', 'off_topic_document', 'spray'])
      expect(paid(hack, 'own recipe'), hack).toBeLessThan(0.75);
    expect(paid('uncited', 'own recipe')).toBeLessThan(0.5);
  });

  it('that cites nothing in its answer earns 0 if the recipe requires citations', () => {
    for (const hack of ['uncited', 'reasoning_only']) expect(paid(hack, 'citations required'), hack).toBe(0);
  });

  it('that cites the topic alone earns nothing where own criteria are required, and most of it from the published ones', () => {
    expect(paid('topic_alone', 'refiner-guarded')).toBe(0);
    for (const setting of ['refiner-gpt54-instance-rubric', 'refiner-rl-balanced'])
      expect(paid('topic_alone', setting), setting).toBeGreaterThan(0.65);
  });

  it('that cites in its reasoning is paid by the published code, and not by the corrected formula', () => {
    expect(paid('reasoning_only', 'dr-tulu-exact')).toBeGreaterThan(0.95);
    expect(paid('reasoning_only', 'dr-tulu')).toBeLessThan(0.75);
  });

  it('that cites nothing keeps most of its reward where citations weigh little', () => {
    for (const setting of ['refiner-gpt54-instance-rubric', 'dr-tulu', 'dr-tulu-exact'])
      expect(paid('uncited', setting), setting).toBeGreaterThan(0.65);
  });

  it('that cites every page, or right pages for wrong claims, is paid in full by the formula of CaRR', () => {
    for (const setting of ['carr', 'carr-exact']) {
      for (const hack of ['spray', 'wrong_document', 'citation_footer'])
        expect(paysInFull(paid(hack, setting)), `${setting} ${hack}`).toBe(true);
      expect(paid('uncited', setting), setting).toBeCloseTo(0.7, 12);
    }
  });

  it('that denies or hedges its answer earns nothing where the outcome decides', () => {
    for (const setting of ['carr', 'carr-exact', 'longtrace-rl'])
      expect([paid('denial', setting), paid('hedging', setting)], setting).toEqual([0, 0]);
  });

  it('of citations costs nothing under LongTraceRL, unless it leaves no answer', () => {
    const citations = matrix.grammars.filter(
      ({ changes, grammar }) => changes === 'citations' && grammar === 'bracket',
    );
    const losing = citations.filter(({ hack }) => paid(hack, 'longtrace-rl') < 0.97);
    expect(losing.map(({ hack }) => hack)).toEqual([]);
  });
});
