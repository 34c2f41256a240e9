/** The replay page of the dashboard in Chromium: sliders, links, invalid settings, a phone. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECIPES } from '../../src/families/composers.ts';
import { audit, DESK, PHONE } from './dashboard-browser.ts';
import { DashboardDeployment, KEY, RECIPE, shoot } from './dashboard-deployment.ts';
import { INSTALL_MS } from './processes.ts';

const RUN = 'replayed';

let deployment: DashboardDeployment;

beforeAll(async () => {
  deployment = await DashboardDeployment.start();
  for (const step of [0, 1, 2]) await deployment.recordGroup({ run: RUN, step, group: 'prompt' }, step);
}, INSTALL_MS);

afterAll(async () => {
  await deployment?.stop();
});

describe('replay', () => {
  it('composes in the browser what the server replays', async () => {
    await deployment.onPage(`#/replay/${RUN}`, DESK, async ({ page }) => {
      const slider = page.getByRole('slider', { name: 'citation weight' });
      await slider.focus();
      for (let press = 0; press < 60; press++) await page.keyboard.press('ArrowRight');
      const weight = Number(await slider.inputValue());
      expect(weight).toBeGreaterThan(0.2);
      const recipe = { set: { citation_weight: weight } };
      const reply = await fetch(`${deployment.worker.url}/v1/runs/${RUN}/replay`, {
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
        // By key: a press of the mouse misses its button when the page grows between press and release.
        page.getByRole('button', { name: 'Save recipe' }).press('Enter'),
      ]);
      const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
      expect(saved).toEqual({ ...RECIPES[RECIPE], citation_weight: weight });
      await page.getByRole('button', { name: 'Reset', exact: true }).click();
      await expect.poll(() => slider.inputValue()).toBe('0.2');
    });
  });

  it('says beside the field what is wrong, and keeps the last valid value in force', async () => {
    await deployment.onPage(`#/replay/${RUN}`, DESK, async ({ page }) => {
      const box = page.getByLabel('citation weight, as a number');
      const mean = page.locator('.figures dd').first();
      await box.fill('0.8');
      await expect.poll(() => mean.textContent()).not.toMatch(/^([\d.]+)recorded \1$/);
      const before = await mean.textContent();
      await box.fill('5');
      const control = page.locator('.control').filter({ has: box });
      await control.getByRole('alert').waitFor();
      expect(await control.getByRole('alert').textContent()).toBe(
        'At most 1 when mix is "convex". The figures keep 0.8.',
      );
      expect(await box.getAttribute('aria-invalid')).toBe('true');
      expect(await mean.textContent()).toBe(before);
      expect(await page.getByRole('slider', { name: 'citation weight' }).inputValue()).toBe('0.8');
      expect(await page.getByLabel('Command', { exact: true }).inputValue()).toContain('--set citation_weight=0.8');
      expect(await audit(page)).toEqual([]);
      // Another field makes the value valid.
      await page.getByLabel('mix', { exact: true }).selectOption('additive');
      await control.getByRole('alert').waitFor({ state: 'detached' });
      await expect.poll(() => mean.textContent()).not.toBe(before);
    });
  });

  it('opens with the settings of a link, and keeps the address up to date', async () => {
    await deployment.onPage(
      `#/replay/${RUN}?citation_weight=0.6&non_stop_penalty.enabled=true&advantages=trl&colour=red`,
      DESK,
      async ({ page, complaints }) => {
        const box = page.getByLabel('citation weight, as a number');
        await expect.poll(() => box.inputValue()).toBe('0.6');
        await page.getByText('this recipe has no such setting: colour').waitFor();
        expect(await page.getByRole('checkbox', { name: 'non stop penalty · enabled' }).isChecked()).toBe(true);
        expect(await page.getByLabel('Advantage preset').inputValue()).toBe('trl');
        await box.fill('0.7');
        const address = `${deployment.worker.url}/#/replay/${RUN}?citation_weight=0.7&non_stop_penalty.enabled=true&advantages=trl`;
        await expect.poll(() => page.url()).toBe(address);
        await page.reload();
        await expect.poll(() => box.inputValue()).toBe('0.7');
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('button', { name: 'Copy link' }).click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address);
        // A link to other settings of the run that is shown, as in the bar of the browser.
        await page.evaluate(`location.hash = '#/replay/${RUN}?citation_weight=0.1'`);
        await expect.poll(() => box.inputValue()).toBe('0.1');
        expect(complaints).toEqual([]);
      },
    );
  });

  it('keeps the figures in view while a slider is moved on a phone', async () => {
    await deployment.onPage(`#/replay/${RUN}`, PHONE, async ({ page }) => {
      const slider = page.getByRole('slider', { name: 'citation weight' });
      await slider.waitFor();
      const bottom = page.getByLabel('Advantage preset');
      for (const control of [slider, bottom]) {
        await control.scrollIntoViewIfNeeded();
        for (const shown of [control, page.locator('.figures dd').first()]) {
          const box = await shown.boundingBox();
          expect(box?.y).toBeGreaterThanOrEqual(0);
          expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(PHONE.height);
        }
      }
      await shoot(page, 'phone-replay-scrolled');
    });
  });

  it('explains a setting by touch', async () => {
    await deployment.onPage(`#/replay/${RUN}`, PHONE, async ({ page }) => {
      const help = page.getByRole('button', { name: 'About citation weight' });
      await help.click();
      await page.getByText('Weight w of the citation score').waitFor();
      expect(await help.getAttribute('aria-expanded')).toBe('true');
      expect(await audit(page)).toEqual([]);
    });
  });
});
