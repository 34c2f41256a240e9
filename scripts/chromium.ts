/** Starts Chromium for the tests of the dashboard and for the pictures of the documentation. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/**
 * Names of the executable in distributions; the first one found is used. The shell has no window to draw, which saves two
 * thirds of the processor time.
 */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** @throws Error if no Chromium is installed. */
export function launchChromium(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const executablePath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (executablePath === undefined) throw new Error('no Chromium: bash scripts/install-chromium.sh installs one');
  // Chromium's sandbox does not work as root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}
