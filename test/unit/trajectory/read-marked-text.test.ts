/** The reader of transcripts that are one text, with the outputs of tools between marks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOf } from '../../../src/trajectory/final-turns.ts';
import { type ReadOptions, readTrajectory } from '../../../src/trajectory/read.ts';
import type { Trajectory } from '../../../src/trajectory/trajectory.ts';

function read(text: string, markup: NonNullable<ReadOptions['markup']>): Trajectory {
  const result = readTrajectory(text, { markup });
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const brief = ({ turns }: Trajectory) =>
  turns.map(({ role, text, calls, results }) => [
    role,
    text?.text.trim() ?? null,
    calls.map(({ arguments: given }) => given),
    results.map(({ output }) => output.text),
  ]);

const CALL = '<tool_call>\n{"name": "search", "arguments": {"q": "Aare"}}\n</tool_call>';
const OUTPUT = '<tool_response>\n288 km\n</tool_response>';
const ROUND = [
  ['assistant', 'I search.', [{ q: 'Aare' }], []],
  ['tool', null, [], ['\n288 km\n']],
  ['assistant', '<answer>288 km</answer>', [], []],
];

describe('a transcript that is one text', () => {
  it.each([
    ['as verl decodes it', `I search.\n${CALL}\nuser\n${OUTPUT}\nassistant\n<answer>288 km</answer>`],
    [
      'with the tokens of the template',
      `I search.\n${CALL}<|im_end|>\n<|im_start|>user\n${OUTPUT}<|im_end|>\n<|im_start|>assistant\n<answer>288 km</answer><|im_end|>`,
    ],
    ['without a template', `I search.\n${CALL}\n${OUTPUT}<answer>288 km</answer>`],
  ])('is read %s', (_name, text) => {
    const trajectory = read(text, 'hermes');
    expect(brief(trajectory)).toEqual(ROUND);
    expect(trajectory.findings).toEqual([]);
    expect(endOf(trajectory).num_turns).toBe(4);
    const [answer] = trajectory.turns.slice(-1);
    expect(answer?.text?.pieces[0]?.from).toBe(text.indexOf('<answer>'));
  });

  it('is read with the marks of Search-R1, or with those that the caller names', () => {
    const text = 'Hm. <search>Aare</search>\n<information>288 km</information>\n<answer>288 km</answer>';
    const own = { call: { open: '[[', close: ']]' }, result: { open: '((', close: '))' } };
    for (const [markup, given] of [
      ['search_r1', text],
      [own, 'Hm. [[Aare]]\n((288 km))\n<answer>288 km</answer>'],
    ] as const) {
      expect(brief(read(given, markup)).flat(2)).toEqual(
        expect.arrayContaining(['assistant', { query: 'Aare' }, '288 km', 'tool']),
      );
      expect(endOf(read(given, markup)).answer.text.trim()).toBe('<answer>288 km</answer>');
    }
  });

  it('keeps the policy at its word where a role is part of a sentence, and an output that was cut off', () => {
    expect(brief(read(`the user\n${OUTPUT}`, 'hermes'))[0]?.[1]).toBe('the user');
    expect(brief(read('assistant\nsaid', 'hermes'))).toEqual([['assistant', 'assistant\nsaid', [], []]]);
    expect(brief(read(`${CALL}<tool_response>\n288`, 'hermes'))[1]?.[3]).toEqual(['\n288']);
    expect(brief(read('', 'search_r1'))).toEqual([['assistant', '', [], []]]);
  });

  it('needs a markup, which a list of messages must not have', () => {
    const text = readTrajectory('x');
    expect(text.ok ? null : text.error).toEqual([
      { path: ['trajectory', 'markup'], message: 'required: the messages are one text' },
    ]);
    const list = readTrajectory([{ role: 'assistant', content: '' }], { markup: 'hermes' });
    expect(list.ok ? null : list.error[0]?.path).toEqual(['trajectory', 'markup']);
  });

  it('never loses or throws, and maps every turn back to the text', () => {
    const piece = fc.constantFrom(
      CALL,
      OUTPUT,
      '<tool_response>',
      '</tool_call>',
      '\nuser\n',
      'assistant',
      '<|im_end|>',
      ' ',
      'a',
      '😀',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        for (const { text: own, results } of read(text, 'hermes').turns) {
          for (const traced of [...(own === null ? [] : [own]), ...results.map(({ output }) => output)]) {
            for (const { start, end, from } of traced.pieces) {
              expect(text.slice(from, from + end - start)).toBe(traced.text.slice(start, end));
            }
          }
        }
      }),
    );
  });

  it('takes linear time, and refuses more turns than a list may have', () => {
    const text = `${OUTPUT}${'<|im_end|>\n'.repeat(100_000)}`;
    expect(read(text, 'hermes').turns).toHaveLength(1);
    const many = readTrajectory('a<tool_response></tool_response>'.repeat(50_000), { markup: 'hermes' });
    expect(many.ok).toBe(false);
  });
});
