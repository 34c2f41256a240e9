/** The probe page in Chromium: pasted rows, the table, changes without a judge, samples, errors. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAX_PROBE_ROWS } from '../../src/limits.ts';
import { audit, DESK, type Look, PHONE } from './dashboard-browser.ts';
import { DashboardDeployment, shoot } from './dashboard-deployment.ts';
import { INSTALL_MS } from './processes.ts';

let deployment: DashboardDeployment;

beforeAll(async () => {
  deployment = await DashboardDeployment.start();
}, INSTALL_MS);

afterAll(async () => {
  await deployment?.stop();
});

/** A row whose second source answers, with three samples. */
function rowOf(n: number): Readonly<Record<string, unknown>> {
  const samples = [
    `Footbridge ${n} was opened in the year ${1900 + n}. [S2]`,
    'I do not know.',
    'The valley has many orchards. [S1]',
  ];
  return {
    question: `In which year was footbridge ${n} opened?`,
    tool_output:
      '<snippet id=S1>The valley has many orchards and a fair in June.</snippet>\n' +
      `<snippet id=S2>The council met often. Footbridge ${n} was opened in the year ${1900 + n}.</snippet>`,
    positive_rubrics: [`States that footbridge ${n} was opened in the year ${1900 + n}`],
    responses: samples.map((text, at) => ({ response: `<answer>${text}</answer>`, outcome: at === 0 ? 1 : 0 })),
  };
}

async function probe(page: Page, rows: readonly unknown[], fields = ''): Promise<void> {
  await page.getByRole('textbox', { name: /^Rows/u }).fill(rows.map((row) => JSON.stringify(row)).join('\n'));
  await page.getByLabel('Other fields, as JSON').fill(fields);
  await page.getByRole('button', { name: 'Probe', exact: true }).click();
}

const FIELDS = '{"grammar": "bracket", "citations": "required"}';
const COPY = 'copies and cites the first sentence of source 1';

async function cellsOf(page: Page, answer: string): Promise<string[]> {
  const row = page.getByRole('region', { name: 'Answers' }).getByRole('row').filter({ hasText: answer }).first();
  return (await row.getByRole('cell').allTextContents()).map((text) => text.trim());
}

const WIDE: Look = { width: 1400, height: 900, theme: 'light' };
const LOOKS: readonly (readonly [string, Look])[] = [
  ['desk', WIDE],
  ['desk-dark', { ...WIDE, theme: 'dark' }],
  ['phone-dark', PHONE],
  ['phone', { ...PHONE, theme: 'light' }],
];

it.each(LOOKS)('shows what answers earn, on %s', async (place, look) => {
  await deployment.onPage('#/probe/refiner-rl-balanced', look, async ({ page }) => {
    expect(await page.getByRole('combobox', { name: /^Recipe/u }).inputValue()).toBe('refiner-rl-balanced');
    await shoot(page, `probe-${place}-empty`);
    await probe(
      page,
      Array.from({ length: MAX_PROBE_ROWS + 1 }, (_, n) => rowOf(n)),
      FIELDS,
    );
    await page.getByRole('region', { name: 'Answers' }).waitFor();
    expect(await cellsOf(page, COPY)).toEqual(['7.50', '75 %', expect.stringMatching(/^\w+=\S+ \d+ %$/u)]);
    expect(await cellsOf(page, 'says "It" and cites')).toEqual(['2.50', '25 %', '']);
    const samples = page.getByRole('region', { name: 'Samples' });
    expect(await samples.getByText('17 of 17').count()).toBe(1);
    expect(await samples.locator('dd').allTextContents()).toContain('1.00');
    expect(await audit(page)).toEqual([]);
    await shoot(page, `probe-${place}`);
  });
});

it('replays changed fields in the browser, by a suggestion or by hand', async () => {
  await deployment.onPage('#/probe/refiner-rl-balanced', DESK, async ({ page }) => {
    await probe(page, [rowOf(1), rowOf(2)]);
    await page.getByRole('region', { name: 'Answers' }).waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const own = page.getByRole('region', { name: 'Recipe', exact: true });
    await own.getByLabel('instance rubrics only', { exact: true }).check();
    const [reward, share, changed] = await cellsOf(page, COPY);
    expect([reward, share, changed]).toEqual(['7.50', '75 %', '50 %']);
    await own.getByRole('button', { name: 'Reset', exact: true }).click();
    await page.getByRole('region', { name: 'Warnings' }).getByRole('button').first().click();
    await page.getByText('replayed in this browser on the same judgments').waitFor();
    expect(requests).toEqual([]);
    await shoot(page, 'probe-changed');
  });
});

it('says what is wrong with rows, fields and requests', async () => {
  await deployment.onPage('#/probe', DESK, async ({ page }) => {
    const alert = page.getByRole('alert');
    await probe(page, [{ ...rowOf(1), qestion: 'x' }]);
    await alert.getByText('line 1: qestion: unknown field').waitFor();
    await probe(page, [rowOf(1)], '{"citation_wieght": 1}');
    await alert.getByText('recipe.citation_wieght').waitFor();
    await probe(page, [rowOf(1)], 'citations');
    await alert.getByText('expected a JSON object').waitFor();
    expect(await audit(page)).toEqual([]);
  });
  // A refused request is a console error of the browser, so this page is not opened by onPage.
  const { positive_rubrics: _, ...bare } = rowOf(2);
  const reply = await deployment.call('/v1/recipes/probe', { recipe: 'refiner-rl-balanced', rows: [rowOf(1)] });
  expect(reply.status).toBe(200);
  await expect(
    deployment.call('/v1/recipes/probe', { recipe: 'refiner-rl-balanced', rows: [rowOf(1), bare] }),
  ).rejects.toThrow('rows[1].positive_rubrics');
});

it('takes the example rows, and is linked from the playground', async () => {
  await deployment.onPage('#/playground', DESK, async ({ page }) => {
    await page.getByRole('link', { name: /^Probe refiner/u }).click();
    await page.getByRole('button', { name: 'Use the example rows' }).click();
    await page.getByRole('button', { name: 'Probe', exact: true }).click();
    await page.getByRole('region', { name: 'Answers' }).waitFor();
    expect(await page.getByRole('region', { name: 'Warnings' }).getByText('19', { exact: true }).count()).toBe(1);
    await shoot(page, 'probe-examples');
  });
});
