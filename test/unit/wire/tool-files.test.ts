/** The files of known tools become rows, and a file without answers is refused by name. */
import { describe, expect, test } from 'vitest';
import { ADDED_CRITERION, citationsOnly } from '../../../src/wire/rows/citations-only.ts';
import { isToolDocument, RowReader, recordsOfDocument } from '../../../src/wire/rows/tool-files.ts';
import { unreadableBytes } from '../../../src/wire/rows/unreadable-files.ts';

const SOURCE = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>';
const ANSWER = `<answer>${SOURCE}</answer>`;
const QUESTION = 'How long is the Aare?';

function rowsOf(record: Readonly<Record<string, unknown>>) {
  const reader = new RowReader({ tool: null, areCells: false });
  const read = reader.read(record);
  return read.ok ? { tool: reader.tool, rows: read.value } : read.error;
}

describe('a record', () => {
  test('of an inspect log has the fields of its metadata, as the scorer reads them', () => {
    const sample = {
      ...{ id: 'aare', epoch: 2, input: QUESTION, target: '288', scores: { includes: { value: 'C' } } },
      messages: [{ role: 'user', content: QUESTION }],
      output: { choices: [{ message: { role: 'assistant', content: ANSWER } }], completion: ANSWER },
      metadata: { citeward: { positive_rubrics: ['Says 288 kilometres'], tool_output: SOURCE } },
    };
    expect(rowsOf(sample)).toEqual({
      tool: 'inspect samples',
      rows: [
        {
          ...{ question: QUESTION, response: ANSWER, reference: '288', tool_output: SOURCE },
          ...{ positive_rubrics: ['Says 288 kilometres'], id: 'aare, epoch 2', note: 'includes C' },
          run: { group: 'aare', sample: 2 },
        },
      ],
    });
    const ended = { ...sample, output: { choices: [], completion: '' } };
    expect(rowsOf(ended)).toMatchObject({ rows: [] });
  });

  test('of an inspect log without sources in the metadata cites what its tools returned', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: QUESTION }] },
      { role: 'tool', content: SOURCE },
    ];
    const output = { choices: [{ message: { content: [{ type: 'text', text: ANSWER }] } }] };
    expect(rowsOf({ id: 1, epoch: 1, input: messages.slice(0, 1), messages, output, metadata: {} })).toMatchObject({
      rows: [{ question: QUESTION, response: ANSWER, tool_output: SOURCE }],
    });
  });

  test('of promptfoo has the variables of its test, with lists as JSON text', () => {
    const result = {
      ...{ promptIdx: 0, testIdx: 3, score: 0.5, provider: { id: 'openai:gpt', label: '' } },
      vars: { question: QUESTION, tool_output: SOURCE, positive_rubrics: '["Says 288 kilometres"]', other: 'x' },
      prompt: { raw: `Question: ${QUESTION}`, label: 'p' },
      response: { output: ANSWER },
    };
    expect(rowsOf(result)).toEqual({
      tool: 'promptfoo results',
      rows: [
        {
          ...{ question: QUESTION, response: ANSWER, tool_output: SOURCE },
          ...{ positive_rubrics: ['Says 288 kilometres'], id: 'test 3', note: 'openai:gpt, promptfoo score 0.5' },
        },
      ],
    });
    expect(rowsOf({ ...result, response: { error: 'timeout' } })).toMatchObject({ rows: [] });
    // promptfoo 0.123.1 writes a list of one criterion as its text.
    const one = { ...result, vars: { ...result.vars, positive_rubrics: 'Says 288 kilometres' } };
    expect(rowsOf(one)).toMatchObject({ rows: [{ positive_rubrics: ['Says 288 kilometres'] }] });
  });

  test('of TRL is the last turn of the completion, with the sources of its prompt', () => {
    const prompt = [
      { role: 'system', content: 'Cite.' },
      { role: 'user', content: `${QUESTION}\n${SOURCE}` },
    ];
    const completion = [{ role: 'assistant', content: ANSWER }];
    expect(rowsOf({ step: 10, prompt, completion, citeward: 7.5, advantage: 0.5 })).toEqual({
      tool: 'a TRL completions file',
      rows: [
        {
          ...{ question: `${QUESTION}\n${SOURCE}`, response: ANSWER, tool_output: `Cite.\n${QUESTION}\n${SOURCE}` },
          ...{ note: 'citeward 7.5, advantage 0.5', run: { step: 10 } },
        },
      ],
    });
    expect(rowsOf({ step: 10, prompt: 'Q', completion: 'A [1].', advantage: 0 })).toMatchObject({
      rows: [{ question: 'Q', response: 'A [1].' }],
    });
  });

  test('of ragas has its columns, and its metrics are left out', () => {
    const record = {
      user_input: QUESTION,
      response: 'It is 288 km [1].',
      retrieved_contexts: [SOURCE],
      faithfulness: 1,
    };
    expect(rowsOf(record)).toEqual({
      tool: 'a ragas data set',
      rows: [{ question: QUESTION, response: 'It is 288 km [1].', sources: [SOURCE] }],
    });
  });

  test('of TRL in a CSV file has its messages as Python prints them', () => {
    const prompt = `[{'role': 'system', 'content': 'Cite.'}, {'role': 'user', 'content': '${QUESTION}'}]`;
    const completion = "[{'content': 'It\\'s 288\\xa0km [1].', 'role': 'assistant'}]";
    expect(rowsOf({ step: 1, prompt, completion, sources: "['a']" })).toMatchObject({
      rows: [{ question: QUESTION, response: "It's 288\u00a0km [1].", sources: ['a'] }],
    });
    expect(rowsOf({ step: 1, prompt: QUESTION, completion: '[1, 2]' })).toMatchObject({
      rows: [{ question: QUESTION, response: '[1, 2]' }],
    });
  });

  test('of the input of a batch is its body, a group one row for each response', () => {
    const line = { method: 'POST', url: '/v1/groups', custom_id: 'g' };
    expect(rowsOf({ ...line, body: { question: QUESTION, responses: ['a', { response: 'b' }] } })).toMatchObject({
      rows: [
        { question: QUESTION, response: 'a', id: 'g/0', run: { group: 'g', sample: 0 } },
        { question: QUESTION, response: 'b', id: 'g/1', run: { group: 'g', sample: 1 } },
      ],
    });
  });

  test('without an answer is refused, with what to do', () => {
    expect(rowsOf({ custom_id: 'a', response: { body: {} }, error: null })).toEqual({ kind: 'batch_results' });
    expect(rowsOf({ family: 'refiner', reward: 1, claims: [] })).toMatchObject({
      kind: 'unreadable',
      problem: 'holds scores, not answers',
    });
  });
});

test('the records of a document are those of an inspect log or of promptfoo', () => {
  expect(recordsOfDocument({ version: 2, status: 'success', eval: {}, samples: [{ id: 1 }] })).toMatchObject({
    records: [{ id: 1 }],
  });
  expect(recordsOfDocument({ version: 2, status: 'error', eval: {} })).toMatchObject({ kind: 'unreadable' });
  expect(recordsOfDocument({ evalId: 'e', results: { results: [{ vars: {} }] } })).toMatchObject({
    records: [{ vars: {} }],
  });
  expect(recordsOfDocument({ question: 'q' })).toMatchObject({ kind: 'unreadable' });
  expect(isToolDocument('{\n  "version": 2,\n  "status": "success",')).toBe(true);
  expect(isToolDocument('{"evalId":"e"')).toBe(true);
  expect(isToolDocument('{"question":"q"')).toBe(false);
});

test.each([
  ['<!DOCTYPE html><html>', 'is a page, not data'],
  ['ARROW1\0\0', 'is an Arrow file'],
  ['SQLite format 3\0', 'is a database'],
  ['%PDF-1.7', 'is a PDF'],
  ['version: 2\nresults:', 'is YAML'],
  ['BZh91AY&SY', 'is packed with another program than gzip'],
  ['\uFFFD7zXZ\0\0', 'is packed with another program than gzip'],
  ['(\uFFFD/\uFFFD\0', 'is packed with another program than gzip'],
  ['\uFFFD\u0005\uFFFD\0', 'is a pickle'],
  ['\uFFFD\uFFFD\0\0q\0\0\0', 'is UTF-32'],
  ['q\0u\0e\0s\0', 'is UTF-16 without a byte order mark'],
  ['{"question":{"0":"q"},"response":{"0":"r"}}', 'is a table by columns, not rows'],
  ['{"columns":["question"],"index":[0],"data":[["q"]]}', 'is a table by columns, not rows'],
  ['\u007FELF\0\0', 'is binary data of no known kind'],
])('%j is refused: it %s', (head, problem) => {
  expect(unreadableBytes(head)?.problem).toBe(problem);
});

test.each(['{"question":', 'question,response\n', 'PAR1\0\0', 'PK\u0003\u0004\0'])('%j may have rows', (head) =>
  expect(unreadableBytes(head)).toBeNull(),
);

test('a row without criteria is paid for its citations, in the grammar of its answer', () => {
  expect(citationsOnly({ question: QUESTION, response: 'It is 288 km [1].', sources: [SOURCE] })).toMatchObject({
    response: '<answer>It is 288 km [1].</answer>',
    recipe: { citation_weight: 1, mode: 'full', grammar: 'bracket' },
    positive_rubrics: [ADDED_CRITERION],
  });
  expect(citationsOnly({ question: QUESTION, response: ANSWER })).toMatchObject({
    response: ANSWER,
    recipe: { mode: 'full', grammar: 'snippet' },
  });
  expect(citationsOnly({ question: QUESTION, response: ANSWER, positive_rubrics: ['Says 288'] })).toBeNull();
});
