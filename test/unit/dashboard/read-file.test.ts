/** A file that a person opens in the dashboard is read in its encoding, or refused with what to do. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readOpenedFile } from '../../../dashboard/src/open-file/read-file.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';

const ROW = { question: 'Wie lang?', response: 'Die Aare ist 288 km lang, «sagt» [1].', sources: ['a', 'b'] };
const SEMICOLONS = `question;response;sources, cited\r\n${ROW.question};"${ROW.response}";x\r\n`;

const utf16 = (text: string) => new Uint8Array(Buffer.from(`\uFEFF${text}`, 'utf16le'));
const csv = (delimiter: string) =>
  ['question', 'response', 'sources'].join(delimiter) +
  `\n${[ROW.question, `"${ROW.response}"`, `"['a', 'b']"`].join(delimiter)}\n`;

async function opened(name: string, content: string | Uint8Array<ArrayBuffer>) {
  return readOpenedFile(new File([content], name));
}

describe('rows', () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['rows.csv', csv(',')],
    ['rows.csv', csv(';')],
    ['excel.csv', `\uFEFFsep=;\n${csv(';')}`],
    ['rows.tsv', csv('\t')],
    ['utf16.csv', utf16(csv('\t'))],
    ['utf16.jsonl', utf16(JSON.stringify(ROW))],
    ['rows.csv.gz', new Uint8Array(gzipSync(csv(',')))],
    ['rows.jsonl.gz', new Uint8Array(gzipSync(JSON.stringify(ROW)))],
  ])('of %s', async (name, content) => {
    expect(await opened(name, content)).toMatchObject({
      ...{ kind: 'rows', rows: [{ number: 1, fields: ROW }], bad: [], tool: null, leftOut: 0 },
    });
  });

  test('are separated by what the header has most often', async () => {
    expect(await opened('rows.csv', SEMICOLONS)).toMatchObject({
      rows: [{ fields: { question: ROW.question, response: ROW.response, 'sources, cited': 'x' } }],
    });
  });
});

test('a record of CSV that is too long is the last one that is named, and the rows before it are read', async () => {
  const long = `q,"${'x'.repeat(MAX_BODY_BYTES + 1)}",\n`;
  const problem = `longer than ${MAX_BODY_BYTES} bytes; perhaps a quote in it is not closed. Nothing after it is read.`;
  expect(await opened('rows.csv', `${csv(',')}${long}${'q,a,\n'.repeat(5)}`)).toMatchObject({
    ...{ kind: 'rows', rows: [{ number: 1, fields: ROW }], bad: [{ number: 2, problem }] },
  });
});

test.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
  ['latin.csv', new Uint8Array(Buffer.from(csv(','), 'latin1')), 'is not UTF-8'],
  ['cut.csv.gz', new Uint8Array(gzipSync(csv(',')).subarray(0, 30)), 'is no complete gzip file'],
  ['data', 'a\0b', 'is binary data of no known kind'],
])('%s is refused', async (name, content, problem) => {
  expect(await opened(name, content)).toMatchObject({ kind: 'refused', problem });
});
