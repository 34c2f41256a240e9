/** Cascades in BACKENDS: which tiers they may have. */
import { describe, expect, test } from 'vitest';
import { configuredBackends } from '../../../service/backends/configured.ts';
import { readBackends } from '../../../service/backends/settings.ts';

const NLI = { name: 'nli', kind: 'classifier', model: 'tiny/nli', slots: 1, base_url: 'http://127.0.0.1:9/score' };
const QWEN = {
  ...{ name: 'qwen', kind: 'vllm', model: 'qwen3', slots: 1, context_tokens: 8_192 },
  base_url: 'http://127.0.0.1:9/v1',
};

function read(cascades: object, default_judge: string | null = null) {
  const text = JSON.stringify({ backends: [NLI, QWEN], cascades, default_judge });
  return readBackends(text, { secret: () => undefined, isBound: () => false });
}

test('a cascade is a judge by its name, and may be the default', () => {
  const three = [{ judge: 'lexical', band: [0.02, 0.95] }, { judge: 'nli', band: [0.2, 0.8] }, { judge: 'qwen' }];
  const found = read({ cheap: three }, 'cheap');
  if (!found.ok) throw new Error(found.error.join('; '));
  const settings = { backends: found.value, allowLexicalJudge: false, allowExtractiveRefiner: false };
  const { default: byDefault, named } = configuredBackends(settings, {});
  expect(byDefault?.judge).toMatchObject({ name: 'cheap', context_tokens: 8_192 });
  expect(byDefault?.judge.model).toBe(`${named.at(-1)?.judge.model} [0.02, 0.95] > tiny/nli [0.2, 0.8] > qwen3`);
  expect(named.map(({ judge }) => judge.name)).toEqual(['qwen', 'nli', 'cheap', 'lexical']);
});

describe('refused', () => {
  test.each<[what: string, tiers: readonly object[], problem: string]>([
    [
      'a model that decides by a band',
      [{ judge: 'qwen', band: [0.2, 0.8] }, { judge: 'nli' }],
      '[0].judge: expected a classifier',
    ],
    ['a tier without a band', [{ judge: 'nli' }, { judge: 'qwen' }], '[0].band: expected [low, high]'],
    [
      'a band beside the threshold',
      [{ judge: 'nli', band: [0.6, 0.8] }, { judge: 'qwen' }],
      '[0].band: expected [low, high]',
    ],
    ['a band backwards', [{ judge: 'lexical', band: [0.8, 0.2] }, { judge: 'qwen' }], '[0].band: expected [low, high]'],
    [
      'a last tier with a band',
      [
        { judge: 'nli', band: [0.2, 0.8] },
        { judge: 'qwen', band: [0, 1] },
      ],
      '[1].band: not for the last',
    ],
    ['an unknown judge', [{ judge: 'nli', band: [0.2, 0.8] }, { judge: 'gone' }], '[1].judge: expected the name'],
    ['one tier', [{ judge: 'qwen' }], 'cascades.cheap: '],
  ])('%s', (_what, tiers, problem) => {
    const found = read({ cheap: tiers });
    expect(found.ok ? [] : found.error).toEqual([expect.stringContaining(problem)]);
  });

  test('a name that is in use', () => {
    const found = read({ qwen: [{ judge: 'nli', band: [0.2, 0.8] }, { judge: 'qwen' }] });
    expect(found).toMatchObject({
      ok: false,
      error: ['cascades.qwen: this name is already in use; choose another one'],
    });
  });
});
