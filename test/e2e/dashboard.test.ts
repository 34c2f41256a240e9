/**
 * The dashboard in Chromium against a real Worker process: by mouse and keyboard, on desktop and phone, light and dark.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalWorker } from '../../scripts/local-worker.ts';
import { audit, DESK, type Look, PHONE, type Visit, visit } from './dashboard-browser.ts';
import { DashboardDeployment, example, KEY, requestOf, SHOTS, shoot } from './dashboard-deployment.ts';
import { citeward, INSTALL_MS } from './processes.ts';

const RUN = 'three-steps';

let deployment: DashboardDeployment;
let worker: LocalWorker;
let browser: Browser;
let folder: string;
let batch: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-dashboard-'));
  deployment = await DashboardDeployment.start();
  ({ worker, browser } = deployment);
  // Later steps remove more claims.
  for (const step of [0, 1, 2]) await deployment.recordGroup({ run: RUN, step, group: 'prompt' }, step);
  batch = await sendBatch();
}, INSTALL_MS);

afterAll(async () => {
  await deployment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function api<T>(path: string, init?: RequestInit): Promise<T> {
  return deployment.api(path, init);
}

function post<T>(path: string, body: unknown): Promise<T> {
  return deployment.post(path, body);
}

function onPage(hash: string, look: Look, body: (visit: Visit) => Promise<void>): Promise<void> {
  return deployment.onPage(hash, look, body);
}

async function sendBatch(): Promise<string> {
  const good = requestOf(example('wrong-number'));
  const bodies = [good, { ...good, positive_rubrik: [] }, { ...good, judge: 'absent' }, { ...good, recipe: 'none' }];
  // Ids as Python writes them: what is not ASCII is escaped.
  const lines = bodies.map((body, n) =>
    JSON.stringify({ custom_id: `ligne-${n}-é`, method: 'POST', url: '/v1/score', body }).replace('-é', '-\\u00e9'),
  );
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([`${lines.join('\n')}\n`]), 'in.jsonl');
  const file = await api<{ id: string }>('/v1/files', { method: 'POST', body: form });
  const request = { input_file_id: file.id, endpoint: '/v1/score', completion_window: '24h' };
  return (await post<{ id: string }>('/v1/batches', request)).id;
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
      expect(page.url()).toBe(`${worker.url}/#/api`);
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
      const body = { ...requestOf(example('wrong-number')), recipe: 'refiner-guarded' };
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
      await page.getByRole('combobox', { name: /^Citations/ }).selectOption('forbidden');
      await page.getByText('Forbidden citation').first().waitFor();
      expect(await score()).toBe(0);
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
      await page.getByText('Paste a rollout or').click();
      await page.getByLabel('A line of a rollout file').fill(JSON.stringify(rollout));
      await page.locator('a.claim').hover();
      await expect.poll(() => page.locator('a.claim').textContent()).toContain(hostile);
      expect(await page.locator('main img, main script').count()).toBe(0);
      await page.getByLabel('Response').fill('<answer><snippet id=S9>It opened in 1937.</snippet></answer>');
      await page.getByText('Invented source').first().waitFor();
    });
  });

  it('loads an answer of a vendor, and says how it was read and why another is refused', async () => {
    await onPage('#/playground/own', DESK, async ({ page }) => {
      const cited = { type: 'char_location', document_index: 0, cited_text: 'It opened in 1937.' };
      const answer = [
        { type: 'text', text: 'The bridge ' },
        { type: 'text', text: 'opened in 1937', citations: [{ ...cited, start_char_index: 0, end_char_index: 18 }] },
      ];
      const rollout = { cited_answer: answer, sources: [{ id: 'bridge', text: 'It opened in 1938.' }] };
      await page.getByText('Paste a rollout or').click();
      const field = page.getByLabel('A line of a rollout file');
      await field.fill(JSON.stringify(rollout));
      await page.getByText('an answer in the format anthropic').waitFor();
      await page.getByText('does not contain the text that the vendor quotes').waitFor();
      expect(await page.locator('a.claim').textContent()).toContain('opened in 1937');
      await shoot(page, 'vendor-answer');
      await field.fill('It opened in 1937 [1].\n\n## References\n\n1. https://bridge.example/history\n');
      await page.getByText('an answer in the format markdown').waitFor();
      await expect.poll(() => page.getByLabel('Response').inputValue()).toContain('It opened in 1937</snippet>');
      await page.getByText('The answer carries an address without text').waitFor();
      await field.fill(JSON.stringify({ cited_answer: answer, answer_format: 'gemini' }));
      await page.getByText('for answer_format gemini').waitFor();
      expect(await audit(page)).toEqual([]);
    });
  });
});

describe('editing', () => {
  it.each([
    ['desk', DESK],
    ['phone', PHONE],
  ] as const)('shows what it verifies without scrolling: %s', async (_place, look) => {
    await onPage('#/playground/wrong-number', look, async ({ page }) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      const response = page.getByLabel('Response');
      await response.fill('<answer><snippet id=S77>It opened in 1937.</snippet></answer>');
      const found = page.getByRole('status').filter({ hasText: 'Invented source' });
      await found.waitFor();
      // Below the field as well, on a screen that shows the whole of it.
      for (const field of [response, page.getByLabel('Negative criteria')]) {
        await field.focus();
        await field.scrollIntoViewIfNeeded();
        const box = await found.boundingBox();
        expect(box?.y).toBeGreaterThanOrEqual(0);
        expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(look.height);
      }
      expect(await audit(page)).toEqual([]);
      await shoot(page, `editing-${look.width}`);
    });
  });
});

it('shows the example with its score where the judge costs nothing, and an edited one without', async () => {
  await onPage('#/playground', DESK, async ({ page }) => {
    const reward = page.getByRole('region', { name: 'Reward' });
    await reward.getByText('of 10').waitFor();
    await reward.getByText('word-matching stand-in, not a model').waitFor();
  });
  await onPage('#/playground/own', DESK, async ({ page }) => {
    await page.getByText('Not scored yet.').waitFor();
  });
});

describe('runs', () => {
  it('draws a run, tells the same as a table, and leads to its rollouts and their text', async () => {
    const { steps } = await api<{ steps: { step: number; reward: { mean: number } }[] }>(`/v1/runs/${RUN}`);
    await onPage('#/runs', DESK, async ({ page }) => {
      // Three groups of four, with the mean over all of them.
      const mean = steps.reduce((sum, { reward }) => sum + reward.mean, 0) / steps.length;
      const listed = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: RUN }) });
      await expect.poll(() => listed.getByRole('cell').nth(5).textContent()).toBe('12');
      expect((await listed.getByRole('cell').nth(4).textContent())?.trim()).toBe(mean.toFixed(2));
      await page.getByRole('link', { name: RUN }).click();
      await page.getByRole('img', { name: /^Reward\. mean/ }).waitFor();
      // Charts of values that are 0 at every step are one line of text.
      await page.getByText(/^0 at every step: degenerate groups .*; not scored .*; cache hit rate /).waitFor();
      // Reward, components, spread, claims and citations, length, words, findings, criteria.
      await expect.poll(() => page.locator('canvas').count()).toBe(8);
      const drawn = `[...document.querySelectorAll('canvas')].map((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.some((value) => value !== 0);
      })`;
      await expect.poll(() => page.evaluate(drawn)).toEqual(Array(8).fill(true));
      const spoken = await page.getByRole('img', { name: /^Findings/ }).getAttribute('aria-label');
      expect(spoken).toContain('Invented source: 0.25 at step 0, 0.25 at step 2');
      await page.getByText('word-matching stand-in, not a model').waitFor();
      for (const { step, reward } of steps) {
        const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: String(step) }) });
        await expect.poll(() => row.getByRole('cell').nth(2).textContent()).toBe(reward.mean.toFixed(2));
      }
      await page.getByRole('rowheader', { name: '1' }).getByRole('link').click();
      await page.getByRole('link', { name: 'Read prompt, sample 0' }).waitFor();
      await page.getByText('word-matching stand-in, not a model').waitFor();
      await page.getByRole('link', { name: 'Read prompt, sample 0' }).click();
      await page.locator('a.claim').first().waitFor();
      await page.getByText('word-matching stand-in, not a model').waitFor();
      await expect.poll(() => page.locator('.question').textContent()).toBe(example('good-answer')['question']);
    });
  });
});

describe('batches', () => {
  it('counts errors by reason, and sends the lines that are chosen once more', async () => {
    await onPage(`#/batches/${batch}`, DESK, async ({ page }) => {
      // One line of four succeeds, and the others cannot succeed unchanged.
      await page.getByText('completed, 3 failed').waitFor();
      const lowest = page.getByRole('region', { name: 'Lowest rewards' });
      await lowest.getByRole('row').filter({ hasText: 'ligne-0-é' }).waitFor();
      await lowest.locator('.answer-row .claim').first().waitFor();
      await page.getByRole('img', { name: /^Distribution of the rewards, from/ }).waitFor();
      await page.getByText('mean reward').waitFor();
      const again = page.getByRole('button', { name: 'New batch of 0 lines' });
      await again.waitFor();
      expect(await again.isDisabled()).toBe(true);
      const row = page.getByRole('row').filter({ hasText: 'input_invalid' });
      await expect.poll(() => row.getByRole('cell').nth(1).textContent()).toBe('2');
      await row.getByText('fail again: correct the lines').waitFor();
      await page.getByLabel('Retry lines with input_invalid').check();
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

  it('says that an answer is not in the input file, and that the answers are being loaded', async () => {
    const { input_file_id } = await api<{ input_file_id: string }>(`/v1/batches/${batch}`);
    await onPage('#/batches', DESK, async ({ page }) => {
      const asked = Promise.withResolvers<void>();
      await page.route(`**/v1/files/${input_file_id}/content`, async (route) => {
        await asked.promise;
        await route.fulfill({ body: '\n' });
      });
      await page.goto(`/#/batches/${batch}`);
      const lowest = page.getByRole('region', { name: 'Lowest rewards' });
      await lowest.getByRole('status').filter({ hasText: 'Loading the answers…' }).waitFor();
      asked.resolve();
      await lowest.getByText('The answer was not found in the input file.').waitFor();
    });
  });
});

describe('labelling', () => {
  const SOURCES = [{ id: 'S1', text: 'The Aare is 288 km long.' }];
  const row = (id: string, claim: string, label: string) => {
    const pair = { pair: 'p', edit: 'number', reason: 'BY-CONSTRUCTION', question: 'How long?', sources: SOURCES };
    return { set: 'rivers', id, kind: 'claim', ...pair, claim, cites: ['S1'], label };
  };
  const ROWS = [
    row('a', 'It is 288 km long.', 'supported'),
    row('b', 'It is 300 km long.', 'unsupported'),
    { set: 'rivers', id: 'c', kind: 'needs_citation', statement: 'It was measured in 1974.', label: true },
  ];
  const rowsFile = (rows: readonly object[]) => ({
    name: 'rows.jsonl',
    mimeType: 'application/jsonl',
    buffer: Buffer.from(rows.map((one) => `${JSON.stringify(one)}\n`).join('')),
  });

  /** Labels all rows by keys. @param digitOf the key for the text that is judged. */
  async function labelAll(page: Page, rater: string, digitOf: (judged: string) => string): Promise<void> {
    await page.getByRole('button', { name: `Label as ${rater}` }).focus();
    await page.keyboard.press('Enter');
    for (let n = 1; n <= ROWS.length; n++) {
      await page.keyboard.press(digitOf(await page.locator('.is-judged dd').innerText()));
      await page.getByRole('button', { name: `Label as ${rater} (${n}/3)` }).waitFor();
    }
    await page.getByText('All rows are labelled.').waitFor();
  }

  it.each([
    ['desk', DESK],
    ['phone, dark', PHONE],
  ] as const)('two people label blind, by keys, and resolve what they see differently: %s', async (place, look) => {
    await onPage('#/label', look, async ({ page }) => {
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url()));
      await page.locator('input[type=file]').setInputFiles(rowsFile(ROWS));
      await page.getByLabel('First rater').fill('Ada');
      await page.getByLabel('Second rater').fill('Ben');
      await labelAll(page, 'Ada', (judged) => (judged.includes('300') ? '0' : judged.includes('288') ? '2' : '1'));
      // Neither the label that the row has nor anything that tells of it.
      const text = await page.locator('main').innerText();
      for (const hidden of ['BY-CONSTRUCTION', 'number', 'minimal']) expect(text).not.toContain(hidden);
      expect(await audit(page)).toEqual([]);
      await shoot(page, `${place.replace(', ', '-')}-label-rating`);
      await labelAll(page, 'Ben', (judged) => (judged.includes('288') ? '2' : '1'));

      // Progress is kept without the rows.
      await page.reload();
      expect(JSON.stringify(await page.evaluate('Object.values(localStorage)'))).not.toContain('Aare');
      await page.locator('input[type=file]').setInputFiles(rowsFile(ROWS));
      await page.getByRole('button', { name: 'Label as Ben (3/3)' }).waitFor();
      await page.getByRole('button', { name: 'Compare', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('1 disagreement, 0 resolved').waitFor();
      expect(await page.getByRole('row', { name: /Claims/ }).innerText()).toMatch(/2\s+50\.0 %\s+0\.\d\d/);
      await page.getByText('Ada: unsupported').waitFor();
      await page.getByText('Ben: in part').waitFor();
      expect(await audit(page)).toEqual([]);
      await shoot(page, `${place.replace(', ', '-')}-label-agreement`);
      await page.getByRole('button', { name: 'Export 2 rows' }).waitFor();
      expect(await page.getByRole('button', { name: 'Compare with the judge' }).isDisabled()).toBe(true);
      await page.keyboard.press('0');
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export 3 rows' }).click();
      const download = await saving;
      expect(download.suggestedFilename()).toBe('rows-labelled.jsonl');
      const path = join(folder, `labelled-${look.theme}.jsonl`);
      await download.saveAs(path);
      const lines = readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line));
      const ratings = (ada: unknown, ben: unknown) => ({
        ratings: [
          { rater: 'Ada', label: ada },
          { rater: 'Ben', label: ben },
        ],
      });
      expect(lines).toEqual([
        { ...ROWS[0], ...ratings('supported', 'supported') },
        { ...ROWS[1], ...ratings('unsupported', 'partial') },
        { ...ROWS[2], ...ratings(true, true) },
      ]);
      // All rows have a final label: the verdicts of the judge may be seen.
      await page.getByRole('button', { name: 'Compare with the judge' }).click();
      await page.getByText(/\d rows? with another verdict/).waitFor();
      expect(await audit(page)).toEqual([]);
      await shoot(page, `${place.replace(', ', '-')}-label-judge`);
      expect(sent.filter((url) => url.includes('/v1/'))).toEqual([]);
      const checked = await citeward('judge', 'check', path, '--quick');
      expect(checked).toMatchObject({ code: 0 });
      expect(checked.stderr).toContain('3 labelled rows');
    });
  });

  it('a wrong file is refused with the row and the field', async () => {
    await onPage('#/label', DESK, async ({ page }) => {
      await page
        .locator('input[type=file]')
        .setInputFiles(rowsFile([{ ...ROWS[0], cites: ['S9'] }, { question: 'q' }]));
      const alert = await page.getByRole('alert').innerText();
      expect(alert).toContain('row 1: cites.0: expected the id of one of the sources');
      expect(alert).toContain('row 2: kind: required');
    });
  });
});

describe('every page can be used by everybody', () => {
  const pages: [name: string, hash: () => string, ready: string][] = [
    ['start', () => '', 'a.claim'],
    ['playground', () => '#/playground/wrong-number', 'a.claim'],
    ['editor', () => '#/playground/own', 'textarea'],
    ['probe', () => '#/probe', 'textarea'],
    ['runs', () => '#/runs', 'table'],
    ['run', () => `#/runs/${RUN}`, 'canvas'],
    ['step', () => `#/runs/${RUN}/0`, 'table'],
    ['rollout', () => `#/runs/${RUN}/0/prompt/2`, 'a.claim'],
    ['compare', () => `#/compare?a=${RUN}&b=${RUN}&citation_weight=1`, 'canvas'],
    ['replay', () => `#/replay/${RUN}`, '.figures'],
    ['batches', () => '#/batches', 'table'],
    ['batch', () => `#/batches/${batch}`, '.redrive'],
    ['label', () => '#/label', 'input[type=file]'],
    ['api', () => '#/api', 'details.route'],
    ['unknown', () => '#/nothing/here', '.empty'],
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
