/** From bytes to rows: every line is read exactly, or its problem is named. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mapInOrder } from '../../../cli/shared/in-order.ts';
import { readRow, withoutFields } from '../../../cli/shared/rows.ts';
import { type Line, readLines } from '../../../src/text/lines.ts';
import { verifyRequestSchema } from '../../../src/wire/verify.ts';

const MAX_BYTES = 64;

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function readInput(input: string | Uint8Array, size = 7): Promise<Line[]> {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  return collect(readLines(chunksOf(bytes, size), MAX_BYTES));
}

const textOf = ({ number, content }: Line): [number, string] => [number, content.ok ? content.value : content.error];

describe('lines', () => {
  test('LF, CRLF, blank lines, a byte order mark and a missing last newline', async () => {
    expect((await readInput('\uFEFFa\r\nb\n\n  \n\r\nc')).map(textOf)).toEqual([
      [1, 'a'],
      [2, 'b'],
      [6, 'c'],
    ]);
  });

  test('only LF breaks a line: U+2028 and U+0085 are legal in JSON text', async () => {
    expect((await readInput('"\u2028\u0085"\n')).map(textOf)).toEqual([[1, '"\u2028\u0085"']]);
  });

  test('a byte order mark after the first line is text', async () => {
    expect((await readInput('a\n\uFEFFb')).map(textOf)).toEqual([
      [1, 'a'],
      [2, '\uFEFFb'],
    ]);
  });

  test('bytes that are not UTF-8 affect only their line', async () => {
    const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xff, 0x0a]), Buffer.from('c\n')]);
    expect((await readInput(bytes)).map(textOf)).toEqual([
      [1, 'a'],
      [2, 'not_utf8'],
      [3, 'c'],
    ]);
  });

  test('skips a line that is too long and reads the next one', async () => {
    const long = 'x'.repeat(MAX_BYTES + 1);
    const fits = 'y'.repeat(MAX_BYTES);
    expect((await readInput(`${long}\n${fits}\n`)).map(textOf)).toEqual([
      [1, 'too_long'],
      [2, fits],
    ]);
  });

  test('the lines do not depend on the chunks, and all bytes are counted', async () => {
    const text = fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (lines, size) => {
        const input = lines.join('\n');
        const whole = await readInput(input, 1_000);
        expect(await readInput(input, size)).toEqual(whole);
        const kept = input
          .replace(/^\uFEFF/, '')
          .split('\n')
          .map((line) => line.replace(/\r$/, ''))
          .filter((line) => line.trim() !== '');
        expect(whole.map((line) => textOf(line)[1])).toEqual(kept);
        const last = whole.at(-1);
        if (last !== undefined) expect(last.bytesRead).toBeLessThanOrEqual(Buffer.byteLength(input));
      }),
    );
  });
});

describe('rows', () => {
  const row = (text: string) =>
    readRow({ number: 3, bytesRead: 0, content: { ok: true, value: text } }, verifyRequestSchema, (fields) => fields);

  test('the labels are separated, the other fields are the request', () => {
    const read = row('{"id":7,"note":"n","response":"r","sources":[]}');
    expect(read).toMatchObject({
      ok: true,
      value: { line: 3, labels: { id: 7, note: 'n' }, request: { response: 'r', grammar: 'snippet' } },
    });
  });

  test.each([
    ['{"response":', null, 'expected one JSON object a line; this is not JSON: it ends too early'],
    ['{"response":x}', null, 'expected one JSON object a line; this is not JSON'],
    ['{"response":1 "a"}', null, 'expected one JSON object a line; this is not JSON: wrong from column 15'],
    ['[]', null, 'expected a JSON object'],
    ['null', null, 'expected a JSON object'],
    ['{"id":[],"response":"r","sources":[]}', 'id', 'expected a string or a finite number, got an array'],
    ['{"respons":"r","response":"r","sources":[]}', 'respons', 'unknown field; did you mean response?'],
    ['{"response":1,"sources":[]}', 'response', 'expected a string, got an integer'],
    ['{"sources":[]}', 'response', 'give exactly one of response (a string) and cited_answer'],
    ['{"response":"r","sources":[{"id":"","text":"t"}]}', 'sources[0].id', 'expected at least 1 characters'],
  ])('%s has its problem', (text, field, message) => {
    expect(row(text)).toEqual({ ok: false, error: [{ field, message }] });
  });

  test('problems of labels and fields are listed together', () => {
    const read = row('{"note":1,"response":1,"sources":[]}');
    expect(read.ok ? [] : read.error.map(({ field }) => field)).toEqual(['note', 'response']);
  });

  test('an unreadable line has its problem', () => {
    const read = readRow(
      { number: 1, bytesRead: 0, content: { ok: false, error: 'not_utf8' } },
      verifyRequestSchema,
      (fields) => fields,
    );
    expect(read).toMatchObject({ ok: false, error: [{ field: null, message: 'not UTF-8' }] });
  });

  test('withoutFields removes the named fields', () => {
    expect(withoutFields({ a: 1, b: 2 }, new Set(['b']))).toEqual({ a: 1 });
  });
});

describe('mapInOrder', () => {
  async function* upTo(count: number): AsyncGenerator<number> {
    for (let item = 0; item < count; item++) yield item;
  }

  test('results keep the order of the input, with at most the limit in progress', async () => {
    let underWay = 0;
    let most = 0;
    const results = await collect(
      mapInOrder(upTo(20), 4, async (item) => {
        underWay++;
        most = Math.max(most, underWay);
        await new Promise((done) => setTimeout(done, item % 3));
        underWay--;
        return item;
      }),
    );
    expect(results).toEqual(Array.from({ length: 20 }, (_, item) => item));
    expect(most).toBe(4);
  });

  test('yields a result without waiting for more input', async () => {
    async function* slow(): AsyncGenerator<string> {
      yield 'first';
      await new Promise(() => undefined);
    }
    for await (const result of mapInOrder(slow(), 4, async (item) => item)) {
      expect(result).toBe('first');
      break;
    }
  });

  test('the first rejection ends the stream', async () => {
    const results: number[] = [];
    const run = async (): Promise<void> => {
      const mapped = mapInOrder(upTo(9), 3, async (item) => {
        if (item === 2) throw new Error('two');
        return item;
      });
      for await (const result of mapped) results.push(result);
    };
    await expect(run()).rejects.toThrow('two');
    expect(results).toEqual([0, 1]);
  });
});
