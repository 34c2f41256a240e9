/**
 * Each file is read alike by `citeward view` and by *Open a file* of the dashboard: the same rows, the same words for
 * each row that cannot be read, or a refusal.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFlags } from '../../../cli/shared/flags.ts';
import { MAP_FLAG, openRows } from '../../../cli/shared/row-files/open-rows.ts';
import { readOpenedFile } from '../../../dashboard/src/open-file/read-file.ts';
import type { JsonObject } from '../../../src/json.ts';
import { cellProblems } from '../../../src/wire/rows/columns.ts';
import { recordOfLine } from '../../../src/wire/rows/row-line.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-both-'));
});
afterAll(() => rm(directory, { recursive: true }));

type Bad = readonly [number: number, problem: string];
type Seen = {
  readonly tool: string | null;
  readonly rows: readonly JsonObject[];
  readonly leftOut: number;
  readonly bad: readonly Bad[];
};
/** What is read, or a part of what a refusal says. */
type Outcome = Seen | { readonly refused: string };

async function seenByCli(name: string, content: string | Uint8Array): Promise<Outcome> {
  const path = join(directory, name);
  await writeFile(path, content);
  let tool: string | null = null;
  let leftOut = 0;
  const rows: JsonObject[] = [];
  const bad: Bad[] = [];
  try {
    const input = await openRows(readFlags('view', [MAP_FLAG], [path]), 'view FILE', true, {
      onTool: (name) => {
        tool = name;
      },
      onLeftOut: (records) => {
        leftOut = records;
      },
    });
    for await (const { number, content } of input.lines) {
      const read = recordOfLine(content);
      const [problem] = read.ok ? cellProblems(read.value) : [];
      if (!read.ok) bad.push([number, read.error]);
      else if (problem !== undefined) bad.push([number, `${problem.field}: ${problem.message}`]);
      else rows.push(read.value);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { refused: error.message };
  }
  // The command ends with an error then, after it has named the first rows.
  const [first] = bad;
  return rows.length === 0 && first !== undefined ? { refused: first[1] } : { tool, rows, leftOut, bad };
}

async function seenByDashboard(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<Outcome> {
  const opened = await readOpenedFile(new File([content], name));
  switch (opened.kind) {
    case 'rows':
      return {
        ...{ tool: opened.tool, rows: opened.rows.map(({ fields }) => fields), leftOut: opened.leftOut },
        bad: opened.bad.map(({ number, problem }) => [number, problem]),
      };
    case 'refused':
      return { refused: opened.problem };
    default:
      return { refused: opened.kind };
  }
}

function parquet(columns: Readonly<Record<string, readonly unknown[]>>): Uint8Array<ArrayBuffer> {
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data: [...data] }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** A ZIP archive of files that are packed with deflate; `broken` ones hold other bytes. */
function zip(files: readonly { readonly name: string; readonly text: string; readonly broken?: boolean }[]) {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, text, broken = false } of files) {
    const data = broken ? Buffer.from([0xff, 0xff, 0xff]) : deflateRawSync(text);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), data);
    entries.push(entry, Buffer.from(name));
    offset += 30 + name.length + data.length;
  }
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...locals, list, end]));
}

const lines = (...values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

const SAMPLE = {
  ...{ id: 'a', epoch: 1, input: 'Where?', messages: [] },
  output: { choices: [{ message: { content: 'Bern [1].' } }] },
};
const OF_SAMPLE = { question: 'Where?', response: 'Bern [1].', id: 'a, epoch 1', run: { group: 'a', sample: 1 } };
const RESULT = { vars: { question: 'q', contexts: ['c'] }, prompt: { raw: 'p' }, provider: 'x' };
const ANSWERED = { ...RESULT, response: { output: 'a [1]' } };
const OF_RESULT = { question: 'q', response: 'a [1]', sources: ['c'], note: 'x' };
const ROW = { question: 'q', response: 'a [1]', sources: ['c'] };

const read = (tool: string | null, rows: readonly JsonObject[], leftOut = 0, bad: readonly Bad[] = []): Seen => ({
  tool,
  rows,
  leftOut,
  bad,
});

describe('both readers', () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>, Outcome]>([
    // A column is that of the file, whatever its first record has.
    [
      'ragas-null.jsonl',
      lines(
        { user_input: 'q1', response: null, retrieved_contexts: null },
        { user_input: 'q', response: 'a [1]', retrieved_contexts: ['c'] },
        { user_input: 'q', answer: 'a [1]', contexts: ['c'] },
      ),
      read('a ragas data set', [ROW, ROW], 1),
    ],
    [
      'ragas-null.parquet',
      parquet({
        user_input: ['q1', 'q'],
        response: [null, 'a [1]'],
        retrieved_contexts: ['["c"]', '["c"]'],
        reference: [null, 'r'],
      }),
      read('a ragas data set', [{ ...ROW, reference: 'r' }], 1),
    ],
    [
      'ragas.csv',
      'user_input,response,retrieved_contexts\nq,,"[""c""]"\nq,a [1],"[""c""]"\n',
      read('a ragas data set', [{ ...ROW, response: '' }, ROW]),
    ],
    // Cells of Parquet are read as those of CSV.
    ['rows.parquet', parquet({ question: ['q'], response: ['a [1]'], sources: ['["c"]'] }), read(null, [ROW])],
    [
      'rows-null.parquet',
      parquet({ question: ['q', 'q'], response: [null, 'a'] }),
      read(null, [{ question: 'q' }, { question: 'q', response: 'a' }]),
    ],
    // Rewards that TRL could not compute are left out of the note.
    [
      'trl.parquet',
      parquet({ step: [1, 1], prompt: ['q', 'q'], completion: ['a', 'a'], accuracy: [Number.NaN, 0.5] }),
      read('a TRL completions file', [
        { question: 'q', response: 'a', run: { step: 1 } },
        { question: 'q', response: 'a', note: 'accuracy 0.5', run: { step: 1 } },
      ]),
    ],
    // promptfoo writes results without a response, too.
    ['promptfoo.jsonl', lines({ ...RESULT, response: null }, ANSWERED), read('promptfoo results', [OF_RESULT], 1)],
    [
      'promptfoo.json',
      JSON.stringify({ evalId: 'e', results: { results: [{ ...RESULT, response: null }, ANSWERED] } }),
      read('promptfoo results', [OF_RESULT], 1),
    ],
    [
      'promptfoo-3.json',
      JSON.stringify({ version: 3, results: { results: [ANSWERED] } }),
      read('promptfoo results', [OF_RESULT]),
    ],
    [
      'promptfoo.csv',
      'context,question,[openai:x] p,Status,Score,Named Scores,Grader Reason,Comment\nc,q,a [1],PASS,1,{},,\n',
      { refused: 'is a table that promptfoo exported' },
    ],
    ['promptfoo-empty.json', '{"evalId":"e","results":[]}', { refused: 'without samples or results' }],
    [
      'promptfoo-null.json',
      JSON.stringify({ evalId: 'e', results: { results: [ANSWERED, null] } }),
      read('promptfoo results', [OF_RESULT], 0, [[2, 'expected a JSON object']]),
    ],
    // Only columns that one tool writes tell it.
    ['gold.jsonl', lines({ question: 'q', answer: 'gold', model_answer: 'a' }), { refused: 'none is an answer' }],
    ['instruct.jsonl', lines({ instruction: 'q', answer: 'gold' }), { refused: 'none is an answer' }],
    [
      'ragas-01.jsonl',
      lines({ question: 'q', answer: 'a [1]', contexts: ['c'], ground_truth: 'r' }),
      read('a ragas data set', [{ ...ROW, reference: 'r' }]),
    ],
    [
      'model-batch.jsonl',
      lines({ custom_id: 'a', response: { body: { choices: [{ message: { content: 'hi' } }] } }, error: null }),
      { refused: 'is the output of a batch of a model server' },
    ],
    // One bad row is named, and the others are read.
    [
      'list.json',
      '[{"question":"q","response":"a"},null,"x",{"question":}]',
      read(null, [{ question: 'q', response: 'a' }], 0, [
        [2, 'expected a JSON object'],
        [3, 'expected a JSON object'],
        [4, expect.stringContaining('this is not JSON')],
      ]),
    ],
    [
      'broken.jsonl',
      '\n{"question":"q","response":"a"}\n\nnot json\n{"question":"q","response":"b"}',
      read(
        null,
        ['a', 'b'].map((response) => ({ question: 'q', response })),
        0,
        [[4, 'expected one JSON object a line; this is not JSON']],
      ),
    ],
    [
      'printed.jsonl',
      lines({ ...ROW, sources: String.raw`['a', '\N{BULLET}']` }, ROW),
      read(null, [ROW], 0, [[1, expect.stringMatching(/^sources: a printed list that is not read/)]]),
    ],
    [
      'latin.jsonl',
      new Uint8Array(Buffer.from(lines({ ...ROW, question: 'Zürich' }, ROW), 'latin1')),
      read(null, [ROW], 0, [[1, 'not UTF-8']]),
    ],
    [
      'promptfoo-broken.jsonl',
      `${lines({ ...RESULT, response: null })}\n{\n${lines(ANSWERED)}`,
      read('promptfoo results', [OF_RESULT], 1, [[3, expect.stringContaining('wrong from column 2')]]),
    ],
    [
      'short.csv',
      'question,response\nq,a\nq\nq,b,"c\nd"\nq,c\n',
      read(
        null,
        ['a', 'c'].map((response) => ({ question: 'q', response })),
        0,
        [2, 3].map((at): Bad => [at, expect.stringContaining('another number of fields than the header')]),
      ),
    ],
    [
      'open.csv',
      'question,response\nq,a\nq,"b\nq,c\n',
      read(null, [{ question: 'q', response: 'a' }], 0, [[2, expect.stringContaining('a quote is not closed')]]),
    ],
    [
      'quotes.csv',
      'question,response\nq"x,b"x\nq,a\n',
      read(null, [{ question: 'q', response: 'a' }], 0, [[1, expect.stringContaining('malformed')]]),
    ],
    // One bad record is one, over however many lines; an open quote in it hides the rest.
    [
      'quotes-2.csv',
      'question,response,sources\nq"x,"b\nc",z,w\nq"1,a,\nq"2,a,\nq,a,\n',
      read(
        null,
        [{ question: 'q', response: 'a' }],
        0,
        [1, 2, 3].map((at): Bad => [at, expect.stringContaining('malformed')]),
      ),
    ],
    [
      'quotes-3.csv',
      'question,response\nq,a\nq"x,"b\nq,c\n',
      read(null, [{ question: 'q', response: 'a' }], 0, [[2, expect.stringContaining('a quote is not closed')]]),
    ],
    [
      'one-column.csv',
      'response\na"\nb"c"\na\n',
      read(null, [{ response: 'a' }], 0, [
        [1, expect.stringContaining('malformed')],
        [2, expect.stringContaining('malformed')],
      ]),
    ],
    ['header.csv', 'ques"tion,response\nq,a\nq,b\n', { refused: 'has a malformed header' }],
    // What is cut off is said.
    [
      'cut.json',
      '[{"question":"q","response":"a"},{"question":"q","response":"b"}\n',
      read(
        null,
        ['a', 'b'].map((response) => ({ question: 'q', response })),
        0,
        [[3, expect.stringContaining('the array is not closed')]],
      ),
    ],
    [
      'cut-value.json',
      '[{"question":"q","response":"a"},{"question":"q"',
      read(null, [{ question: 'q', response: 'a' }], 0, [[2, expect.stringContaining('this is not JSON')]]),
    ],
    [
      'latin.json',
      new Uint8Array(Buffer.from(JSON.stringify({ evalId: 'é', results: { results: [ANSWERED] } }), 'latin1')),
      { refused: 'is not UTF-8' },
    ],
    ['notes.txt', 'no rows\nat all\n', { refused: 'this is not JSON' }],
    ['any.txt', 'question,response\nq,a\n', read(null, [{ question: 'q', response: 'a' }])],
    [
      'log.eval',
      zip([
        { name: 'header.json', text: '{}' },
        { name: 'samples/a.json', text: JSON.stringify(SAMPLE) },
      ]),
      read('inspect samples', [OF_SAMPLE]),
    ],
    [
      'broken.eval',
      zip([
        { name: 'header.json', text: '{}' },
        { name: 'samples/b.json', text: '', broken: true },
        { name: 'samples/a.json', text: JSON.stringify(SAMPLE) },
      ]),
      read('inspect samples', [OF_SAMPLE], 0, [[1, expect.stringContaining('the sample cannot be read')]]),
    ],
    ['book.xlsx', zip([{ name: 'sheet.xml', text: '' }]), { refused: 'is a zip file' }],
  ])('of %s', async (name, content, expected) => {
    const seen = [await seenByCli(name, content), await seenByDashboard(name, content)];
    const shown = 'refused' in expected ? { refused: expect.stringContaining(expected.refused) } : expected;
    expect(seen).toEqual([shown, shown]);
  });
});

test('a file that breaks while it is read is refused, not thrown', async () => {
  class Gone extends File {
    override async arrayBuffer(): Promise<ArrayBuffer> {
      throw new DOMException('gone', 'NotReadableError');
    }
    override slice(): Blob {
      return this;
    }
  }
  expect(await readOpenedFile(new Gone(['{}'], 'rows.jsonl'))).toMatchObject({
    kind: 'refused',
    problem: 'cannot be read (NotReadableError)',
  });
});
