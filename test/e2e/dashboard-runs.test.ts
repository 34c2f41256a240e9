/** The pages of runs in Chromium: steps, rollouts, live runs, comparisons. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunRollout } from '../../src/wire/runs.ts';
import { audit, DESK, PHONE, visit } from './dashboard-browser.ts';
import { DashboardDeployment, example, KEY, requestOf, SHOTS, shoot } from './dashboard-deployment.ts';
import { INSTALL_MS, runCiteward } from './processes.ts';

const RUN = 'recorded';
/** Ids that need an escape in an address, or would be read as a part of it. */
const ODD_GROUP = 'a/b ?c#d %2F "e" é 日本';
const ODD_SAMPLES = ['x y/1', '..', '%41', '日本?a=b'];

let deployment: DashboardDeployment;

beforeAll(async () => {
  deployment = await DashboardDeployment.start();
  for (const step of [0, 1]) await deployment.recordGroup({ run: RUN, step, group: 'prompt' }, step);
  await deployment.recordGroup({ run: RUN, step: 1, group: ODD_GROUP }, 2, ODD_SAMPLES);
}, INSTALL_MS);

afterAll(async () => {
  await deployment?.stop();
});

async function rolloutsOf(step: number): Promise<readonly RunRollout[]> {
  return (await deployment.api<{ rollouts: RunRollout[] }>(`/v1/runs/${RUN}/rollouts?step=${step}`)).rollouts;
}

/** A number as the page prints it. */
function text(value: number | null | undefined): string {
  return String(Number(value?.toFixed(3)));
}

it('shows what canaries, audits and risks found, in words and over the steps', async () => {
  const add = async (check: object) => {
    const reply = await fetch(`${deployment.worker.url}/v1/runs/${RUN}/judge-checks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ judge: 'qwen', rollouts: 64, ...check }),
    });
    expect(reply.status, await reply.text()).toBe(200);
  };
  const canary = { rule: 'canary_drift', advantages_flipped: 0.01, reward_shift: -0.2, questions: [] };
  await add({ ...canary, step: 10, verdicts_changed: 0.02 });
  await add({ ...canary, step: 20, verdicts_changed: 0.17 });
  const steps = [0, 1, 2].map((step) => ({ step, rollouts: 16, gap: step / 2 }));
  await add({ rule: 'audit_gap', judge: 'stronger', step: 2, steps, growth: null });
  const flipped = { share: 0.1, low: 0.05, high: 0.2 };
  const support = { kind: 'support', verdicts: 640, yes: 0.5, corrected: null, changed: null };
  await add({ rule: 'judge_error', judge: 'qwen', step: 20, flipped, changed: flipped, kinds: [support] });
  await deployment.onPage(`#/runs/${RUN}`, DESK, async ({ page }) => {
    const card = page.getByRole('region', { name: 'Checks of the judge' });
    await card.getByText('verdicts changed 17.0 %').waitFor();
    expect(await card.textContent()).toContain('1 alert active');
    await card.getByText('signs that may be wrong 10.0 % (5.0 % to 20.0 %)').waitFor();
    expect(await card.locator('.alerts > li').count()).toBe(3);
    expect(await card.locator('li.is-active').count()).toBe(1);
    for (const name of ['Verdicts changed', 'Gap to the audit']) await card.getByRole('img', { name }).waitFor();
    await shoot(page, 'judge-checks');
  });
});

describe('a rollout', () => {
  it('has an address that shows what was recorded, also after a reload', async () => {
    const rollouts = await rolloutsOf(0);
    await deployment.onPage(`#/runs/${RUN}/0`, DESK, async ({ page }) => {
      await page.getByRole('link', { name: 'Read prompt, sample 2' }).click();
      for (let visits = 0; visits < 2; visits++) {
        await page.getByRole('heading', { level: 1, name: 'Sample 2 of group prompt' }).waitFor();
        expect(page.url()).toBe(`${deployment.worker.url}/#/runs/${RUN}/0/prompt/2`);
        const reward = page.getByRole('region', { name: 'Recorded reward' });
        expect(await reward.locator('.reward-value').textContent()).toBe(`${text(rollouts[2]?.reward)} of 10`);
        await reward.getByText('Invented source').waitFor();
        expect(await page.getByRole('region', { name: 'Criteria' }).getByRole('row').count()).toBeGreaterThan(2);
        await page.locator('a.claim').first().waitFor();
        expect(await page.locator('a.claim').first().getAttribute('aria-label')).toContain('do not exist');
        const own = page.getByRole('region', { name: 'In its group' }).locator('tr.is-shown');
        expect(await own.getByRole('cell').nth(1).textContent()).toBe(rollouts[2]?.reward?.toFixed(2));
        await page.reload();
      }
      await page.getByLabel('with sample').selectOption('1');
      await page.getByRole('region', { name: 'Answer of Sample 1' }).locator('.claim').first().waitFor();
      await page.getByRole('link', { name: 'Next sample' }).click();
      await page.getByRole('heading', { level: 1, name: 'Sample 3 of group prompt' }).waitFor();
      await page.getByText('Last sample').waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Sample 2 of group prompt' }).waitFor();
      await shoot(page, 'rollout');
      // On paper: the marked answer in light colours, without controls.
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      await page.locator('a.claim').first().waitFor();
      expect(await page.getByRole('banner').isVisible()).toBe(false);
      const buttons = page.getByRole('main').getByRole('button');
      expect(await Promise.all((await buttons.all()).map((button) => button.isVisible()))).not.toContain(true);
      expect(await page.getByLabel('Markup').isVisible()).toBe(false);
      expect(await page.getByText('with sample').isVisible()).toBe(false);
      expect(await page.getByText('Advantages of').isVisible()).toBe(true);
      expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe('light');
      await shoot(page, 'rollout-print');
    });
  });

  it('is saved as a picture whose text is text, in light and dark', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'citeward-figure-test-'));
    try {
      for (const look of [DESK, PHONE]) {
        await deployment.onPage(`#/runs/${RUN}/0/prompt/2`, look, async ({ page }) => {
          const answer = page.getByRole('region', { name: 'Answer', exact: true });
          await answer.locator('a.claim').first().waitFor();
          const claims = await answer
            .locator('a.claim')
            .evaluateAll((links) =>
              links.map((link) =>
                [...link.querySelectorAll('.piece-claim')].map((piece) => piece.textContent).join(''),
              ),
            );
          expect(claims.length).toBeGreaterThan(2);
          expect(await answer.getByLabel('Colours of the picture').inputValue()).toBe(look.theme);
          const save = async (button: string) => {
            const [download] = await Promise.all([
              page.waitForEvent('download'),
              answer.getByRole('button', { name: button }).click(),
            ]);
            const path = join(folder, `${look.theme}-${download.suggestedFilename()}`);
            await download.saveAs(path);
            return path;
          };
          const png = await save('PNG');
          expect(readFileSync(png).subarray(1, 4).toString('latin1')).toBe('PNG');
          if (SHOTS !== undefined) copyFileSync(png, join(SHOTS, `figure-${look.theme}.png`));
          const svg = await save('Save as SVG');
          expect(svg).toContain(`${RUN}-0-prompt-2.svg`);
          expect(readFileSync(svg, 'utf8')).not.toMatch(/href|url\(|<script|<style|@import|foreignObject/);
          await shoot(page, `figure-page-${look.width}`);
          const opened = await deployment.browser.newPage();
          try {
            // A file that is not well-formed XML has another document element, or a report of the fault.
            await opened.goto(pathToFileURL(svg).href);
            expect(await opened.evaluate('document.documentElement.nodeName')).toBe('svg');
            expect(await opened.locator('parsererror').count()).toBe(0);
            const words = (texts: readonly string[]) => texts.join(' ').replaceAll(/\s+/g, ' ');
            const shown = words(await opened.locator('text').allTextContents());
            for (const claim of claims) expect(shown).toContain(words([claim]).trim());
            expect(shown).toContain('Invented source');
            expect(shown).toMatch(/judged by citeward-lexical-\d+, which compares words/);
          } finally {
            await opened.close();
          }
        });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('explains its reward in steps that lead to criteria and claims', async () => {
    const rollouts = await rolloutsOf(0);
    for (const look of [DESK, PHONE]) {
      await deployment.onPage(`#/runs/${RUN}/0/prompt/2`, look, async ({ page }) => {
        const card = page.getByRole('region', { name: 'How the reward came about' });
        const sum = await card.locator('tfoot td').first().textContent();
        expect(sum).toBe(rollouts[2]?.reward?.toFixed(2));
        const sums = await card.locator('tbody tr td:nth-child(3)').allTextContents();
        expect(sums.length).toBeGreaterThan(5);
        expect(sums.at(-1)).toBe(sum);
        await card.getByRole('button', { name: 'Claim 2', exact: true }).click();
        await page.locator('#claim-1.is-active:focus').waitFor();
        await card.locator('tbody tr').first().getByRole('button').click();
        await page.locator('#criterion-0:focus').waitFor();
        expect(await audit(page)).toEqual([]);
        await shoot(page, `reward-steps-${look.width}`);
      });
    }
  });

  it('keeps its ids, whatever characters they have', async () => {
    await deployment.onPage(`#/runs/${RUN}/1`, PHONE, async ({ page }) => {
      for (const sample of ODD_SAMPLES) {
        await page.getByRole('link', { name: `Read ${ODD_GROUP}, sample ${sample}` }).click();
        await page.getByRole('heading', { level: 1, name: `Sample ${sample} of group ${ODD_GROUP}` }).waitFor();
        await page.reload();
        await page.locator('.reward-value').waitFor();
        expect(await page.locator('h1').textContent()).toBe(`Sample ${sample} of group ${ODD_GROUP}`);
        expect(await audit(page)).toEqual([]);
        await page.goBack();
      }
    });
  });

  it('shows the reasons of the judge that the run keeps, as text', async () => {
    const reason = '<img src=x onerror="document.title=1"> & <b>not met</b>';
    await deployment.onPage(`#/runs/${RUN}/0`, DESK, async ({ page }) => {
      await page.route('**/rollouts?*detail=true*', async (route) => {
        const reply = await route.fetch();
        const body = await reply.json();
        const [judgment] = body.rollouts[0].detail.report.judgments;
        const entries = (['criteria', 'claims'] as const).map((of) => ({ of, index: 0, reason }));
        judgment.reasons = { status: 'kept', entries, left_out: 2, max_chars: 20_000 };
        await route.fulfill({ response: reply, json: body });
      });
      await page.getByRole('link', { name: 'Read prompt, sample 2' }).click();
      const row = page.getByRole('region', { name: 'Criteria' }).getByRole('row').nth(1);
      await row.getByText(`Judge: ${reason}`).waitFor();
      const others = page.getByRole('region', { name: 'Reasons of the judge' });
      await others.getByText(reason).waitFor();
      await others.getByText('2 reasons beyond the limit').waitFor();
      expect(await audit(page)).toEqual([]);
    });
  });

  it('says so where the run does not have it', async () => {
    await deployment.onPage(`#/runs/${RUN}/0/prompt/absent`, DESK, async ({ page }) => {
      await page.getByRole('alert').getByText('Rollout not found').waitFor();
    });
  });

  it('opens from the largest changes of a replay, with the replayed reward', async () => {
    await deployment.onPage(`#/replay/${RUN}?citation_weight=1`, DESK, async ({ page }) => {
      const changes = page.getByRole('region', { name: 'Largest changes' });
      await changes.getByRole('link').first().waitFor();
      const row = changes.getByRole('row').nth(1);
      const after = (await row.getByRole('cell').last().textContent())?.split(' → ')[1];
      await row.getByRole('link').click();
      const own = page.getByRole('region', { name: 'In its group' }).locator('tr.is-shown');
      await page.getByText('citation_weight 1', { exact: true }).waitFor();
      expect(await own.getByRole('cell').nth(3).textContent()).toBe(after);
      // Back to the replay as it was.
      await page.goBack();
      await expect.poll(() => page.getByLabel('citation weight, as a number').inputValue()).toBe('1');
    });
  });
});

/** Records a group of two equal answers. */
async function recordWithoutSignal(run: string, step: number): Promise<void> {
  await deployment.post('/v1/groups', {
    ...requestOf(example('good-answer')),
    response: undefined,
    reasoning: undefined,
    finish_reason: undefined,
    responses: [1, 2].map(() => ({ response: 'No answer.' })),
    run: { id: run, step, group: 'same' },
    store_text: true,
  });
}

const ROLLOUT_ROWS = 'tbody tr:not(.group-row, .answer-row)';

describe('a step', () => {
  it('shows the answers with their claims marked: first lines, whole or none', async () => {
    await deployment.onPage(`#/runs/${RUN}/1`, DESK, async ({ page }) => {
      const answers = page.getByRole('region', { name: 'Rollouts' }).locator('.answer-row');
      const first = answers.first();
      await first.locator('.claim').first().waitFor();
      expect(await answers.count()).toBe(8);
      const heightOf = async (): Promise<number> => (await first.boundingBox())?.height ?? 0;
      const short = await heightOf();
      expect(await audit(page)).toEqual([]);
      await page.getByLabel('Answers').selectOption('whole');
      await expect.poll(heightOf).toBeGreaterThan(2 * short);
      expect(await first.innerText()).not.toContain('<snippet');
      await page.getByLabel('Answers').selectOption('hidden');
      await expect.poll(() => answers.count()).toBe(0);
    });
  });

  it('shows two answers of a group side by side, with what differs', async () => {
    const rollouts = (await rolloutsOf(1)).filter(({ group }) => group === 'prompt');
    const byReward = rollouts.toSorted((one, other) => (other.reward ?? 0) - (one.reward ?? 0));
    for (const look of [DESK, PHONE]) {
      await deployment.onPage(`#/runs/${RUN}/1`, look, async ({ page }) => {
        await page.getByRole('button', { name: 'Side by side' }).last().click();
        const pair = page.locator('.pair');
        const rewards = pair.getByRole('row').filter({ hasText: 'reward' }).first().getByRole('cell');
        await rewards.first().waitFor();
        expect(await rewards.allTextContents()).toEqual(
          [byReward[0], byReward.at(-1)].map((one) => one?.reward?.toFixed(2)),
        );
        // The other sample has an invented id, and no other words.
        await pair.getByLabel('Left').selectOption('0');
        await pair.getByLabel('Right').selectOption('2');
        await pair.getByRole('rowheader', { name: 'Invented source', exact: true }).waitFor();
        expect(await pair.locator('.piece-claim.is-different').count()).toBe(0);
        await pair.getByLabel('Right').selectOption('1');
        await expect.poll(() => pair.locator('.piece-claim.is-different').count()).toBeGreaterThan(0);
        expect(await audit(page)).toEqual([]);
        await shoot(page, `pair-${look.width}`);
      });
    }
  });

  it('is read with the keys j, k and Enter', async () => {
    await deployment.onPage(`#/runs/${RUN}/1`, DESK, async ({ page }) => {
      await page.getByLabel('Read prompt, sample 0').waitFor();
      const focused = (): Promise<string | null> =>
        page.evaluate('document.activeElement?.getAttribute("aria-label") ?? null');
      const rows = page.locator('th.place-id a');
      const labels = await rows.evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')));
      for (const [key, at] of [
        ['j', 0],
        ['j', 1],
        ['j', 2],
        ['k', 1],
      ] as const) {
        await page.keyboard.press(key);
        expect(await focused()).toBe(labels[at]);
      }
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'Recorded reward' }).waitFor();
    });
  });

  it('folds a group without signal, and opens it on request', async () => {
    await recordWithoutSignal('without-signal', 2);
    await deployment.onPage('#/runs/without-signal/2', DESK, async ({ page }) => {
      const rows = page.getByRole('region', { name: 'Rollouts' }).locator(ROLLOUT_ROWS);
      const open = page.getByRole('button', { name: 'Show 2 samples' });
      await open.waitFor();
      expect(await rows.count()).toBe(0);
      await open.click();
      expect(await rows.count()).toBe(2);
    });
  });

  it('shows questions, advantages and findings, filters, sorts and exports what it shows', async () => {
    const rollouts = await rolloutsOf(1);
    await deployment.onPage(`#/runs/${RUN}/1?citation_weight=1`, DESK, async ({ page }) => {
      const table = page.getByRole('region', { name: 'Rollouts' });
      await page.getByText('Replayed with citation_weight 1').waitFor();
      expect(await table.getByText(/^Which|^How|^What|\?$/).count()).toBe(2);
      expect(await table.locator(ROLLOUT_ROWS).count()).toBe(8);
      await shoot(page, 'step');
      await page.getByRole('button', { name: 'Invented ids 2' }).click();
      expect(await table.locator(ROLLOUT_ROWS).count()).toBe(2);
      await page.getByRole('button', { name: 'Invented ids 2' }).click();
      await page.getByLabel('Sort').selectOption('reward');
      const shown = await table.locator('tbody tr td:nth-child(2)').allTextContents();
      const expected = rollouts.map(({ reward }) => reward ?? 0).sort((a, b) => b - a);
      expect(shown).toEqual(expected.map((reward) => reward.toFixed(2)));
      const saved = async (button: string): Promise<string> => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: button }).click(),
        ]);
        return readFileSync(await download.path(), 'utf8');
      };
      const lines = (await saved('Save JSONL'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.map(({ reward }) => reward)).toEqual(expected);
      expect(new Set(lines.map(({ group }) => group))).toEqual(new Set(['prompt', ODD_GROUP]));
      const csv = await saved('Save CSV');
      expect(csv.split('\r\n')[0]).toContain(
        'run,step,group,sample,attempt,reward,reason,rank,advantage,replayed_reward',
      );
      expect(csv).toContain(`"${ODD_GROUP.replaceAll('"', '""')}"`);
      expect(csv.trim().split('\r\n')).toHaveLength(9);
    });
  });
});

describe('the list of runs', () => {
  it('shows titles, judges and active alerts, and keeps the runs with an active alert', async () => {
    for (let step = 0; step < 8; step++) await recordWithoutSignal('faulty', step);
    for (const look of [DESK, PHONE]) {
      await deployment.onPage('#/runs', look, async ({ page }) => {
        const row = page.getByRole('row').filter({ hasText: 'faulty' });
        await row.locator('.finding-chip').first().waitFor();
        await page.getByLabel('With active alerts').check();
        await expect.poll(() => page.getByRole('rowheader').count()).toBe(1);
        await page.getByLabel('Sort').selectOption('most alerts');
        expect(await audit(page)).toEqual([]);
        await shoot(page, `run-list-${look.width}`);
        await page.getByRole('link', { name: 'faulty' }).click();
        const title = `As seen at ${look.width} px`;
        await page.getByRole('button', { name: 'Title' }).click();
        const field = page.getByRole('textbox', { name: 'Title', exact: true });
        await field.fill(title);
        await field.press('Enter');
        await page.locator('.page-head').getByText(title).waitFor();
        await page.goBack();
        await page.getByLabel('Search').fill(title);
        await expect.poll(() => page.getByRole('rowheader').allTextContents()).toEqual([`faulty${title}`]);
      });
    }
  });

  it('shows no failure of an earlier attempt when the dialog of the title is opened again', async () => {
    await deployment.onPage(`#/runs/${RUN}`, DESK, async ({ page, complaints }) => {
      await page.route(`**/v1/runs/${RUN}`, (route) => route.abort());
      const dialog = page.getByRole('dialog', { name: /^Title of/ });
      const open = page.getByRole('button', { name: 'Title', exact: true });
      await open.click();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await open.click();
      await dialog.getByRole('textbox').waitFor();
      await expect.poll(() => dialog.getByRole('alert').count()).toBe(0);
      expect(complaints.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
    });
  });

  it('says that it loads when a step that failed to load is tried again', async () => {
    await deployment.onPage('#/batches', DESK, async ({ page, complaints }) => {
      const rollouts = `**/v1/runs/${RUN}/rollouts?*`;
      await page.route(rollouts, (route) => route.abort());
      await page.goto(`/#/runs/${RUN}/0`);
      const retry = page.getByRole('button', { name: 'Retry' });
      await retry.waitFor();
      await page.unroute(rollouts);
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(rollouts, async (route) => {
        await promise;
        await route.continue();
      });
      await retry.click();
      const status = page.locator('.page-head').getByRole('status');
      await status.filter({ hasText: 'Loading…' }).waitFor();
      expect(await retry.count()).toBe(0);
      resolve();
      await status.filter({ hasText: /^\d+ rollouts in/ }).waitFor();
      expect(complaints.splice(0).filter((text) => !text.includes('ERR_FAILED'))).toEqual([]);
    });
  });

  it('has no empty cell while the figures of a run are loaded', async () => {
    await deployment.onPage('#/batches', DESK, async ({ page }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(`**/v1/runs/${RUN}*`, async (route) => {
        await promise;
        await route.continue();
      });
      await page.goto('/#/runs');
      const row = page.getByRole('row').filter({ hasText: RUN });
      await row.getByText('loading…').first().waitFor();
      expect(await row.getByRole('cell').allTextContents()).not.toContain('');
      resolve();
      await row.getByText('lexical, not a model').waitFor();
      expect(await row.getByText('loading…').count()).toBe(0);
    });
  });

  it('says which runs have alerts that failed to load, not that they have none', async () => {
    await recordWithoutSignal('alerts-lost', 0);
    await deployment.onPage('#/batches', DESK, async ({ page, complaints }) => {
      await page.route('**/v1/runs/alerts-lost/alerts*', (route) => route.abort());
      await page.goto('/#/runs');
      const row = page.getByRole('row').filter({ hasText: 'alerts-lost' });
      await row.getByText('failed to load').waitFor();
      await page.getByLabel('With active alerts').check();
      await page.getByRole('status').filter({ hasText: 'the alerts of 1 run failed to load' }).waitFor();
      expect(complaints.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
    });
  });

  it('finds a run by its name, sorts, and loses one that is deleted after a confirmation', async () => {
    for (const id of ['to-delete', 'to-keep']) await deployment.recordGroup({ run: id, step: 0, group: 'prompt' }, 0);
    await deployment.onPage('#/runs', DESK, async ({ page }) => {
      const names = (): Promise<string[]> => page.getByRole('rowheader').allTextContents();
      await page.getByLabel('Search').fill('TO-');
      await expect.poll(names).toEqual(['to-keep', 'to-delete']);
      await page.getByLabel('Sort').selectOption('by name');
      await expect.poll(names).toEqual(['to-delete', 'to-keep']);
      await page.getByRole('cell', { name: 'refiner-gpt54-instance-rubric' }).first().waitFor();
      await page.getByRole('cell', { name: 'lexical, not a model' }).first().waitFor();
      await page.getByRole('link', { name: 'to-delete' }).click();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Keep it' }).click();
      await page.getByRole('button', { name: 'Delete' }).click();
      expect(await audit(page)).toEqual([]);
      await page.getByRole('button', { name: 'Delete the run' }).click();
      await page.getByRole('rowheader', { name: 'to-keep' }).waitFor();
      expect(await names()).not.toContain('to-delete');
    });
  });
});

it('says so where an address is of no page', async () => {
  await deployment.onPage('#/nothing/here', DESK, async ({ page }) => {
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.getByText('#/nothing/here').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  });
});

it('is reported as one page that opens from disk without a network, and as Markdown', async () => {
  const out = mkdtempSync(join(tmpdir(), 'citeward-report-test-'));
  try {
    const args = ['runs', 'report', RUN, '--out', out, '--markdown', '--url', deployment.worker.url];
    const ended = await runCiteward({ args, env: { CITEWARD_KEY: KEY } });
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('report written')]);
    expect(ended.stdout).toContain('`12 of 12 are those recorded`');
    const digest = /Run digest `([0-9a-f]{64})`/u.exec(ended.stdout)?.[1] ?? 'none';
    for (const look of [DESK, PHONE]) {
      const { page, complaints } = await visit(deployment.browser, 'http://unused.invalid', look, null);
      await page.context().setOffline(true);
      await page.goto(pathToFileURL(join(out, 'index.html')).href);
      await page.getByRole('heading', { level: 1, name: `Run ${RUN}` }).waitFor();
      await page.getByRole('img', { name: 'Figures by step' }).waitFor();
      await page.getByText(digest).waitFor();
      expect(await page.locator('article mark').count()).toBeGreaterThan(10);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(complaints).toEqual([]);
      await shoot(page, `report-${look.width}`);
      await page.context().close();
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

describe('a comparison', () => {
  it('shows one run under two recipes: curves, differences, and links to the rollouts', async () => {
    const reply = await deployment.call(`/v1/runs/${RUN}/replay`, { recipe: { set: { citation_weight: 1 } } });
    const { figures } = JSON.parse((await reply.text()).trim().split('\n').at(-1) ?? '');
    await deployment.onPage(`#/compare?a=${RUN}&b=${RUN}&citation_weight=1`, DESK, async ({ page }) => {
      const both = page.getByRole('region', { name: 'Rollouts of both' });
      await both.waitFor();
      await page.getByText('B is replayed with citation_weight 1.').waitFor();
      await page.getByRole('img', { name: /^Reward\. A: .*; B: / }).waitFor();
      await page.getByText(/^0 at every step: .*not scored/).waitFor();
      const mean = both.getByText('mean of B − A').locator('..').getByRole('definition');
      expect((await mean.textContent())?.replace('+', '')).toBe(figures.shift.mean.toFixed(2).replace('-', '−'));
      expect(await both.getByText('compared').locator('..').getByRole('definition').textContent()).toBe('12');
      const [a, b] = await both.getByRole('row').nth(1).getByRole('link').allTextContents();
      await both.getByRole('button', { name: 'Side by side' }).first().click();
      const differs = both.getByRole('row').filter({ hasText: 'reward' }).getByRole('cell');
      await both.locator('.pair .reading').nth(1).waitFor();
      expect(await differs.allTextContents()).toContain(a);
      expect(await differs.allTextContents()).toContain(b);
      await both.getByRole('button', { name: 'Side by side' }).first().click();
      await shoot(page, 'compare');
      await both.getByRole('row').nth(1).getByRole('link').nth(1).click();
      const own = page.getByRole('region', { name: 'In its group' }).locator('tr.is-shown');
      await page.getByText('citation_weight 1', { exact: true }).waitFor();
      expect(await own.getByRole('cell').nth(3).textContent()).toBe(b);
    });
  });

  it('shows one run under a named recipe, as the server replays it', async () => {
    const named = 'refiner-gpt54-instance-only';
    const reply = await deployment.call(`/v1/runs/${RUN}/replay`, { recipe: named });
    const { figures } = JSON.parse((await reply.text()).trim().split('\n').at(-1) ?? '');
    await deployment.onPage(`#/compare?a=${RUN}&b=${RUN}`, PHONE, async ({ page }) => {
      await page.getByRole('combobox', { name: 'Recipe of B' }).selectOption(named);
      await page.getByText(`B is replayed with recipe ${named}.`).waitFor();
      const both = page.getByRole('region', { name: 'Rollouts of both' });
      const mean = both.getByText('mean of B − A').locator('..').getByRole('definition');
      await expect
        .poll(async () => (await mean.textContent())?.replace('+', ''))
        .toBe(figures.shift.mean.toFixed(2).replace('-', '−'));
      expect(figures.shift.mean).not.toBe(0);
      expect(await audit(page)).toEqual([]);
      // A recipe of another family has no reward for these facts.
      await page.goto(`/#/compare?a=${RUN}&b=${RUN}&recipe=carr`);
      await page.getByText('There is no recipe carr of the family refiner.').waitFor();
    });
  });

  it('shows two runs, which are chosen on the page', async () => {
    await deployment.recordGroup({ run: 'other', step: 1, group: 'prompt' }, 0);
    await deployment.onPage(`#/runs/${RUN}`, PHONE, async ({ page }) => {
      await page.getByRole('link', { name: 'Compare' }).click();
      await page.getByRole('combobox', { name: 'B', exact: true }).selectOption('other');
      const both = page.getByRole('region', { name: 'Rollouts of both' });
      await both.waitFor();
      expect(page.url()).toBe(`${deployment.worker.url}/#/compare?a=${RUN}&b=other`);
      expect(await both.getByText('only in A').locator('..').getByRole('definition').textContent()).toBe('8');
      expect(await audit(page)).toEqual([]);
    });
  });
});

describe('a run that is recorded', () => {
  it('shows a new step and when it last changed, and is not asked for while the tab is hidden', async () => {
    const live = { run: 'live', group: 'prompt' };
    await deployment.recordGroup({ ...live, step: 0 }, 0);
    await deployment.onPage('#/runs/live', DESK, async ({ page }) => {
      // The time of the page passes as the test says.
      await page.clock.install();
      await page.reload();
      const table = page.getByRole('region', { name: 'Steps' });
      const afterPoll = async (value: () => Promise<unknown>): Promise<unknown> => {
        await page.clock.runFor(3_100);
        return value();
      };
      await table.getByRole('rowheader').first().waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      await deployment.recordGroup({ ...live, step: 1 }, 1);
      const steps = () => table.getByRole('rowheader').allTextContents();
      await expect.poll(() => afterPoll(steps), { timeout: 30_000 }).toEqual(['0', '1']);
      await page.getByText(/^Live, last changed \d\d:\d\d:\d\d \S+$/).waitFor();
      // Another group of an earlier step: the steps from the last one on do not show it.
      await deployment.recordGroup({ ...live, step: 0, group: 'other' }, 2);
      const rollouts = () => table.getByRole('row').nth(1).getByRole('cell').first().textContent();
      await expect.poll(() => afterPoll(rollouts), { timeout: 30_000 }).toBe('8');

      const setVisibility = (state: string): Promise<unknown> =>
        page.evaluate(`{
          Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }`);
      await setVisibility('hidden');
      let asked = 0;
      page.on('request', (request) => {
        if (request.url().includes('/v1/runs/live')) asked++;
      });
      await page.clock.runFor(600_000);
      expect(asked).toBe(0);
      await setVisibility('visible');
      await expect.poll(() => asked).toBeGreaterThan(0);
    });
  });
});
