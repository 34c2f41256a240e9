/** The input of a batch: its kind, the envelopes of rows, and the errors by line. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorText, kindOfFile, prepareBatch, wrapRow } from '../../../cli/commands/batch/input.ts';
import { UsageError } from '../../../cli/shared/exit.ts';
import { readFlags } from '../../../cli/shared/flags.ts';
import type { Input } from '../../../cli/shared/input.ts';
import { MAP_FLAG, openRows } from '../../../cli/shared/row-files/open-rows.ts';
import { envelope, fileInput, NO_SCORING_FLAGS, piped, ROW } from './batch-fixtures.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-unit-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const content = (value: unknown) => ({ ok: true as const, value: JSON.stringify(value) });

describe('kinds', () => {
  test.each([
    [ROW, { kind: 'rows' }],
    [
      { custom_id: 'a', url: '/v1/verify', body: {} },
      { kind: 'envelopes', url: '/v1/verify' },
    ],
    [{ custom_id: 'a' }, { kind: 'envelopes', url: null }],
    [{ url: '/v1/chat/completions' }, { kind: 'envelopes', url: null }],
  ])('%j', (value, kind) => expect(kindOfFile(content(value))).toEqual({ ok: true, value: kind }));

  test('a line that is not an object does not tell the kind', () => {
    expect(kindOfFile(content([]))).toMatchObject({ ok: false });
    expect(kindOfFile({ ok: false, error: 'not_utf8' })).toEqual({
      ok: false,
      error: { field: null, message: 'not UTF-8' },
    });
  });
});

describe('wrapping', () => {
  const wrapped = (
    value: unknown,
    scoring = NO_SCORING_FLAGS,
    endpoint: '/v1/score' | '/v1/verify' | '/v1/groups' = '/v1/score',
  ) => {
    const row = wrapRow({ number: 7, bytesRead: 0, content: content(value) }, endpoint, scoring);
    if (!row.ok) return row.error;
    const envelope: { custom_id: string; body: Record<string, unknown> } = JSON.parse(row.value);
    return envelope;
  };

  test.each([
    [undefined, 'line-7'],
    ['a', 'a'],
    [12, '12'],
  ])('id %j becomes custom_id %s, and labels are not sent', (id, custom_id) => {
    const made = wrapped({ ...ROW, ...(id === undefined ? {} : { id }), note: 'n' });
    expect(made).toMatchObject({ custom_id, method: 'POST', url: '/v1/score', body: ROW });
    expect(JSON.stringify(made)).not.toContain('note');
  });

  test('flags win over the row; --set changes the recipe of the flag, the row or the default', () => {
    expect(wrapped(ROW)).toMatchObject({ body: { recipe: 'refiner-guarded', judgments: 'use' } });
    const row = { ...ROW, recipe: 'refiner-rl-balanced', judge: 'a' };
    expect(wrapped(row, { ...NO_SCORING_FLAGS, judge: 'b', changes: { citation_weight: 0.5 } })).toMatchObject({
      body: { recipe: { base: 'refiner-rl-balanced', citation_weight: 0.5 }, judge: 'b' },
    });
  });

  test('a verification loses the fields that only scoring reads; a group keeps its responses', () => {
    expect(wrapped(ROW, NO_SCORING_FLAGS, '/v1/verify')).toMatchObject({ body: { response: ROW.response } });
    expect(JSON.stringify(wrapped(ROW, NO_SCORING_FLAGS, '/v1/verify'))).not.toContain('positive_rubrics');
    const { response, ...shared } = ROW;
    expect(wrapped({ ...shared, responses: [response] }, NO_SCORING_FLAGS, '/v1/groups')).toMatchObject({
      url: '/v1/groups',
      body: { responses: [response], on_judge_failure: 'null' },
    });
  });

  test.each(['/v1/score', '/v1/verify'] as const)('--offsets wins over the row, for %s too', (endpoint) => {
    const row = { ...ROW, offsets: 'utf8' };
    expect(wrapped(row, NO_SCORING_FLAGS, endpoint)).toMatchObject({ body: { offsets: 'utf8' } });
    const flags = { ...NO_SCORING_FLAGS, offsets: 'codepoints' } as const;
    expect(wrapped(row, flags, endpoint)).toMatchObject({ body: { offsets: 'codepoints' } });
  });

  test('the errors of a row name its fields', () => {
    expect(wrapped({ ...ROW, recpie: 'x' })).toEqual([
      { field: 'recpie', message: 'unknown field; did you mean recipe?' },
    ]);
  });
});

describe('preparing', () => {
  const prepare = async (input: Input, more: { endpoint?: '/v1/verify'; scoring?: typeof NO_SCORING_FLAGS } = {}) =>
    prepareBatch({ input, endpoint: more.endpoint ?? null, scoring: more.scoring ?? NO_SCORING_FLAGS, directory });
  const errorsOf = async (text: string | Uint8Array) => {
    const prepared = await prepare(piped(text));
    if (prepared.ok) throw new Error('no errors');
    return prepared.error.errors.map(({ line, message }) => [line, message]);
  };

  test('each row that cannot be read is refused by its number, as those with a wrong field are', async () => {
    const rows = [ROW, { ...ROW, note: 'é' }, { ...ROW, response: 5 }].map((row) => JSON.stringify(row));
    const path = join(directory, 'latin.json');
    await writeFile(path, Buffer.from(`[${rows.join(',')}]`, 'latin1'));
    const input = await openRows(readFlags('batch run', [MAP_FLAG], [path]), 'batch run FILE');
    const prepared = await prepareBatch({ input, endpoint: null, scoring: NO_SCORING_FLAGS, directory });
    expect(prepared).toMatchObject({ ok: false, error: { error_count: 2 } });
    const texts = prepared.ok ? [] : prepared.error.errors.map((error) => errorText(error, input.unit));
    expect(texts).toEqual(['row 2: not UTF-8', expect.stringMatching(/^row 3: response: /)]);
  });

  test('a file of envelopes is used in place', async () => {
    const path = join(directory, 'in.jsonl');
    const text = `\uFEFF${envelope('a')}\r\n\r\n${envelope('b')}`;
    await writeFile(path, text);
    const prepared = await prepare(await fileInput(path));
    expect(prepared).toMatchObject({
      ok: true,
      value: {
        path,
        filename: 'in.jsonl',
        endpoint: '/v1/score',
        requests: 2,
        chunks: 1,
        bytes: Buffer.byteLength(text),
      },
    });
  });

  test('rows are copied into a temporary file, each on its line of the input', async () => {
    const prepared = await prepare(piped(`\n${JSON.stringify({ id: 'x', ...ROW })}\n\n \n${JSON.stringify(ROW)}\n`));
    if (!prepared.ok) throw new Error('not prepared');
    expect(prepared.value).toMatchObject({ filename: 'stdin.jsonl', requests: 2 });
    const lines = (await readFile(prepared.value.path, 'utf8')).split('\n');
    expect(prepared.value.bytes).toBe(Buffer.byteLength(lines.join('\n')));
    const ids = lines.map((line): unknown => (line === '' ? null : JSON.parse(line).custom_id));
    expect(ids).toEqual([null, 'x', null, null, 'line-5', null]);
  });

  test('envelopes from a pipe are copied unchanged', async () => {
    const prepared = await prepare(piped(`${envelope('a')}\n\n${envelope('b')}\n`, 7));
    if (!prepared.ok) throw new Error('not prepared');
    expect(await readFile(prepared.value.path, 'utf8')).toBe(`${envelope('a')}\n\n${envelope('b')}\n`);
  });

  test('the endpoint is that of the flag, else of the first line, else /v1/score', async () => {
    const body = { response: 'r', sources: [] };
    const verify = `${envelope('a', body, '/v1/verify')}\n`;
    expect(await prepare(piped(verify))).toMatchObject({ value: { endpoint: '/v1/verify' } });
    expect(await prepare(piped(JSON.stringify(ROW)))).toMatchObject({ value: { endpoint: '/v1/score' } });
    const rows = piped(JSON.stringify(ROW));
    expect(await prepare(rows, { endpoint: '/v1/verify' })).toMatchObject({ value: { endpoint: '/v1/verify' } });
    expect(await prepare(piped(envelope('a')), { endpoint: '/v1/verify' })).toMatchObject({
      error: { errors: [{ code: 'mismatched_endpoint', line: 1 }] },
    });
  });

  test('the digest depends only on the requests, their lines and the endpoint', async () => {
    const digest = async (text: string, more: Parameters<typeof prepare>[1] = {}) => {
      const prepared = await prepare(piped(text), more);
      return prepared.ok ? prepared.value.digest : 'none';
    };
    const rows = `${JSON.stringify(ROW)}\n${JSON.stringify({ ...ROW, id: 'b' })}`;
    const first = await digest(rows);
    expect(await digest(`\uFEFF${rows.replace('\n', '\r\n')}\n\n`)).toBe(first);
    const others = [
      await digest(`\n${rows}`),
      await digest(rows, { endpoint: '/v1/verify' }),
      await digest(rows, { scoring: { ...NO_SCORING_FLAGS, changes: { citation_weight: 0.3 } } }),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
  });

  test('errors of rows have their line, duplicates included', async () => {
    const good = JSON.stringify({ id: 'a', ...ROW });
    const errors = await errorsOf(`${good}\n{"question":\n${good}\n${JSON.stringify({ ...ROW, recpie: 1, note: 2 })}`);
    expect(errors).toEqual([
      [2, 'expected one JSON object a line; this is not JSON: it ends too early'],
      [3, 'Line 1 has the same custom_id; give each line its own.'],
      [4, 'note: expected a string, got an integer'],
      [4, 'recpie: unknown field; did you mean recipe?'],
    ]);
  });

  test('errors of envelopes are those of the Worker', async () => {
    const text = `${envelope('a')}\n{"custom_id":"b","method":"POST","url":"/v1/score"}\n${JSON.stringify(ROW)}\n`;
    expect(await errorsOf(text)).toEqual([
      [2, 'body: expected an object.'],
      [3, expect.stringContaining('custom_id: expected a string')],
    ]);
  });

  test.each([
    ['', [[null, 'The file has no requests.']]],
    ['\n \r\n', [[null, 'The file has no requests.']]],
    ['x\n', [[1, 'expected one JSON object a line; this is not JSON']]],
  ])('%j holds no request', async (text, errors) => expect(await errorsOf(text)).toEqual(errors));

  test('a first line that is not an object does not decide the kind of the file', async () => {
    expect(await errorsOf(`[]\n${envelope('a')}\n`)).toEqual([[1, 'expected a JSON object']]);
  });

  test('the first hundred errors are listed, and all are counted', async () => {
    const prepared = await prepare(piped('{}\n'.repeat(250)));
    if (prepared.ok) throw new Error('no errors');
    expect(prepared.error.errors.length).toBe(100);
    expect(prepared.error.error_count).toBe(250);
  });

  test('scoring flags are refused for complete requests and for verification', async () => {
    const scoring = { ...NO_SCORING_FLAGS, changes: { citation_weight: 0.3 } };
    await expect(prepare(piped(envelope('a')), { scoring })).rejects.toThrow(UsageError);
    await expect(prepare(piped(JSON.stringify(ROW)), { scoring, endpoint: '/v1/verify' })).rejects.toThrow('--set');
  });
});
