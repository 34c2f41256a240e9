/** Real Chromium for the dashboard's tests: whatever the page complains of is gathered, and a test asks for none of it. */
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { root } from './processes.ts';

/** Names that a distribution gives it, the first that is there. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

export function launchChromium(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const executablePath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (executablePath === undefined) throw new Error('no Chromium: bash scripts/install-chromium.sh installs one');
  // Its own sandbox needs an account other than root's.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}

export type Look = { readonly width: number; readonly height: number; readonly theme: 'light' | 'dark' };

export const DESK = { width: 1280, height: 900, theme: 'light' } as const satisfies Look;
export const PHONE = { width: 390, height: 844, theme: 'dark' } as const satisfies Look;

export type Visit = {
  readonly page: Page;
  /** Errors of the console, exceptions, violations of the page's policy. */
  readonly complaints: string[];
};

/** A page of its own context. @param key put where the dashboard keeps it; `null` = none. */
export async function visit(browser: Browser, url: string, look: Look, key: string | null): Promise<Visit> {
  const { width, height, theme } = look;
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  await context.addInitScript(auditScript());
  if (key !== null) await context.addInitScript(`sessionStorage.setItem('citeward.key', ${JSON.stringify(key)})`);
  const page = await context.newPage();
  const complaints: string[] = [];
  // A violation of the policy comes as an error of the console as well.
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, complaints };
}

function auditScript(): string {
  return stripTypeScriptTypes(readFileSync(join(root, 'dashboard/audit/audit.ts'), 'utf8'));
}

/** What is wrong with the page that is shown; nothing, as it should be. */
export function audit(page: Page): Promise<string[]> {
  return page.evaluate('auditPage()');
}
