/**
 * The dashboard in Chromium against a real Worker process: by mouse and keyboard, on desktop and phone, light and dark.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureDashboard } from '../../scripts/build-dashboard.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { digestJson } from '../../src/digest.ts';
import { compose, RECIPES } from '../../src/families/composers.ts';
import type { RefinerFacts } from '../../src/families/refiner/facts.ts';
import { type RunFileLine, writeRunLine } from '../../src/runs/run-file.ts';
import { audit, DESK, type Look, launchChromium, PHONE, type Visit, visit } from './dashboard-browser.ts';
import { INSTALL_MS, install, root } from './processes.ts';

const KEY = 'k'.repeat(43);
const RUN = 'three-steps';
const RECIPE = 'refiner-gpt54-instance-rubric';
const SHOTS = process.env['DASHBOARD_SHOTS'];

type Example = Readonly<Record<string, unknown>> & { readonly id: string; readonly response: string };

const examples: readonly Example[] = readFileSync(join(root, 'examples/rollouts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

let worker: LocalWorker;
let browser: Browser;
let folder: string;
let batch: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-dashboard-'));
  await Promise.all([ensureDashboard(), install('scripts/install-chromium.sh')]);
  const scopes = ['verify', 'score', 'batch', 'admin'];
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  [worker, browser] = await Promise.all([
    startLocalWorker({
      variables: { API_KEYS: JSON.stringify({ tester: { sha256, scopes } }), ALLOW_LEXICAL_JUDGE: 'true' },
      deadline_ms: 90_000,
    }),
    launchChromium(),
  ]);
  for (const step of [0, 1, 2]) await recordStep(step);
  batch = await sendBatch();
}, INSTALL_MS);

afterAll(async () => {
  await browser?.close();
  await worker?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function example(id: string): Example {
  const found = examples.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no example ${id}`);
  return found;
}

/** The fields of a request, out of a row of the examples. */
function requestOf({ id: _id, note: _note, ...fields }: Example): Readonly<Record<string, unknown>> {
  return { ...fields, recipe: RECIPE };
}

async function api<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${worker.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${KEY}`, ...init.headers },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

function post<T>(path: string, body: unknown): Promise<T> {
  return api(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

/** Four samples of one prompt: each is the example's answer with some claims removed; later steps remove more. */
async function recordStep(step: number): Promise<void> {
  const { response, reasoning: _reasoning, finish_reason, ...shared } = requestOf(example('good-answer'));
  const whole = String(response);
  const claims = whole.match(/<snippet [^>]*>.*?<\/snippet>/gs) ?? [];
  const texts = [0, 1, 2, 3].map((n) =>
    claims.slice(0, n + step).reduce((text, claim) => text.replace(claim, ''), whole),
  );
  const responses = texts.map((text) => ({ response: text, finish_reason }));
  await post('/v1/groups', { ...shared, responses, run: { id: RUN, step, group: 'prompt' }, store_text: true });
}

async function sendBatch(): Promise<string> {
  const good = requestOf(example('wrong-number'));
  const bodies = [good, { ...good, positive_rubrik: [] }, { ...good, judge: 'absent' }, { ...good, recipe: 'none' }];
  const lines = bodies.map((body, n) =>
    JSON.stringify({ custom_id: `row-${n}`, method: 'POST', url: '/v1/score', body }),
  );
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([`${lines.join('\n')}\n`]), 'in.jsonl');
  const file = await api<{ id: string }>('/v1/files', { method: 'POST', body: form });
  const request = { input_file_id: file.id, endpoint: '/v1/score', completion_window: '24h' };
  return (await post<{ id: string }>('/v1/batches', request)).id;
}

/** Opens a page, does something there, and asks that nothing was complained of. */
async function onPage(hash: string, look: Look, body: (visit: Visit) => Promise<void>): Promise<void> {
  const opened = await visit(browser, worker.url, look, KEY);
  try {
    await opened.page.goto(`/${hash}`);
    await body(opened);
    expect(opened.complaints).toEqual([]);
  } finally {
    await opened.page.context().close();
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}

describe('the page itself', () => {
  it('comes with a policy that allows no inline code, and holds none', async () => {
    const response = await fetch(`${worker.url}/`);
    const policy = response.headers.get('content-security-policy') ?? '';
    const directives = new Map(policy.split(';').map((part) => [part.trim().split(' ')[0], part.trim()]));
    expect(directives.get('default-src')).toBe("default-src 'none'");
    for (const name of ['script-src', 'style-src', 'connect-src']) expect(directives.get(name)).toBe(`${name} 'self'`);
    for (const name of ['frame-ancestors', 'base-uri', 'form-action'])
      expect(directives.get(name)).toBe(`${name} 'none'`);
    expect(directives.has('require-trusted-types-for')).toBe(true);
    expect(policy).not.toContain('unsafe');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    const page = await response.text();
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc="\/assets\/)/);
  });

  it('is reported when it breaks that policy, so that the other tests would see it', async () => {
    const { page, complaints } = await visit(browser, worker.url, DESK, KEY);
    await page.goto('/');
    await page.evaluate(`{
      const style = document.createElement('style');
      style.textContent = 'body { color: red }';
      document.head.append(style);
    }`);
    await expect.poll(() => complaints.join()).toContain('Content Security Policy');
    await page.context().close();
  });

  it('asks for a key, keeps it in this tab alone, and sends it as a header', async () => {
    const { page } = await visit(browser, worker.url, DESK, null);
    const sent: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.url().includes(KEY)) throw new Error('the key is in an address');
      if (request.url().includes('/v1/')) sent.push(request.headers()['authorization']);
    });
    await page.goto('/#/runs');
    await page.getByRole('button', { name: 'Enter an API key' }).click();
    await page.getByLabel('API key').fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: RUN }).waitFor();
    expect(sent.at(0)).toBeUndefined();
    expect(sent.at(-1)).toBe(`Bearer ${KEY}`);
    const kept = await page.evaluate(
      '[Object.values(sessionStorage), Object.values(localStorage), document.cookie, location.href]',
    );
    expect(kept).toEqual([[KEY], [], '', `${worker.url}/#/runs`]);
    await page.context().close();
  });

  it('leads from /docs to the API', async () => {
    await onPage('docs', DESK, async ({ page }) => {
      await page.getByRole('heading', { name: 'API', level: 1 }).waitFor();
      expect(page.url()).toBe(`${worker.url}/#/docs`);
      const { paths } = await api<{ paths: Record<string, object> }>('/openapi.json');
      const routes = Object.values(paths).flatMap((methods) => Object.keys(methods));
      await expect.poll(() => page.locator('details.route').count()).toBe(routes.length);
      await page.getByLabel('Find a route').fill('/v1/score');
      await page.locator('summary', { hasText: 'Scores one rollout under a recipe' }).click();
      await page.getByText('positive_rubrics', { exact: true }).first().waitFor();
    });
  });
});

describe('playground', () => {
  it('marks claims, shows the passage of the source, and goes there and back by keyboard', async () => {
    await onPage('#/playground/wrong-number', DESK, async ({ page }) => {
      const claims = page.locator('a.claim');
      await claims.nth(1).hover();
      const panel = page.getByRole('region', { name: 'Sources of claim 2' });
      await panel.waitFor();
      await expect.poll(() => panel.locator('mark').first().textContent()).toContain('25 to 30 million years');

      await page.mouse.move(0, 0);
      await claims.first().focus();
      await page.keyboard.press('Tab');
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('claim-1');
      await page.keyboard.press('Enter');
      await expect
        .poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"))
        .toBe('Sources of claim 2');
      await page.keyboard.press('Escape');
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('claim-1');
    });
  });

  it('scores the rollout as the API does, and says the request as curl without the key', async () => {
    await onPage('#/playground/wrong-number', DESK, async ({ page }) => {
      await page.getByRole('button', { name: 'Score', exact: true }).click();
      await page.locator('.reward-value').waitFor();
      const body = requestOf(example('wrong-number'));
      const { reward, components } = await post<{ reward: number; components: Record<string, { value: number }> }>(
        '/v1/score',
        body,
      );
      await expect.poll(() => page.locator('.reward-value').textContent()).toBe(`${Number(reward.toFixed(3))} of 10`);
      const rubric = page.getByRole('row', { name: /^rubric/ }).getByRole('cell');
      await expect
        .poll(() => rubric.first().textContent())
        .toBe(String(Number(components['rubric']?.value.toFixed(3))));
      await expect
        .poll(() => page.locator('a.claim').first().getAttribute('aria-label'))
        .toContain('judged not supported');

      await page.getByText('The request as curl').click();
      const curl = await page.getByLabel('The request as curl').inputValue();
      expect(curl).toContain(`curl -s ${worker.url}/v1/score`);
      expect(curl).toContain('$CITEWARD_KEY');
      expect(curl).not.toContain(KEY);
      const [, json = ''] = /<<'REQUEST'\n([\s\S]*)\nREQUEST$/.exec(curl) ?? [];
      expect(JSON.parse(json)).toEqual(body);
      await shoot(page, 'playground');
    });
  });

  it('begins with a wrong number: corrected, its claim is supported and the reward rises', async () => {
    await onPage('#/playground', DESK, async ({ page }) => {
      const first = page.locator('a.claim').first();
      const score = async (): Promise<number> => {
        await page.getByRole('button', { name: 'Score', exact: true }).click();
        await page.locator('.reward-value').waitFor();
        await page.locator('.stale-note').waitFor({ state: 'detached' });
        return Number.parseFloat((await page.locator('.reward-value').textContent()) ?? '');
      };
      const before = await score();
      await expect.poll(() => first.getAttribute('aria-label')).toContain('judged not supported');
      await page.getByText('word-matching stand-in, not a model').waitFor();
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      const response = page.getByLabel('Response');
      await response.fill((await response.inputValue()).replace('1,462', '1,642'));
      const after = await score();
      await expect.poll(() => first.getAttribute('aria-label')).toContain('judged supported');
      expect(after).toBeGreaterThan(before + 1);
    });
  });

  it('verifies as one types, and shows hostile text as text', async () => {
    await onPage('#/playground/own', DESK, async ({ page }) => {
      const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
      const rollout = {
        question: hostile,
        tool_output: `<snippet id=S1>${hostile} The bridge opened in 1937.</snippet>`,
        response: `<answer><snippet id=S1>The bridge opened in 1937. ${hostile}</snippet></answer>`,
      };
      await page.getByText('Paste a rollout as JSON').click();
      await page.getByLabel('A line of a rollout file').fill(JSON.stringify(rollout));
      await page.locator('a.claim').hover();
      await expect.poll(() => page.locator('a.claim').textContent()).toContain(hostile);
      expect(await page.locator('main img, main script').count()).toBe(0);
      await page.getByLabel('Response').fill('<answer><snippet id=S9>It opened in 1937.</snippet></answer>');
      await page.getByText('Invented source').first().waitFor();
    });
  });
});

describe('runs', () => {
  it('draws a run, tells the same as a table, and leads to its rollouts and their text', async () => {
    const { steps } = await api<{ steps: { step: number; reward: { mean: number } }[] }>(`/v1/runs/${RUN}`);
    await onPage('#/runs', DESK, async ({ page }) => {
      await page.getByRole('link', { name: RUN }).click();
      await page.getByRole('img', { name: /^Reward\. mean/ }).waitFor();
      await expect.poll(() => page.locator('canvas').count()).toBe(6);
      const drawn = `[...document.querySelectorAll('canvas')].map((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.some((value) => value !== 0);
      })`;
      await expect.poll(() => page.evaluate(drawn)).toEqual([true, true, true, true, true, true]);
      for (const { step, reward } of steps) {
        const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: String(step) }) });
        await expect.poll(() => row.getByRole('cell').nth(2).textContent()).toBe(reward.mean.toFixed(2));
      }
      await page.getByRole('rowheader', { name: '1' }).getByRole('link').click();
      await page.getByRole('button', { name: 'Read: text of prompt, sample 0' }).click();
      await page.locator('a.claim').first().waitFor();
      await expect.poll(() => page.locator('.question').textContent()).toBe(example('good-answer')['question']);
    });
  });
});

describe('replay', () => {
  it('composes in the browser what the server replays', async () => {
    await onPage(`#/replay/${RUN}`, DESK, async ({ page }) => {
      const slider = page.getByRole('slider', { name: 'citation weight' });
      await slider.focus();
      for (let press = 0; press < 60; press++) await page.keyboard.press('ArrowRight');
      const weight = Number(await slider.inputValue());
      expect(weight).toBeGreaterThan(0.2);
      const recipe = { set: { citation_weight: weight } };
      const reply = await fetch(`${worker.url}/v1/runs/${RUN}/replay`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ recipe }),
      });
      const { figures } = JSON.parse((await reply.text()).trim().split('\n').at(-1) ?? '');
      const mean = page.locator('.figures dd').first();
      await expect.poll(() => mean.textContent()).toContain(figures.after.mean.toFixed(3));
      const command = page.getByLabel('Command', { exact: true });
      const text = await command.inputValue();
      expect(text.startsWith('npx citeward replay ')).toBe(true);
      expect(text).toContain(`--set citation_weight=${weight}`);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save recipe' }).click(),
      ]);
      const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
      expect(saved).toEqual({ ...RECIPES[RECIPE], citation_weight: weight });
      await page.getByRole('button', { name: 'Reset', exact: true }).click();
      await expect.poll(() => slider.inputValue()).toBe('0.2');
    });
  });

  it('refuses a recipe that there cannot be, and says which field', async () => {
    await onPage(`#/replay/${RUN}`, DESK, async ({ page }) => {
      await page.getByLabel('citation weight, as a number').fill('1.5');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('citation_weight: at most 1 when mix is "convex"').waitFor();
    });
  });

  it('recomputes 5,000 rollouts of a file at the speed of a drag', async () => {
    const file = join(folder, 'run.jsonl');
    writeFileSync(file, await bigRun());
    await onPage('#/replay', DESK, async ({ page }) => {
      await page.locator('input[type=file]').setInputFiles(file);
      const slider = page.getByRole('slider', { name: 'citation weight' });
      await slider.waitFor();
      const ratios: number[] = [];
      const frames: number[] = [];
      await slider.focus();
      for (let move = 0; move < 40; move++) {
        await page.keyboard.press(move < 20 ? 'ArrowRight' : 'ArrowLeft');
        const [recompute = 0, read = 0, rollouts] = await timesOf(page);
        expect(rollouts).toBe(5_000);
        ratios.push(recompute / read);
        frames.push(recompute / (1000 / 60));
      }
      const [ratio, frame] = [median(ratios), median(frames)];
      // The aim is 3; other processes may have the machine while one of the two is timed.
      expect(ratio).toBeLessThan(12);
      console.log(`5,000 rollouts: ${ratio.toFixed(2)} x a plain read, ${(100 * frame).toFixed(0)} % of a frame`);
      await page.getByLabel('citation weight, as a number').fill('0.6');
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'Largest changes' }).getByRole('row').nth(1).waitFor();
      await expect
        .poll(() => page.getByText('rank correlation within groups').locator('..').textContent())
        .not.toMatch(/groups1$/);
      await shoot(page, 'replay');
    });
  });
});

/** Reads from the page how long its last recomputation took, in milliseconds, and how many rollouts it covered. */
async function timesOf(page: Page): Promise<(number | undefined)[]> {
  const said = page.locator('.recompute');
  const names = ['data-recompute-ms', 'data-read-ms', 'data-rollouts'];
  return Promise.all(names.map(async (name) => Number(await said.getAttribute(name))));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** 25 steps of 25 groups of 8, with 10 criteria and 7 statements each. */
async function bigRun(): Promise<string> {
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
  for (let n = 0; n < 5_000; n++) {
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
  return [...lines, { kind: 'end', rollouts: 5_000 } as const].map(writeRunLine).join('');
}

describe('batches', () => {
  it('counts errors by reason, and sends the lines that are chosen once more', async () => {
    await onPage(`#/batches/${batch}`, DESK, async ({ page }) => {
      const again = page.getByRole('button', { name: 'New batch of 3 lines' });
      await again.waitFor();
      const row = page.getByRole('row').filter({ hasText: 'input_invalid' });
      await expect.poll(() => row.getByRole('cell').nth(1).textContent()).toBe('2');
      await page.getByLabel('Retry lines with judge_unknown').uncheck();
      await page.getByRole('button', { name: 'New batch of 2 lines' }).click();
      const link = page.getByRole('link', { name: 'a new batch' });
      const id = (await link.getAttribute('href'))?.split('/').at(-1);
      await link.click();
      await page.getByText('0 of 2 · 2 failed').waitFor();
      const made = await api<{ request_counts: object }>(`/v1/batches/${id}`);
      expect(made.request_counts).toEqual({ total: 2, completed: 0, failed: 2 });
      await shoot(page, 'batch');
    });
  });
});

describe('every page can be used by everybody', () => {
  const pages: [name: string, hash: () => string, ready: string][] = [
    ['playground', () => '#/playground/wrong-number', 'a.claim'],
    ['editor', () => '#/playground/own', 'textarea'],
    ['runs', () => '#/runs', 'table'],
    ['run', () => `#/runs/${RUN}`, 'canvas'],
    ['step', () => `#/runs/${RUN}/0`, 'table'],
    ['replay', () => `#/replay/${RUN}`, '.figures'],
    ['batches', () => '#/batches', 'table'],
    ['batch', () => `#/batches/${batch}`, '.redrive'],
    ['docs', () => '#/docs', 'details.route'],
  ];
  // Contrast depends on the theme and space on the width, so these two combinations suffice; the others are screenshots
  // only.
  const more = [
    ['desk, dark', { ...DESK, theme: 'dark' }],
    ['phone', { ...PHONE, theme: 'light' }],
  ] as const;
  it.each([['desk', DESK], ['phone, dark', PHONE], ...(SHOTS === undefined ? [] : more)] as const)(
    '%s',
    async (place, look) => {
      await onPage('', look, async ({ page }) => {
        for (const [name, hash, ready] of pages) {
          await page.goto(`/${hash()}`);
          await page.locator(ready).first().waitFor();
          expect.soft(await audit(page), name).toEqual([]);
          await shoot(page, `${place.replace(', ', '-')}-${name}`);
        }
      });
    },
  );

  it('has a way past the header, and a dialog that gives the focus back', async () => {
    await onPage('#/playground/wrong-number', DESK, async ({ page }) => {
      await page.locator('a.claim').first().waitFor();
      await page.keyboard.press('Tab');
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content');
      const settings = page.getByRole('button', { name: 'Settings' });
      await settings.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Settings' }).waitFor();
      expect(await audit(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Settings');
    });
  });
});
