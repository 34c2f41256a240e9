/** The pages of evolving rubrics in Chromium: the prompts of a run, one prompt's timeline and log, edits by hand. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { questionDigest } from '../../src/rubrics/rubric-set.ts';
import type { PromptRubricsReply } from '../../src/wire/rubrics.ts';
import type { RunDetail } from '../../src/wire/runs.ts';
import { audit, DESK, PHONE } from './dashboard-browser.ts';
import { DashboardDeployment, example, requestOf, shoot } from './dashboard-deployment.ts';
import { INSTALL_MS } from './processes.ts';

const RUN = 'evolving';
const { response, finish_reason, reasoning: _reasoning, ...ROW } = requestOf(example('good-answer'));
const QUESTION = String(ROW['question']);
const PROMPT = questionDigest(QUESTION);
const PATH = `/v1/runs/${RUN}/rubrics/${PROMPT}`;

let deployment: DashboardDeployment;

/** Scores a group under the rubric, and proposes criteria for the next one. */
async function group(step: number, ...descriptions: readonly string[]): Promise<void> {
  const whole = String(response);
  const texts = [whole, '<answer>The bridge opened in 1937.</answer>', whole.slice(0, whole.length / 2)];
  await deployment.post('/v1/groups', {
    ...ROW,
    responses: texts.map((one) => ({ response: one, finish_reason })),
    run: { id: RUN, step, group: 'bridge' },
    evolution: { rules: 'citeward', generator: null },
    store_text: true,
  });
  if (descriptions.length === 0) return;
  const criteria = descriptions.map((description) => ({ polarity: 'positive', description }));
  await deployment.post(`/v1/runs/${RUN}/rubrics`, {
    question: QUESTION,
    proposal: { step, group: 'bridge', criteria },
  });
}

beforeAll(async () => {
  deployment = await DashboardDeployment.start();
  await group(0, 'States the year in which the bridge opened', 'Is written in English');
  await group(1);
  await group(2);
}, INSTALL_MS);

afterAll(async () => {
  await deployment?.stop();
});

const read = (): Promise<PromptRubricsReply> => deployment.api<PromptRubricsReply>(PATH);

async function persistentRewards() {
  const { steps } = await deployment.api<RunDetail>(`/v1/runs/${RUN}`);
  return steps.flatMap(({ persistent_reward }) => persistent_reward ?? []);
}

it('leads from a run to its prompts, and shows which criteria scored which group, and why one went', async () => {
  await deployment.onPage(`#/runs/${RUN}`, DESK, async ({ page }) => {
    await page.getByText('whole rewards of different steps are not comparable').waitFor();
    const steps = page.getByRole('region', { name: 'Steps' });
    // The answers of the steps are the same, and so are their rewards by the same criteria.
    const [{ mean } = { mean: null }] = await persistentRewards();
    for (const row of (await steps.getByRole('row').all()).slice(1)) {
      expect((await row.getByRole('cell').allTextContents())[3]).toBe(mean?.toFixed(2));
    }
    expect(await audit(page)).toEqual([]);
    await shoot(page, 'rubrics-run');
    await page.getByRole('link', { name: 'Evolving rubrics' }).click();
    await page.getByRole('link', { name: PROMPT.slice(0, 12) }).click();
    await page.getByText(QUESTION, { exact: true }).waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    expect(await timeline.getByRole('columnheader').allTextContents()).toEqual([
      'Criterion',
      ...[0, 1, 2].map((step) => `step ${step}bridge`),
    ]);
    const row = timeline.getByRole('row').filter({ hasText: 'States the year' });
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      'not in the set',
      expect.stringMatching(/%± /),
      expect.stringMatching(/%± /),
    ]);
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByText('Proposed: States the year in which the bridge opened; Is written in English').waitFor();
    const went = (await read()).events?.find(({ entry }) => entry.event === 'retired');
    if (went !== undefined) await log.getByText('Retired, because its scores hardly differed').first().waitFor();
    await page.getByRole('img', { name: 'Pass rate' }).waitFor();
    expect(await audit(page)).toEqual([]);
    await shoot(page, 'rubrics-prompt');
  });
});

it('finds the prompt of a question, whose text the list does not have', async () => {
  await deployment.onPage(`#/runs/${RUN}/rubrics`, DESK, async ({ page, complaints }) => {
    const field = page.getByLabel('Question, exactly as in the rows');
    await field.fill('A question of another run');
    await page.getByRole('button', { name: 'Find its prompt' }).click();
    await page.getByText('Prompt not found').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('404')]);
    await page.getByRole('link', { name: 'All prompts' }).click();
    await field.fill(QUESTION);
    expect(await audit(page)).toEqual([]);
    await shoot(page, 'rubrics-list');
    await page.getByRole('button', { name: 'Find its prompt' }).click();
    await page.getByText(QUESTION, { exact: true }).waitFor();
  });
});

it('edits by hand with the keyboard, under the set that was seen', async () => {
  await deployment.onPage(`#/runs/${RUN}/rubrics/${PROMPT}`, PHONE, async ({ page, complaints }) => {
    const card = page.getByRole('region', { name: 'Criteria' });
    const [own] = (await read()).persistent;
    if (own === undefined) throw new Error('the row has no criteria');
    const name = own.title ?? own.description.slice(0, 40);
    // This page was opened first, without the styles of other pages.
    await card.locator('.sparkline').first().waitFor({ state: 'attached' });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.sparkline')).fill")).toBe('none');
    const change = card.getByRole('button', { name: `Change ${name}` }).first();
    await change.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Weight').fill('4');
    await page.keyboard.press('Enter');
    // The button has the focus again.
    await expect
      .poll(() => page.locator(':focus').getAttribute('aria-label'))
      .toBe(await change.getAttribute('aria-label'));
    await card.getByRole('button', { name: 'Add a criterion' }).click();
    await page.getByLabel('Description').fill('Names the river under the bridge');
    await page.getByRole('button', { name: 'Apply' }).click();
    await card.getByText('2 changes not saved.').waitFor();
    expect(await audit(page)).toEqual([]);
    await shoot(page, 'rubrics-edit');

    // Another person is faster.
    const seen = await read();
    const [retired] = seen.active;
    const gone = retired === undefined ? seen.persistent.slice(-1) : [retired];
    await deployment.post(`${PATH}/edits`, { set: seen.set.id, step: 3, retire: gone.map(({ id }) => id) });
    await card.getByRole('button', { name: 'Save 2 changes' }).click();
    await page.getByRole('alert').getByText('Nothing was saved: the criteria have changed').waitFor();
    // The browser reports the refused request.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('409')]);
    await shoot(page, 'rubrics-conflict');
    expect((await read()).persistent[0]?.weight).toBe(own.weight);

    await page.getByRole('button', { name: 'Load the criteria of now' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await card.getByRole('button', { name: 'Save 2 changes' }).click();
    await card.getByText('Saved. The next group').waitFor();
    const after = await read();
    expect(after.persistent[0]).toMatchObject({ id: own.id, weight: 4 });
    expect(after.active.at(-1)).toMatchObject({ description: 'Names the river under the bridge', since_step: 4 });
    await page.getByRole('region', { name: 'Log' }).getByText('Retired, by hand').waitFor();
  });
});
