import type Anthropic from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';

it('sees the package', () => {
  const block = { type: 'text', text: 'a', citations: null } satisfies Anthropic.TextBlock;
  expect(block.type).toBe('text');
});
