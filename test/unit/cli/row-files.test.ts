/** Rows in the formats of data sets become the same rows as JSON lines. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RunError, UsageError } from '../../../cli/shared/exit.ts';
import { readFlags } from '../../../cli/shared/flags.ts';
import { readColumnMap } from '../../../cli/shared/row-files/columns.ts';
import { csvRecords } from '../../../cli/shared/row-files/csv.ts';
import { MAP_FLAG, openRows } from '../../../cli/shared/row-files/open-rows.ts';
import { readRow } from '../../../cli/shared/rows.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import { jsonValueLines } from '../../../src/text/json-values.ts';
import { cellProblems, withReadAnswer, withSourceTexts } from '../../../src/wire/rows/columns.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-rows-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function rowsOf(
  name: string,
  content: string | Uint8Array,
  map?: unknown,
  areAnswers = false,
): Promise<unknown[]> {
  const path = join(directory, name);
  await writeFile(path, content);
  const mapPath = join(directory, 'map.json');
  await writeFile(mapPath, JSON.stringify(map ?? {}));
  const given = typeof map === 'string' ? map : mapPath;
  const flags = readFlags('score', [MAP_FLAG], map === undefined ? [path] : [path, '--map', given]);
  const input = await openRows(flags, 'score examples/rollouts.jsonl', areAnswers);
  const rows: unknown[] = [];
  for await (const { content } of input.lines) {
    rows.push(content.ok ? JSON.parse(content.value) : { fault: content.error });
  }
  return rows;
}

const ROWS = [
  {
    id: '007',
    question: 'How "deep", in metres?',
    response: '{"not": "an object, but text"}',
    positive_rubrics: ['States\nthe depth'],
    num_turns: 4,
  },
  { id: 'b', question: 'Ää 深さ', response: '', positive_rubrics: [{ description: 'd', weight: 2 }], num_turns: 2 },
];

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const cells = (row: (typeof ROWS)[number]) => [
  ...[row.id, row.question, row.response, JSON.stringify(row.positive_rubrics)].map(quoted),
  String(row.num_turns),
];
const HEADER = ['id', 'question', 'response', 'positive_rubrics', 'num_turns'];
const separated = (delimiter: string) => [HEADER, ...ROWS.map(cells)].map((row) => row.join(delimiter)).join('\r\n');

describe('rows', () => {
  test.each([
    ['rows.jsonl', ROWS.map((row) => JSON.stringify(row)).join('\n')],
    ['rows.json', JSON.stringify(ROWS)],
    ['printed.json', `\uFEFF${JSON.stringify(ROWS, null, 2)}\n`],
    ['no-ending', JSON.stringify(ROWS, null, '\t').replaceAll('\n', '\r\n')],
    ['printed objects.txt', ROWS.map((row) => JSON.stringify(row, null, 2)).join('\n')],
    ['rows.csv', `\uFEFF${separated(',')}`],
    ['rows.TSV', separated('\t')],
    ['semicolons.csv', `\uFEFF${separated(';')}`],
    ['tabs.csv', separated('\t')],
    ['bars.csv', separated('|')],
    ['named.csv', `\uFEFFsep=;\r\n${separated(';')}`],
    ['utf16.csv', Buffer.from(`\uFEFF${separated(',')}`, 'utf16le')],
    ['utf16-tabs.csv', Buffer.from(`\uFEFF${separated('\t')}`, 'utf16le')],
    ['big-endian.csv', Buffer.from(`\uFEFF${separated(';')}`, 'utf16le').swap16()],
    ['utf16.tsv.gz', gzipSync(Buffer.from(`\uFEFF${separated('\t')}`, 'utf16le'))],
    ['no suffix', separated(',')],
    ['tabs.txt', `\uFEFF${separated('\t')}`],
    ['excel.txt', `sep=;\r\n${separated(';')}`],
    ['powershell.jsonl', Buffer.from(`\uFEFF${ROWS.map((row) => JSON.stringify(row)).join('\r\n')}`, 'utf16le')],
    ['powershell.json', Buffer.from(`\uFEFF${JSON.stringify(ROWS, null, 2)}`, 'utf16le')],
  ])('of %s are those of JSON lines', async (name, content) => {
    expect(await rowsOf(name, content)).toEqual(ROWS);
  });

  test('of Parquet, with lists, structs, whole numbers of 64 bits and absent values', async () => {
    const columnData = [
      { name: 'question', data: ['q1', 'q2'], type: 'STRING' as const },
      { name: 'num_turns', data: [4n, null], type: 'INT64' as const },
      { name: 'positive_rubrics', data: [['a', 'b'], [{ description: 'd', weight: null }]], type: 'JSON' as const },
      { name: 'negative_rubrics', data: ['["c"]', ''], type: 'STRING' as const },
    ];
    const file = parquetWriteBuffer({ columnData, rowGroupSize: 1 });
    expect(await rowsOf('rows.parquet', new Uint8Array(file))).toEqual([
      { question: 'q1', num_turns: 4, positive_rubrics: ['a', 'b'], negative_rubrics: ['c'] },
      { question: 'q2', positive_rubrics: [{ description: 'd' }] },
    ]);
  });

  test('of CSV with messages: a list as JSON, or one text', async () => {
    const list = [{ role: 'assistant', content: 'a' }];
    const cell = (value: unknown) => `"${JSON.stringify(value).replaceAll('"', '""')}"`;
    const csv = `messages,trajectory\n${cell(list)},\n"<out>1</out>",${cell({ markup: 'hermes' })}\n288,`;
    expect(await rowsOf('rows.csv', csv)).toEqual([
      { messages: list },
      { messages: '<out>1</out>', trajectory: { markup: 'hermes' } },
      { messages: '288' },
    ]);
  });

  test.each([
    [`['States it', "It's short"]`, ['States it', "It's short"]],
    [`['States it' 'Is short']`, ['States it', 'Is short']],
    [`['It\\'s \\n new']`, ["It's \n new"]],
    [`[{'description': 'a', 'weight': 1.0, 'note': None}, ]`, [{ description: 'a', weight: 1, note: null }]],
    [`array(['a', 'b'],\n      dtype=object)`, ['a', 'b']],
    [`array([{'description': "It's", 'weight': -2}], dtype=object)`, [{ description: "It's", weight: -2 }]],
    [String.raw`['caf\u00e9', 'a\xa0b', '\U0001f600', '\t\\n\'\"\101']`, ['café', 'a\u00a0b', '😀', '\t\\n\'"A']],
    [String.raw`["caf\xe9", 'it"s \d']`, ['café', String.raw`it"s \d`]],
    [`['one' "it's"\n 'three']`, ['one', "it's", 'three']],
    [`[np.str_('a'), np.str_("b's")]`, ['a', "b's"]],
    [`[np.float64(1.0), np.int64(-2), np.True_, np.float64(nan), None, nan]`, [1, -2, true, null, null, null]],
    ['[1. 2.5 nan]', [1, 2.5, null]],
    [`('a', 'b')`, ['a', 'b']],
    [`('a',)`, ['a']],
    [`array(['a' 'b'], dtype='<U1')`, ['a', 'b']],
    [`array(['a', 'b'],\n      shape=(2,), dtype='<U1')`, ['a', 'b']],
    ['array([], dtype=object)', []],
    [`array(['a'], dtype=StringDType(na_object=nan))`, ['a']],
    [`[list(['a', 'b']) list(['c'])]`, [['a', 'b'], ['c']]],
    [
      `[['a' 'b']\n ['c' 'd']]`,
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      `[{'when': Timestamp('2020-01-01 00:00:00'), '__proto__': (1, 2)}]`,
      [JSON.parse('{"when":"2020-01-01 00:00:00","__proto__":[1,2]}')],
    ],
    ['[]', []],
  ])('of CSV with a list as pandas prints it: %s', async (cell, list) => {
    const csv = `response,positive_rubrics\na,"${cell.replaceAll('"', '""')}"`;
    expect(await rowsOf('pandas.csv', csv)).toEqual([{ response: 'a', positive_rubrics: list }]);
  });

  test.each([
    ...["['a', b]", "['a", "['a'] b", "{'a': b}", "array('a')b", "('a')", "['a''b']", "['a' 'b', 'c']", "{'a', 'b'}"],
    ...[
      "[b'a']",
      "['a', 12345678901234567890]",
      "[Document(page_content='a')]",
      "['a' ... 'b']",
      '[007]',
      "['a',, 'b']",
    ],
    ...[
      String.raw`['\N{BULLET}']`,
      String.raw`['\xa']`,
      String.raw`['\U00110000']`,
      `${'['.repeat(5000)}'a'`,
      `[${'array('.repeat(50_000)}`,
    ],
  ])('of CSV with %s keep it as text', async (cell) => {
    const csv = `response,positive_rubrics\na,"${cell}"`;
    expect(await rowsOf('text.csv', csv)).toEqual([{ response: 'a', positive_rubrics: cell }]);
  });

  test.each([
    [String.raw`['a', '\N{BULLET}']`, '\\N{…}, the name of a character at character 8: write the character itself'],
    ["['a' ... 'b']", 'members that numpy left out (...) at character 6: save the column as lists, or as JSON'],
    ["[Document(page_content='a')]", 'Document(…), an object at character 2: write its text or its fields'],
  ])('whose list is %s are refused with the reason', (sources, reason) => {
    const content = { ok: true, value: JSON.stringify({ response: 'a', sources }) } as const;
    const message = `a printed list that is not read, because of ${reason}`;
    expect(readRow({ number: 1, bytesRead: 0, content }, scoreRequestSchema, (fields) => fields)).toEqual({
      ok: false,
      error: [{ field: 'sources', message }],
    });
  });

  test.each([
    [`['The Aare is long.', "It's 288 km."]`, ['The Aare is long.', "It's 288 km."]],
    ['[1] The Aare is long. [2]', ['[1] The Aare is long. [2]']],
    ['[a] (b) [c]', ['[a] (b) [c]']],
  ])('whose sources are the text %s', (sources, texts) => {
    expect(withSourceTexts({ sources })).toEqual({ sources: texts.map((text, n) => ({ id: String(n + 1), text })) });
  });

  test('whose answer of a vendor is printed have it as it was sent, or are refused', async () => {
    const printed = `[{'type': 'text', 'text': "It's 288\\xa0km.", 'citations': None}]`;
    const answer = [{ type: 'text', text: "It's 288\u00a0km.", citations: null }];
    const csv = `cited_answer,messages\n"${printed.replaceAll('"', '""')}","[{'role': 'user', 'content': 'q'}]"\n`;
    expect(await rowsOf('vendor.csv', csv)).toEqual([
      { cited_answer: answer, messages: [{ role: 'user', content: 'q' }] },
    ]);
    expect(withReadAnswer({ cited_answer: printed })).toEqual({ cited_answer: answer });
    expect(withReadAnswer({ cited_answer: 'It is {1} [1].' })).toEqual({ cited_answer: 'It is {1} [1].' });
    const object = "Message(id='m', content=[TextBlock(text='a', type='text')], role='assistant')";
    const blocks = "[TextBlock(text='a', citations=None)]";
    const cut = String.raw`[{'role': 'user', 'content': '\N{BULLET}'}]`;
    expect(cellProblems({ cited_answer: object })).toMatchObject([
      { message: expect.stringMatching(/^a printed object/) },
    ]);
    expect(cellProblems({ cited_answer: blocks })).toMatchObject([
      { message: expect.stringContaining('TextBlock(…), an object') },
    ]);
    expect(cellProblems({ messages: cut, response: cut })).toMatchObject([{ field: 'messages' }]);
    for (const messages of ['Point(x=1)', "['a', b]", '(see [1])', "{'a': b}"]) {
      expect(cellProblems({ messages })).toEqual([]);
    }
  });

  test('whose answer is a list or a tuple keep it as text', async () => {
    expect(await rowsOf('answers.csv', `messages\n"(1, 2)"\n"[1, 2]"\n"['a']"\n`)).toEqual(
      ['(1, 2)', '[1, 2]', "['a']"].map((messages) => ({ messages })),
    );
  });

  test('with the columns of a known tool are named by it', async () => {
    const record = {
      user_input: 'q',
      response: 'r',
      retrieved_contexts: ['c'],
      reference: 'x',
      positive_rubrics: ['p'],
    };
    const row = { question: 'q', response: 'r', sources: ['c'], reference: 'x', positive_rubrics: ['p'] };
    const old = 'question,answer,contexts,ground_truth\nq,r,"[\'c\']",x';
    expect(await rowsOf('ragas.jsonl', JSON.stringify(record), 'ragas')).toEqual([row]);
    const { positive_rubrics: _, ...rest } = row;
    expect(await rowsOf('ragas.csv', old, 'ragas')).toEqual([rest]);
    const trl = { prompt: [{ role: 'user', content: 'q' }], completion: 'r', solution: 'x' };
    expect(await rowsOf('trl.jsonl', JSON.stringify(trl), 'trl')).toEqual([
      { question: 'q', response: 'r', reference: 'x' },
    ]);
    const verl = { prompt: [{ content: 'q' }], response: 'r', reward_model: { ground_truth: 'x' } };
    expect(await rowsOf('verl.jsonl', JSON.stringify(verl), 'verl')).toEqual([
      { question: 'q', response: 'r', reference: 'x' },
    ]);
    await expect(rowsOf('none.jsonl', '{"a": 1}', 'verl')).rejects.toThrow(UsageError);
  });

  test('with chat messages have the last one of the user as the question, and of the assistant as the response', async () => {
    const prompt = [
      { role: 'system', content: 'Cite sources.' },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: [{ type: 'text', text: 'last' }] },
    ];
    const completion = [
      { role: 'assistant', content: 'call' },
      { role: 'tool', content: 't' },
      { role: 'assistant', content: 'r' },
    ];
    const row = { question: 'last', response: 'r' };
    expect(await rowsOf('chat.jsonl', JSON.stringify({ prompt, completion }), 'trl')).toEqual([row]);
    expect(await rowsOf('verl.jsonl', JSON.stringify({ prompt, response: 'r' }), 'verl')).toEqual([row]);
    const map = { question: 'prompt', response: 'completion' };
    expect(await rowsOf('mapped.jsonl', JSON.stringify({ prompt, completion }), map)).toEqual([row]);
    const csv = `prompt,completion\n"[{'content': 's', 'role': 'system'}\n {'content': 'last', 'role': 'user'}]",r\n`;
    expect(await rowsOf('chat.csv', csv, 'trl')).toEqual([row]);
    const nested = `extra_info,response\n"{'question': 'last', 'n': np.int64(3)}",r\n`;
    expect(await rowsOf('nested.csv', nested, 'verl')).toEqual([row]);
  });

  test('of a file whose columns have other names: the message has the map', async () => {
    const csv = 'input,output,context\nq,r,c';
    const failure = await rowsOf('other.csv', csv, undefined, true).catch((error: unknown) => error);
    const map = { question: 'input', response: 'output', sources: 'context' };
    expect(failure).toMatchObject({ hint: `Add --map '${JSON.stringify(map)}'.` });
    const lines = '{"input":"q","output":"r","context":["c"]}\n{"input":"q"}';
    const ofLines = await rowsOf('other.jsonl', lines, undefined, true).catch((error: unknown) => error);
    expect(ofLines).toMatchObject({ hint: `Add --map '${JSON.stringify(map)}'.` });
    // Columns that have a field's name keep it.
    const own = await rowsOf('own.csv', 'question,answer,sources\nq,r,c', undefined, true).catch((error) => error);
    expect(own).toMatchObject({ hint: `Add --map '{"question":"question","response":"answer","sources":"sources"}'.` });
    // Lines that are answers, or that no map reads, are left to their reader.
    for (const own of ['{"response":"r"}', '{"other":1}']) {
      await expect(rowsOf('own.jsonl', own, undefined, true)).resolves.toBeDefined();
    }
    expect(await rowsOf('other.csv', csv, JSON.stringify(map))).toEqual([
      { question: 'q', response: 'r', sources: 'c' },
    ]);
    // Other commands read rows without an answer.
    expect(await rowsOf('other.csv', csv)).toHaveLength(1);
  });

  test('a single printed request is one row', async () => {
    expect(await rowsOf('request.json', JSON.stringify(ROWS[0], null, 2))).toEqual([ROWS[0]]);
  });

  test('a JSON value is split alike at every border of two chunks', async () => {
    const value = fc.jsonValue({ maxDepth: 3 }).filter((one) => !Array.isArray(one));
    await fc.assert(
      fc.asyncProperty(fc.array(value), fc.integer({ min: 1, max: 9 }), fc.nat(3), async (values, size, indent) => {
        const bytes = Buffer.from(JSON.stringify(values, null, indent));
        async function* pieces() {
          for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
        }
        const out: Uint8Array[] = [];
        for await (const chunk of jsonValueLines(pieces())) out.push(chunk);
        const lines = Buffer.concat(out).toString().split('\n').slice(0, -1);
        expect(lines.map((line): unknown => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  test('a line break within a string of JSON does not become valid', async () => {
    await expect(rowsOf('broken.json', '[{"question": "two\nlines"}]')).rejects.toThrow(SyntaxError);
  });
});

describe('a column map', () => {
  test('names the column of each field, and goes into its value and into JSON text', async () => {
    const record = {
      prompt: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'the question' },
      ],
      completion: 'the response',
      reward_model: JSON.stringify({ ground_truth: { answer: 42 } }),
      rubrics: '["one"]',
      unused: 1,
    };
    const map = {
      question: 'prompt.1.content',
      response: 'completion',
      reference: 'reward_model.ground_truth.answer',
      positive_rubrics: 'rubrics',
      negative_rubrics: 'prompt.7.content',
    };
    const expected = { question: 'the question', response: 'the response', reference: '42', positive_rubrics: ['one'] };
    expect(await rowsOf('data.jsonl', JSON.stringify(record), map)).toEqual([expected]);
    expect(await rowsOf('data.json', JSON.stringify([record], null, 1), map)).toEqual([expected]);
    const csv = 'q;x,r\n"a","b"';
    expect(await rowsOf('data.csv', csv, { question: 'q;x', response: 'r' })).toEqual([
      { question: 'a', response: 'b' },
    ]);
  });

  test('that names no column of the file is refused, with the columns', async () => {
    const refused = rowsOf('data.jsonl', '{"prompt": "p", "text": "t"}', { question: 'promt' });
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toMatchObject({
      message: '--map: question: there is no column "promt"',
      hint: 'Did you mean prompt?',
    });
    await expect(rowsOf('data.csv', 'a,b\n1,2', { question: 'zebra' })).rejects.toMatchObject({
      hint: 'The columns are a, b.',
    });
  });

  test('of another form is refused', async () => {
    await expect(rowsOf('data.jsonl', '{}', { question: 1 })).rejects.toThrow(/^--map: question: /);
  });
});

test('CSV as pandas writes it has an index without a name, and nan for no value', async () => {
  const csv = ',response,positive_rubrics,negative_rubrics,reference\n0,nan,"[\'a\']",NaN,None\n';
  expect(await rowsOf('pandas.csv', csv)).toEqual([{ response: 'nan', positive_rubrics: ['a'], reference: 'None' }]);
});

test('CSV is separated by what its header has most often', async () => {
  expect(await rowsOf('dates.csv', 'id;question;response, final\n1;q;"r"')).toEqual([
    { id: '1', question: 'q', 'response, final': 'r' },
  ]);
});

describe('a file that cannot be read on', () => {
  test.each(['response\nStraße\n', 'response\nStra\xdf'])('of another encoding: %j', async (text) => {
    const failed = rowsOf('latin.csv', new Uint8Array(Buffer.from(text, 'latin1')));
    await expect(failed).rejects.toThrow('latin.csv: not UTF-8');
  });

  test.each([
    ['book.xlsx', 'PK\u0003\u0004', 'an Excel workbook'],
    ['page.html', '<table>', 'page.html is a page, not data'],
    ['rows.pkl', Buffer.from([0x80, 5, 0x95, 0]), 'is a pickle'],
    ['rows.csv.xz', Buffer.from('fd377a585a0000', 'hex'), 'is packed with another program than gzip'],
    ['little.csv', Buffer.from('question,response', 'utf16le'), 'is UTF-16 without a byte order mark'],
    ['utf32.csv', Buffer.from('fffe0000610000002c000000', 'hex'), 'is UTF-32'],
    ['columns.json', '{"response":{"0":"a"}}', 'is a table by columns, not rows'],
    ['header.csv', 'a"x,b\n1,2\n', 'header.csv has a malformed header'],
    ['long.csv', `a,b\n1,2\n3,${'x'.repeat(MAX_BODY_BYTES + 1)}\n5,6\n`, 'long.csv row 2 is longer than'],
    ['cut.parquet', 'PAR1 and no more', 'not readable as Parquet'],
  ])('%s', async (name, content, problem) => {
    const failed = rowsOf(name, content);
    await expect(failed).rejects.toThrow(/^(?:header|long|cut)/.test(name) ? RunError : UsageError);
    await expect(failed).rejects.toThrow(problem);
  });
});

const READ_TOOLS = { onTool: () => undefined, onLeftOut: () => undefined };

async function* madeOf(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

describe('one bad row', () => {
  test('a row that is too long ends the file, and is no small count of rows', async () => {
    const csv = `question,response\nq,a\nq,${'x'.repeat(MAX_BODY_BYTES + 2 ** 20)}\n${'q,a\n'.repeat(5000)}`;
    const path = join(directory, 'huge.csv');
    await writeFile(path, csv);
    const input = await openRows(readFlags('verify', [MAP_FLAG], [path]), 'verify FILE', true);
    const numbers: number[] = [];
    const reading = (async () => {
      for await (const { number } of input.lines) numbers.push(number);
    })();
    await expect(reading).rejects.toThrow(`${path} row 2 is longer than ${MAX_BODY_BYTES} bytes`);
    expect(numbers).toEqual([1]);
  });

  test('the bad rows of a chunk are told before the next chunk is read', async () => {
    let isRead = false;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield* madeOf('question,response\n', 'q\n'.repeat(10));
      isRead = true;
      yield* madeOf('q\n');
    }
    const input = { name: 'x.csv', unit: 'line', path: null, bytes: null, chunks: chunks() } as const;
    const bad: number[] = [];
    for await (const { number, record } of csvRecords(input, { delimiter: ',', headerLine: 1 })) {
      expect(record).toEqual({ ok: false, error: 'other_fields' });
      bad.push(number);
      if (bad.length === 5) break;
    }
    expect([bad, isRead]).toEqual([[1, 2, 3, 4, 5], false]);
  });

  test('lines of rows stay as they are where files of tools are read, too', async () => {
    const lines = [
      '{"response":"a","num_turns":1e999}',
      '{"response":"a","num_turns":-0}',
      '{"response":"a","seed":12345678901234567890}',
    ];
    for (const [name, text] of [
      ['plain.jsonl', lines.join('\n')],
      ['plain.json', `[${lines.join(',')}]`],
    ] as const) {
      const path = join(directory, name);
      await writeFile(path, text);
      const input = await openRows(readFlags('view', [MAP_FLAG], [path]), 'view FILE', true, READ_TOOLS);
      const read: unknown[] = [];
      for await (const { content } of input.lines) read.push(content.ok ? content.value : content.error);
      expect(read).toEqual(lines);
    }
  });
});

test('--map reads a file whose name has an equals sign', async () => {
  const path = join(directory, 'a=b.json');
  const here = process.cwd();
  await writeFile(path, '{"question":"x"}');
  process.chdir(directory);
  try {
    expect(await readColumnMap('a=b.json')).toEqual(new Map([['question', ['x']]]));
    await expect(readColumnMap('question=prompt')).rejects.toThrow('--map: question=prompt is no file, tool or JSON');
  } finally {
    process.chdir(here);
  }
});
