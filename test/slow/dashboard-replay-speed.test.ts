/** The replay page of the dashboard in Chromium while a slider is dragged over a run of 10,000 rollouts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { digestJson } from '../../src/digest.ts';
import { compose, RECIPES } from '../../src/families/composers.ts';
import type { RefinerFacts } from '../../src/families/refiner/facts.ts';
import { type RunFileLine, writeRunLine } from '../../src/runs/run-file.ts';
import { DESK } from '../e2e/dashboard-browser.ts';
import { DashboardDeployment, RECIPE, shoot } from '../e2e/dashboard-deployment.ts';
import { INSTALL_MS } from '../e2e/processes.ts';

const RUN = 'replayed';
/** Rollouts of the large run. */
const ROLLOUTS = 10_000;

let deployment: DashboardDeployment;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-dashboard-'));
  writeFileSync(join(folder, 'run.jsonl'), bigRun());
  deployment = await DashboardDeployment.start();
  for (const step of [0, 1, 2]) await deployment.recordGroup({ run: RUN, step, group: 'prompt' }, step);
}, INSTALL_MS);

afterAll(async () => {
  await deployment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('never shows older figures as current ones', async () => {
  const file = join(folder, 'run.jsonl');
  await deployment.onPage('#/replay', DESK, async ({ page }) => {
    await page.locator('input[type=file]').setInputFiles(file);
    const differences = page.getByRole('region', { name: 'Differences' });
    await differences.waitFor();
    // Notes at each change of the page what it shows, and moves the slider for 60 frames.
    const seen: Seen[] = await page.evaluate(`new Promise((done) => {
      const slider = document.querySelector('input[type=range]');
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
      const seen = [];
      const note = () => {
        const region = document.querySelector('[aria-label=Differences]');
        const live = document.querySelector('.figures');
        seen.push({
          mean: live.querySelector('dd').firstChild.textContent,
          isLiveOlder: live.getAttribute('aria-busy') === 'true',
          tau: region.querySelector('dd').textContent,
          isOlder: region.getAttribute('aria-busy') === 'true',
        });
      };
      new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      let moves = 0;
      const move = () => {
        set.call(slider, String(Math.min(1, 0.2 + moves * 0.01)));
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        if (++moves < 60) requestAnimationFrame(move);
        else settle();
      };
      // A slow machine may show the first current figures only now.
      const settle = () => {
        if (document.querySelector('.figures').getAttribute('aria-busy') === 'true') requestAnimationFrame(settle);
        else done(seen);
      };
      move();
    })`);
    const recorded = seen[0]?.mean;
    const moved = seen.filter(({ mean, isLiveOlder }) => mean !== recorded && !isLiveOlder);
    expect(moved.length).toBeGreaterThan(0);
    expect(moved.filter(({ tau, isOlder }) => tau === '1' && !isOlder)).toEqual([]);
    await expect.poll(() => differences.getAttribute('aria-busy')).toBe('false');
    expect(await differences.locator('dd').first().textContent()).not.toBe('1');
    expect(await page.getByText('advantages that changed sign').count()).toBe(1);
  });
});

it('draws the figures of a move in the frame of the move', async () => {
  await deployment.onPage(`#/replay/${RUN}`, DESK, async ({ page }) => {
    await page.locator('.figures').waitFor();
    // Frames until the figures are current: 1 = before the browser draws the slider.
    const frames: number[] = await page.evaluate(`new Promise((done) => {
      const slider = document.querySelector('input[type=range]');
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
      const frames = [];
      const move = () => {
        set.call(slider, String(0.2 + frames.length * 0.01));
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        let waited = 0;
        const look = () => {
          waited++;
          if (document.querySelector('.figures').getAttribute('aria-busy') === 'true') requestAnimationFrame(look);
          else if (frames.push(waited) < 21) requestAnimationFrame(move);
          else done(frames);
        };
        requestAnimationFrame(look);
      };
      requestAnimationFrame(move);
    })`);
    expect(median(frames)).toBe(1);
  });
});

it('recomputes 10,000 rollouts of a file at the speed of a drag', async () => {
  const file = join(folder, 'run.jsonl');
  await deployment.onPage('#/replay', DESK, async ({ page }) => {
    await page.locator('input[type=file]').setInputFiles(file);
    const slider = page.getByRole('slider', { name: 'citation weight' });
    await slider.waitFor();
    const ratios: number[] = [];
    const frames: number[] = [];
    await slider.focus();
    for (let move = 0; move < 40; move++) {
      await page.keyboard.press(move < 20 ? 'ArrowRight' : 'ArrowLeft');
      const [recompute = 0, read = 0, rollouts] = await timesOf(page);
      expect(rollouts).toBe(ROLLOUTS);
      ratios.push(recompute / read);
      frames.push(recompute / (1000 / 60));
    }
    const [ratio, frame] = [median(ratios), median(frames)];
    // The aim is 3; other processes may have the machine while one of the two is timed.
    expect(ratio).toBeLessThan(12);
    console.log(`10,000 rollouts: ${ratio.toFixed(2)} x a plain read, ${(100 * frame).toFixed(0)} % of a frame`);
    // The page draws in every frame of a drag, as far as a page that does nothing draws on this machine, and as far as
    // the machine recomputes within half a frame beside its other work.
    const idle = await framesOf(page, 'nothing');
    const { waits, recomputes } = await framesOf(page, 'a drag');
    const halves = Math.ceil(2 * median(recomputes));
    expect(median(waits)).toBeLessThanOrEqual(2 * median(idle.waits) * Math.max(1, halves));
    const last = [...waits].sort((a, b) => a - b)[Math.floor(0.95 * waits.length)];
    console.log(`10,000 rollouts, a drag: 95 % of the frames took at most ${last} of 16.7 ms`);
    await page.getByLabel('citation weight, as a number').fill('0.6');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Largest changes' }).getByRole('row').nth(1).waitFor();
    await expect
      .poll(() => page.getByText('rank correlation within groups').locator('..').textContent())
      .not.toMatch(/groups1$/);
    await shoot(page, 'replay');
  });
});

/** What the page showed at one moment. */
type Seen = {
  readonly mean: string;
  readonly isLiveOlder: boolean;
  readonly tau: string;
  readonly isOlder: boolean;
};

/** Reads from the page how long its last recomputation took, in milliseconds, and how many rollouts it covered. */
async function timesOf(page: Page): Promise<(number | undefined)[]> {
  const said = page.locator('.recompute');
  const names = ['data-recompute-ms', 'data-read-ms', 'data-rollouts'];
  return Promise.all(names.map(async (name) => Number(await said.getAttribute(name))));
}

/** In frames of 16.7 ms: the time between two drawings, and of the recomputation before each. */
type Frames = { readonly waits: readonly number[]; readonly recomputes: readonly number[] };

/** Moves the slider, or nothing, in each frame for two seconds. */
function framesOf(page: Page, what: 'a drag' | 'nothing'): Promise<Frames> {
  return page.evaluate(`new Promise((done) => {
    const slider = document.querySelector('input[type=range]');
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    const frame = 1000 / 60;
    const said = document.querySelector('.recompute');
    const times = [];
    const recomputes = [];
    const move = (now) => {
      times.push(now);
      recomputes.push(Number(said.getAttribute('data-recompute-ms')) / frame);
      if (${what === 'a drag'}) {
        set.call(slider, String(0.2 + (times.length % 60) * 0.01));
        slider.dispatchEvent(new Event('input', { bubbles: true }));
      }
      if (times.length < 120) requestAnimationFrame(move);
      else done({ waits: times.slice(1).map((time, n) => Math.round((time - times[n]) / frame)), recomputes });
    };
    requestAnimationFrame(move);
  })`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** 50 steps of 25 groups of 8, with 10 criteria and 7 statements each. */
function bigRun(): string {
  const recipe = RECIPES[RECIPE];
  const digest = digestJson(recipe);
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
  const lines: RunFileLine[] = [
    { kind: 'run', id: 'big', family: 'refiner', created_at: '2026-01-01T00:00:00Z' },
    { kind: 'recipe', digest, name: RECIPE, recipe: { ...recipe } },
  ];
  for (let n = 0; n < ROLLOUTS; n++) {
    const facts: RefinerFacts = {
      v: 1,
      family: 'refiner',
      has_answer: random() > 0.03,
      format: { answer_only: 1, full: 1 },
      finish_reason: 'stop',
      rubric: {
        status: 'scored',
        observed: Array.from({ length: 10 }, (_, at) => ({
          origin: at < 6 ? 'instance' : 'static',
          polarity: at % 3 === 0 ? 'negative' : 'positive',
          weight: 1,
          score: random() < 0.5 ? 2 : random() < 0.5 ? 1 : 0,
        })),
      },
      citation: {
        status: 'scored',
        observed: Array.from({ length: 7 }, () =>
          random() < 0.2
            ? { cited: false, needs_citation: random() < 0.5 }
            : { cited: true, support: random() < 0.6 ? 1 : 0.5, relevant: [random() < 0.7, random() < 0.4] },
        ),
      },
    };
    const { reward, reason } = compose(facts, recipe);
    lines.push({
      kind: 'rollout',
      rollout: {
        v: 1,
        run: 'big',
        step: Math.floor(n / 200),
        group: `prompt-${String(Math.floor(n / 8) % 25).padStart(2, '0')}`,
        sample: String(n % 8),
        attempt: 0,
        grouping: 'given',
        content: n.toString(16).padStart(64, '0'),
        recipe: digest,
        facts,
        judgments: [],
        reward,
        reason,
        recorded_at: '2026-01-01T00:00:00Z',
        components: {},
        cached: 0,
      },
    });
  }
  return [...lines, { kind: 'end', rollouts: ROLLOUTS } as const].map(writeRunLine).join('');
}
