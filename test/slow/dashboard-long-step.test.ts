/** A step of many rollouts in Chromium: what the page holds of it, and the way back to a place in it. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit, DESK, PHONE } from '../e2e/dashboard-browser.ts';
import { DashboardDeployment, RECIPE, shoot } from '../e2e/dashboard-deployment.ts';

const [RUN, GROUPS, SAMPLES] = ['long', 25, 24];
/** Rows of the table in the page; the whole list has 1,225. */
const MOST_ROWS = 250;

let deployment: DashboardDeployment;

beforeAll(async () => {
  deployment = await DashboardDeployment.start();
  for (let group = 0; group < GROUPS; group++) {
    const length = 100 + group;
    const answers = [`The river is ${length} kilometres long [1].`, `The river is ${length + 37} kilometres long [1].`];
    await deployment.post('/v1/groups', {
      recipe: { base: RECIPE, grammar: 'bracket', mode: 'full', citation_weight: 1 },
      positive_rubrics: ['States the length'],
      question: `How long is river ${group}?`,
      sources: [{ id: '1', text: `River ${group} is ${length} kilometres long.` }],
      responses: Array.from({ length: SAMPLES }, (_, n) => `<answer>${answers[n % 2]} Answer ${n}.</answer>`),
      run: { id: RUN, step: 0, group: `g${group}` },
      store_text: true,
    });
  }
}, 300_000);

afterAll(() => deployment?.stop());

const links = (page: Page) => page.locator('th.place-id a');
const scrollTo = (page: Page, part: number): Promise<void> =>
  page.evaluate(`scrollTo(0, ${part} * document.documentElement.scrollHeight)`);

test('has the rows near the view in the page, and all of them on the way to its end', async () => {
  await deployment.onPage(`#/runs/${RUN}/0`, DESK, async ({ page }) => {
    await page.getByText('600 rollouts in 25 groups').waitFor();
    const seen = new Set<string>();
    const isAtEnd = 'scrollY + innerHeight >= document.documentElement.scrollHeight - 1';
    do {
      await page.evaluate('scrollBy(0, 2500)');
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
      for (const href of await links(page).evaluateAll((all) => all.map((link) => String(link)))) seen.add(href);
      expect(await page.locator('.rollouts tr').count()).toBeLessThan(MOST_ROWS);
    } while (!(await page.evaluate(isAtEnd)));
    expect(seen.size).toBe(GROUPS * SAMPLES);
    await scrollTo(page, 0.5);
    await page.locator('.in-list .claim').first().waitFor();
    expect(await audit(page)).toEqual([]);
  });
});

test('is left for a rollout and shown again at the same place, as it was sorted', async () => {
  await deployment.onPage(`#/runs/${RUN}/0`, { ...PHONE, theme: 'light' }, async ({ page }) => {
    await page.getByText('600 rollouts in 25 groups').waitFor();
    const heads = page.locator('.rollouts thead th');
    const tooWide = await heads.evaluateAll((all) =>
      all.filter((head) => head.scrollWidth > head.clientWidth).map((head) => head.textContent),
    );
    expect(tooWide).toEqual([]);
    await page.getByLabel('Sort').selectOption('by reward');
    await page.getByLabel('Answers').selectOption('hidden');
    await scrollTo(page, 0.6);
    const onScreen = await page.waitForFunction(() => {
      const all = [...document.querySelectorAll('th.place-id a')];
      return all.find((one) => one.getBoundingClientRect().top > 300)?.getAttribute('aria-label');
    });
    const name = String(await onScreen.jsonValue());
    const link = page.getByLabel(name, { exact: true });
    const place = await link.boundingBox();
    await link.click();
    await page.getByRole('heading', { name: 'How the reward came about' }).waitFor();
    await page.goBack();
    // The page sorts the list again after it has loaded the last rollouts.
    await page.getByText('600 rollouts in 25 groups').waitFor();
    const again = page.getByLabel(name, { exact: true });
    await expect.poll(async () => (await again.boundingBox())?.y).toBeCloseTo(place?.y ?? Number.NaN, -1);
    expect(await again.evaluate((shown) => shown === document.activeElement)).toBe(true);
    expect(await page.getByLabel('Sort').inputValue()).toBe('reward');
    await shoot(page, 'long-step-narrow');
    // The keys go on from there.
    await page.keyboard.press('j');
    expect(await again.evaluate((shown) => shown === document.activeElement)).toBe(false);
  });
});
