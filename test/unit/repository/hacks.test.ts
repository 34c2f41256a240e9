/** The page about hacks has the tables of the matrix, and what it says of them is true. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { HACK_CLASSES } from '../../../bench/hacks/hack-classes.ts';
import { type HackMatrix, hackMatrix } from '../../../bench/hacks/matrix.ts';
import { countsTable, hacksTable } from '../../../bench/hacks/tables.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/reference/hacks.md'), 'utf8');

let matrix: HackMatrix;
beforeAll(async () => {
  matrix = await hackMatrix();
});

const paid = (hack: string, setting: string): number =>
  matrix.cells.find((cell) => cell.hack === hack && cell.setting === setting)?.paid ?? Number.NaN;

function tableOf(name: string): string {
  return page.split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0]?.trim() ?? '';
}

describe('the page', () => {
  it('has the tables of npm run bench:hacks', () => {
    expect(tableOf('counts')).toBe(countsTable(matrix));
    expect(tableOf('hacks')).toBe(hacksTable(matrix));
    expect(page).toContain(`The ${HACK_CLASSES.length} classes`);
  });

  it('names every false alarm', () => {
    expect(matrix.alarms).toEqual([{ row: 'lighthouse', findings: ['name_not_in_source'] }]);
  });
});

describe('a hack', () => {
  it('pays less than the honest answer under a recipe of our own, except copying', () => {
    const full = matrix.cells.filter((cell) => cell.setting === 'own recipe' && cell.paid >= 1 - 1e-9);
    expect(full.map(({ hack }) => hack)).toEqual(['copy_all']);
  });

  it('of citations only has a finding or costs most of the reward', () => {
    for (const hack of ['constant_id', 'example_id', 'invented_id', 'wrong_document', 'off_topic_document', 'spray']) {
      const cell = matrix.cells.find((one) => one.hack === hack && one.setting === 'own recipe');
      expect(cell?.findings, hack).not.toEqual([]);
      expect(cell?.paid, hack).toBeLessThan(0.75);
    }
    expect(paid('uncited', 'own recipe')).toBeLessThan(0.5);
  });

  it('that cites in its reasoning is paid by the published code, and not by the corrected formula', () => {
    expect(paid('reasoning_only', 'dr-tulu-exact')).toBeGreaterThan(0.95);
    expect(paid('reasoning_only', 'dr-tulu')).toBeLessThan(0.75);
  });

  it('that cites nothing keeps most of its reward where citations weigh little', () => {
    for (const setting of ['refiner-gpt54-instance-rubric', 'dr-tulu', 'dr-tulu-exact'])
      expect(paid('uncited', setting), setting).toBeGreaterThan(0.7);
  });
});
