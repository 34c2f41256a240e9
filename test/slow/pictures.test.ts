/** `npm run pictures` takes every picture of the documentation: the pages still have what the pictures show. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { install, root, runScript } from '../e2e/processes.ts';

/** The demo run is trained first, and Chromium may be missing. */
const LIMIT_MS = 600_000;
const MAX_BYTES = 150_000;

it('takes the pictures', { timeout: LIMIT_MS }, async () => {
  await install('scripts/install-chromium.sh');
  const folder = mkdtempSync(join(tmpdir(), 'citeward-pictures-'));
  try {
    const { code, stderr } = await runScript('scripts/pictures.ts', { args: ['--output', folder] });
    expect(code, stderr).toBe(0);
    expect(readdirSync(folder)).toEqual(readdirSync(join(root, 'docs/pictures')));
    for (const file of readdirSync(folder)) {
      const picture = readFileSync(join(folder, file));
      if (file.endsWith('.svg')) expect(picture.toString()).toMatch(/^<svg [\s\S]*baikal-good[\s\S]*<\/svg>\n$/u);
      else expect(picture.subarray(8, 12).toString('latin1'), file).toBe('WEBP');
      expect(picture.length, file).toBeLessThan(MAX_BYTES);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
