/**
 * `npm run pictures`: takes the pictures of the documentation from the real pages. It starts a Worker of its own,
 * scores the example of the README, trains the demo run that finds vacuous credit, and photographs both in Chromium,
 * light and dark. It also records the terminal of `npm run demo` as an SVG. `--output FOLDER` writes them elsewhere. A
 * page that lacks what a picture shows ends the script.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { type Client, createClient } from '../clients/typescript/client.ts';
import { scoreRequestSchema } from '../src/wire/score.ts';
import { ensureDashboard } from './build-dashboard.ts';
import { launchChromium } from './chromium.ts';
import { trainAndRecord } from './demo-run/record.ts';
import { demoRuns } from './demo-run/runs.ts';
import { newIssuerKey } from './demo-run/state.ts';
import { showWithWorker } from './demo-worker.ts';
import { recordedLines, terminalSvg } from './terminal-recording.ts';

const root = resolve(import.meta.dirname, '..');
const START_MS = 60_000;
/** A page of a run of 3,072 rollouts, on a machine that does other work too. */
const PAGE_MS = 180_000;
const THEMES = ['light', 'dark'] as const;
/** About the width of the README on GitHub, so that letters keep their size; more pixels a point for dense screens. */
const VIEW = { width: 960, height: 1000 };
const SCALE = 1.5;
/** Space around the cards, in points. */
const MARGIN = 12;
/** Of WebP: letters show no artefacts from 0.8 on. */
const QUALITY = 0.8;

type Picture = {
  readonly name: string;
  /** Opens the page and returns what the picture shows, each visible. The picture ends with the last one. */
  readonly show: (page: Page) => Promise<readonly Locator[]>;
};

const EXAMPLE = { id: 'readme', step: 0, group: 'golden-gate', sample: '0' } as const;

function pictures(trained: string): readonly Picture[] {
  return [
    {
      name: 'answer',
      show: async (page) => {
        const { id, step, group, sample } = EXAMPLE;
        await page.goto(`/#/runs/${id}/${step}/${group}/${sample}`);
        await page.getByText('Edit a copy in the playground').click();
        await page.getByRole('button', { name: 'Score', exact: true }).click();
        await page.locator('.reward-value').waitFor();
        await page.getByText('1,820').first().hover();
        await page.getByText('Its main span measures 1,280 metres').waitFor();
        const answer = page.getByRole('region', { name: 'Answer' });
        await answer.getByText('Not supported').waitFor();
        return [answer, page.getByRole('region', { name: 'Findings' }), page.getByRole('region', { name: 'Reward' })];
      },
    },
    {
      name: 'run',
      show: async (page) => {
        await page.goto(`/#/runs/${trained}`);
        const alerts = page.getByRole('region', { name: 'Alerts' });
        await alerts.getByText('reference gap').waitFor();
        await alerts
          .getByRole('link', { name: /^All answers of step \d+$/ })
          .first()
          .waitFor();
        // Two alerts say enough; all of them would be a large picture.
        return [alerts.getByRole('heading'), ...(await alerts.getByRole('listitem').all()).slice(0, 2)];
      },
    },
    {
      name: 'replay',
      show: async (page) => {
        await page.goto(`/#/replay/${trained}?negatives_require_positive=true`);
        await page.getByText('recorded: false').waitFor();
        await page.getByRole('region', { name: 'Differences' }).getByText('rank correlation').first().waitFor();
        const shown = ['Recipe', 'Figures', 'Charts'];
        return shown.map((name) => page.getByRole('region', { name, exact: true }));
      },
    },
  ];
}

/** Scores the example of the README, with its text, so that its page can be opened. */
async function recordExample(client: Client): Promise<void> {
  const example: unknown = JSON.parse(await readFile(join(root, 'examples/request.json'), 'utf8'));
  const scored = await client.score({
    ...scoreRequestSchema.parse(example),
    detail: 'full',
    run: EXAMPLE,
    store_text: true,
  });
  if (!scored.ok) throw new Error(`the example was not scored: ${JSON.stringify(scored.failure)}`);
}

/**
 * The rectangle around what is shown, down to the end of the last one, with a margin.
 * @throws Error if something is not visible.
 */
async function frameOf(shown: readonly Locator[]): Promise<{ x: number; y: number; width: number; height: number }> {
  const boxes = await Promise.all(
    shown.map(async (one) => {
      await one.waitFor();
      const box = await one.boundingBox();
      if (box === null) throw new Error(`${one} is not visible`);
      return box;
    }),
  );
  const x = Math.min(...boxes.map((box) => box.x)) - MARGIN;
  const y = Math.min(...boxes.map((box) => box.y)) - MARGIN;
  const right = Math.max(...boxes.map((box) => box.x + box.width)) + MARGIN;
  const bottom = Math.max(...boxes.slice(-1).map((box) => box.y + box.height)) + MARGIN;
  return { x, y, width: right - x, height: bottom - y };
}

/** Photographs a page. Returns the picture as WebP, which Chromium encodes in an empty page. */
async function photograph(browser: Browser, url: string, theme: (typeof THEMES)[number], picture: Picture) {
  const context = await browser.newContext({
    baseURL: url,
    viewport: VIEW,
    deviceScaleFactor: SCALE,
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(PAGE_MS);
    const clip = await frameOf(await picture.show(page));
    const png = await page.screenshot({ clip, fullPage: true });
    const encoder = await context.newPage();
    const encoded: unknown = await encoder.evaluate(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${png.toString('base64')}';
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      canvas.getContext('2d').drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', ${QUALITY}).split(',')[1];
    })()`);
    if (typeof encoded !== 'string') throw new Error('Chromium encoded no WebP');
    return Buffer.from(encoded, 'base64');
  } finally {
    await context.close();
  }
}

async function takePictures(url: string, output: string): Promise<void> {
  const client = createClient({ url: new URL(url), key: null });
  const run = demoRuns().find(({ name }) => name === 'vacuous-credit');
  if (run === undefined) throw new Error('no demo run finds vacuous credit');
  await recordExample(client);
  for await (const { step } of trainAndRecord(client, run, [])) {
    if (step + 1 === run.size.steps) console.log(`trained ${run.id}`);
  }
  const browser = await launchChromium();
  try {
    for (const picture of pictures(run.id)) {
      for (const theme of THEMES) {
        const path = join(output, `${picture.name}-${theme}.webp`);
        const bytes = await photograph(browser, url, theme, picture);
        await writeFile(path, bytes);
        console.log(`${path} ${Math.round(bytes.length / 1000)} KB`);
      }
    }
  } finally {
    await browser.close();
  }
}

/** Records the demo up to its third part: the Worker starts, and ten answers to one question are scored. */
async function recordDemo(output: string): Promise<void> {
  const lines = await recordedLines('scripts/demo.ts', root, (text) => text.includes('3. Score the same'));
  while (lines.at(-1)?.text === '') lines.pop();
  if (!lines.some(({ text }) => text.includes('judge calls'))) throw new Error('the demo scored nothing');
  for (const theme of THEMES) {
    const path = join(output, `demo-${theme}.svg`);
    const svg = terminalSvg('npm run demo', lines, theme);
    await writeFile(path, svg);
    console.log(`${path} ${Math.round(svg.length / 1000)} KB`);
  }
}

const { values } = parseArgs({ options: { output: { type: 'string', default: join(root, 'docs/pictures') } } });
await mkdir(values.output, { recursive: true });
await ensureDashboard();
await recordDemo(values.output);
await showWithWorker(
  'Taking the pictures',
  async () => {
    // The demo asks for receipts.
    const variables = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', ISSUER_KEY: await newIssuerKey() };
    return { variables, deadline_ms: START_MS };
  },
  ({ url }) => takePictures(url, values.output),
);
