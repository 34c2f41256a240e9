/** Files that a person opens in the dashboard: by the button, by dropping them, and those that it refuses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit, DESK, PHONE } from './dashboard-browser.ts';
import { DashboardDeployment, RECIPE, shoot } from './dashboard-deployment.ts';
import { root } from './processes.ts';

let deployment: DashboardDeployment;

beforeAll(async () => {
  deployment = await DashboardDeployment.start();
}, 300_000);

afterAll(() => deployment?.stop());

type Opened = { readonly name: string; readonly text: string };

const rollouts = readFileSync(join(root, 'examples/rollouts.jsonl'), 'utf8').split('\n').slice(0, 3).join('\n');
const SOURCE = 'The Aare is 288 kilometres long.';

function choose(page: Page, files: readonly Opened[]): Promise<void> {
  const given = files.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));
  return page.locator('input[type=file]').first().setInputFiles(given);
}

/** Drops a file on the page, as a person does from the desktop. */
async function drop(page: Page, { name, text }: Opened): Promise<void> {
  await page.evaluate(`{
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    for (const kind of ['dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }`);
}

describe('a file', () => {
  test('of rows is dropped, scored, and leads to its marked answers', async () => {
    await deployment.onPage('#/playground', DESK, async ({ page }) => {
      await page.getByText('or drop one here').waitFor();
      await drop(page, { name: 'my rows.jsonl', text: rollouts });
      const opened = page.getByRole('region', { name: 'Opened file' });
      await opened.getByText('3 rows.').waitFor();
      await shoot(page, 'open-file-rows');
      await opened.getByRole('button', { name: 'Score and show' }).click();
      await opened.getByText('3 of 3 scored').waitFor({ timeout: 60_000 });
      expect(await audit(page)).toEqual([]);
      await opened.getByRole('link', { name: 'See the answers' }).click();
      await page.locator('.claim, mark').first().waitFor();
      expect(page.url()).toMatch(/#\/runs\/my-rows-\d{4}-\d{6}\/0$/u);
    });
  });

  test('with bad rows is scored without them, and each is named with its line and the reason', async () => {
    const [first = '', second = '', third = ''] = rollouts.split('\n');
    const wrong = JSON.stringify({ ...JSON.parse(second), response: 5 });
    await deployment.onPage('#/playground', { ...PHONE, theme: 'light' }, async ({ page, complaints }) => {
      await choose(page, [{ name: 'mixed.jsonl', text: [first, '', '{"question":', wrong, third].join('\n') }]);
      const opened = page.getByRole('region', { name: 'Opened file' });
      await opened.getByText('3 rows.').waitFor();
      await opened.getByText('1 row of the file is not scored').waitFor();
      await opened.getByText('line 3').waitFor();
      await opened.getByRole('button', { name: 'Score and show' }).click();
      await opened.getByText('2 of 3 scored').waitFor({ timeout: 60_000 });
      const bad = opened.getByRole('listitem');
      expect(await bad.allTextContents()).toEqual([
        expect.stringContaining('line 3 expected one JSON object a line'),
        expect.stringContaining('line 4 response: '),
      ]);
      await shoot(page, 'open-file-bad-rows-narrow');
      expect(await audit(page)).toEqual([]);
      // Chromium reports each reply that is an error.
      expect(complaints.splice(0)).toEqual([expect.stringContaining('422')]);
    });
  });

  test('that is closed is scored no further', async () => {
    const row = JSON.stringify({
      question: 'How long?',
      response: 'It is 288 kilometres long [1].',
      sources: [SOURCE],
    });
    const rows = Array.from({ length: 5_000 }, () => row).join('\n');
    await deployment.onPage('#/playground', DESK, async ({ page }) => {
      await choose(page, [{ name: 'many.jsonl', text: rows }]);
      const opened = page.getByRole('region', { name: 'Opened file' });
      await opened.getByRole('button', { name: 'Score and show' }).click();
      const link = opened.getByRole('link', { name: 'See the answers' });
      const [, run = ''] = /#\/runs\/([^/]+)/u.exec((await link.getAttribute('href', { timeout: 60_000 })) ?? '') ?? [];
      await opened.getByRole('button', { name: 'Close' }).click();
      const recorded = async (): Promise<number> =>
        (await deployment.api<{ rollouts: number }>(`/v1/runs/${run}?limit=1`)).rollouts;
      // Requests that were under way may still be recorded.
      let before = -1;
      await expect
        .poll(
          async () => {
            const [earlier, now] = [before, await recorded()];
            before = now;
            return now === earlier;
          },
          { interval: 1_000, timeout: 30_000 },
        )
        .toBe(true);
      expect(before).toBeLessThan(5_000);
    });
  });

  test('of promptfoo has its rows read, and those without criteria are paid for citations', async () => {
    const result = {
      ...{ provider: { id: 'p' }, prompt: { raw: 'How long is the Aare?' } },
      vars: { contexts: [SOURCE] },
      response: { output: 'It is 288 kilometres long [1].' },
    };
    const text = JSON.stringify({ evalId: 'e', results: { version: 3, results: [result] } });
    await deployment.onPage('#/playground', { ...PHONE, theme: 'light' }, async ({ page }) => {
      await choose(page, [{ name: 'results.json', text }]);
      await page.getByText('1 row, read as promptfoo results.').waitFor();
      await page.getByText('Rows without criteria (1)').waitFor();
      expect(await audit(page)).toEqual([]);
      await shoot(page, 'open-file-promptfoo-narrow');
      await page.getByRole('button', { name: 'Score and show' }).click();
      await page.getByText('1 of 1 scored').waitFor({ timeout: 60_000 });
    });
  });

  test('of CSV and of Parquet is read', async () => {
    const csv = `question,response,sources\nHow long?,It is 288 kilometres long [1].,"['${SOURCE}']"\n`;
    await deployment.onPage('#/playground', DESK, async ({ page }) => {
      await choose(page, [{ name: 'rows.csv', text: csv }]);
      await page.getByText('1 row.').waitFor();
      const parquet = readFileSync(join(root, 'test/unit/cli/completions.parquet'));
      const given = { name: 'completions_00010.parquet', mimeType: 'application/octet-stream', buffer: parquet };
      await page.locator('input[type=file]').first().setInputFiles([given]);
      await page.getByText('2 rows, read as a TRL completions file.').waitFor();
    });
  });

  test('of batch results shows its figures, and its answers with the input beside it', async () => {
    const row = JSON.parse(rollouts.split('\n')[0] ?? '');
    const { id: _id, note: _note, ...fields } = row;
    const body = { ...fields, recipe: RECIPE };
    const reply = await deployment.post<unknown>('/v1/score', body);
    const output = { id: 'x', custom_id: 'a', response: { status_code: 200, body: reply }, error: null };
    const input = { custom_id: 'a', method: 'POST', url: '/v1/score', body };
    await deployment.onPage('#/playground', { ...DESK, theme: 'dark' }, async ({ page }) => {
      await choose(page, [
        { name: 'scores.jsonl', text: JSON.stringify(output) },
        { name: 'in.jsonl', text: JSON.stringify(input) },
      ]);
      const lowest = page.getByRole('region', { name: 'Lowest rewards' });
      await lowest.locator('.reading').waitFor();
      const cells = lowest.getByRole('row').nth(1).locator('th, td');
      const tops = await cells.evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().top));
      expect(new Set(tops).size, 'a result has its cells side by side').toBe(1);
      await shoot(page, 'open-file-results-dark');
      expect(await audit(page)).toEqual([]);
      await choose(page, [{ name: 'scores.jsonl', text: JSON.stringify(output) }]);
      await page.getByText('Results hold no answers').waitFor();
    });
  });

  test.each([
    ['page.html', '<!doctype html>', 'page.html is a page, not data'],
    ['empty.jsonl', '', 'empty.jsonl is empty'],
    ['notes.txt', 'some notes', 'notes.txt has no row that can be read; line 1: expected one JSON object a line'],
    ['scores.json', '{"family":"refiner","reward":1,"claims":[]}', 'scores.json holds scores, not answers'],
  ])('%s is refused by name', async (name, text, message) => {
    await deployment.onPage('#/playground', DESK, async ({ page }) => {
      await choose(page, [{ name, text }]);
      await page.getByRole('alert').getByText(message).waitFor();
    });
  });
});
