/** Replies of judges in the forms of several servers: Azure's chunks, content in parts, a reply taken for thinking. */
import { describe, expect, it } from 'vitest';
import { ChatCompletionReader } from '../../../lib/model-servers/dialects/completion-reader.ts';

function outcomeOf(...chunks: readonly object[]) {
  const reader = new ChatCompletionReader({ answers_as: 'judge', pinned: 'judge', echo: 'must' });
  for (const chunk of chunks) {
    const failure = reader.accept(chunk);
    if (failure !== null) return failure;
  }
  const outcome = reader.outcome();
  return outcome.ok ? outcome.completion.text : outcome.failure;
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  model: 'judge',
  choices: [{ index: 0, delta, finish_reason }],
});
const END = chunk({}, 'stop');

describe('the content filter of Azure', () => {
  const prompt = { id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
  const late = { id: '', model: '', choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] };

  it('says nothing about the model', () => {
    expect(outcomeOf(prompt, chunk({ content: '{"a"' }), late, chunk({ content: ': 1}' }), END)).toBe('{"a": 1}');
  });

  it.each([
    ['an empty model with text', { model: '', choices: [{ index: 0, delta: { content: 'x' } }] }],
    ['another model without text', { model: 'other', choices: [] }],
  ])('%s is another model', (_, other) => {
    expect(outcomeOf(chunk({ content: 'x' }), other, END)).toMatchObject({ reason: 'judge_model_mismatch' });
  });
});

it('joins content in parts', () => {
  const message = { content: [{ type: 'text', text: '{"a"' }, { type: 'image' }, { type: 'text', text: ': 1}' }] };
  expect(outcomeOf({ model: 'judge', choices: [{ message, finish_reason: 'stop' }] })).toBe('{"a": 1}');
});

describe('a reply in the field of the thinking', () => {
  it.each(['reasoning_content', 'reasoning'])('%s alone names the setting', (field) => {
    const failure = outcomeOf(chunk({ [field]: '{"a": 1}' }), END);
    expect(failure).toMatchObject({ reason: 'judge_reply_invalid' });
    expect(JSON.stringify(failure)).toContain('--reasoning-parser');
  });

  it('beside a reply is dropped', () => {
    expect(outcomeOf(chunk({ reasoning_content: 'I think.' }), chunk({ content: '{}' }), END)).toBe('{}');
  });

  it('an empty reply without it stays empty', () => {
    expect(outcomeOf(chunk({ content: '' }), END)).toBe('');
  });
});
