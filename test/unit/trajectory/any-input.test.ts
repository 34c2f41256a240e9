/** The reader never throws: any JSON gives a trajectory, or problems with a path. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTrajectory } from '../../../src/trajectory/read.ts';
import { trajectoryReport, trajectoryReportSchema } from '../../../src/trajectory/report.ts';
import { readMessages, SOURCE_IDS } from '../../../src/trajectory/rollout-messages.ts';

const NAMES = [
  'role',
  'content',
  'type',
  'text',
  'tool_calls',
  'function',
  'name',
  'arguments',
  'id',
  'tool_call_id',
  'output',
  'call_id',
  'reasoning_content',
  'thinking',
  'input',
  'message',
  'parent',
  'sampled',
  'results',
  'outputs',
  'logs',
  'summary',
  'error',
  'refusal',
  'truncated_content',
  'tool_use_id',
  'action',
  '__proto__',
  'constructor',
];
const WORDS = [
  'assistant',
  'user',
  'tool',
  'system',
  'text',
  'output_text',
  'tool_use',
  'tool_result',
  'function_call',
  'mcp_call',
  'function_call_output',
  'reasoning',
  'file_search_call',
  'code_interpreter_call',
  'custom_tool_call',
  '{"q":1}',
  '<tool_call>{"name":"a","arguments":{}}</tool_call>',
  '<tool_response>',
  '</tool_response>',
  '<answer>',
  '',
  '\ud800',
];

const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(...WORDS, null, true, 0, 3),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('tree'), { maxKeys: 5 }),
  ),
}));
const message = fc
  .tuple(fc.constantFrom(...WORDS), fc.dictionary(fc.constantFrom(...NAMES), tree, { maxKeys: 5 }), fc.boolean())
  .map(([word, fields, asItem]) => (asItem ? { type: word, ...fields } : { role: word, ...fields }));

describe('readTrajectory', () => {
  it('never throws, names a path in every problem, and reports on what it reads', () => {
    let read = 0;
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 9, arbitrary: message }, { weight: 1, arbitrary: tree }), { maxLength: 3 }),
        (messages) => {
          const result = readTrajectory(messages);
          if (!result.ok) for (const { path } of result.error) expect(['messages', 'trajectory']).toContain(path[0]);
          if (!readMessages({ messages }).ok) return;
          read++;
          for (const unit of ['utf16', 'utf8'] as const)
            for (const source_ids of SOURCE_IDS)
              trajectoryReportSchema.parse(trajectoryReport({ messages, trajectory: { source_ids } }, unit));
        },
      ),
      { numRuns: 3000 },
    );
    expect(read).toBeGreaterThan(30);
  });
});
