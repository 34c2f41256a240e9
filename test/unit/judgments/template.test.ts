/** The template digest joins every key: it must follow the texts. */
import { expect, it } from 'vitest';
import { computeTemplateDigest, TEMPLATE_DIGEST } from '../../../src/judgments/template.ts';

it('is current: after a change of prompt, schema, data block or reader, put the new digest into template.ts', async () => {
  expect(TEMPLATE_DIGEST).toBe(await computeTemplateDigest());
});
