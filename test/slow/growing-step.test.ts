/** A step of more rollouts than the dashboard loads at once, which grows while a person looks at it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { DESK } from '../e2e/dashboard-browser.ts';
import { DashboardDeployment, KEY, RECIPE } from '../e2e/dashboard-deployment.ts';
import { GROUP, groupName, KeptJudgments, runLines } from './scored-run.ts';

let deployment: DashboardDeployment;
/** The lines of one group: rollouts, between those of the run, its recipe and its end. */
const lines: string[] = [];

beforeAll(async () => {
  const resolved = await resolveRecipe(RECIPE);
  if (!resolved.ok) throw new Error('no recipe');
  for await (const line of runLines('any', { steps: 1, perStep: 1 }, resolved.value, new KeptJudgments()))
    lines.push(line);
  deployment = await DashboardDeployment.start();
}, 300_000);

afterAll(() => deployment?.stop());

/** Imports the same group under so many names. */
async function importGroups(run: string, groups: number): Promise<void> {
  const own = lines.slice(2, -1);
  const rollouts = Array.from({ length: groups }, (_, n) =>
    own.map((line) => line.replace(groupName(0), groupName(n))).join(''),
  );
  const end = lines.at(-1)?.replace(String(GROUP), String(groups * GROUP)) ?? '';
  const response = await fetch(`${deployment.worker.url}/v1/runs/${run}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/jsonl' },
    body: [...lines.slice(0, 2), ...rollouts, end].join(''),
  });
  expect(await response.json()).toMatchObject({ refused: 0, complete: true });
}

test('what was loaded beyond 10,000 rollouts stays, and what is added to it is loaded', async () => {
  await importGroups('large', 1_300);
  await deployment.onPage('#/runs/large/0', DESK, async ({ page }) => {
    const status = page.getByRole('status');
    // The last group that is loaded may go on.
    await status.getByText('9,992 rollouts in 1,249 groups so far').waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Load more' }).click();
    await status.getByText('10,400 rollouts in 1,300 groups').waitFor({ timeout: 60_000 });
    await importGroups('large', 1_310);
    await status.getByText('10,480 rollouts in 1,310 groups').waitFor({ timeout: 60_000 });
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  });
});

test('a load that takes longer than the page waits between two looks is not begun anew while the step grows', async () => {
  await importGroups('busy', 10);
  await deployment.onPage('#/runs/busy/0', DESK, async ({ page }) => {
    const status = page.getByRole('status');
    await status.getByText('80 rollouts in 10 groups').waitFor({ timeout: 60_000 });
    await page.route('**/rollouts?*summary*', async (route) => {
      await new Promise((done) => setTimeout(done, 4_000));
      await route.continue();
    });
    const grown = (async () => {
      for (let groups = 15; groups <= 24; groups++) {
        await importGroups('busy', groups);
        await new Promise((done) => setTimeout(done, 2_000));
      }
    })();
    await expect.poll(() => status.textContent(), { timeout: 17_000 }).toMatch(/^1\d\d rollouts in/u);
    await grown;
    await page.unroute('**/rollouts?*summary*');
    await status.getByText('192 rollouts in 24 groups').waitFor({ timeout: 60_000 });
  });
});
