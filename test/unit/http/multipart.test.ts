/** The streaming form parser: any split into chunks, any content, and refusal of everything that is not a form. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundaryOf, MultipartError, MultipartParser } from '../../../functions/http/multipart.ts';
import { MAX_FORM_IGNORED_BYTES, MAX_FORM_PARTS, MAX_PART_HEADER_BYTES } from '../../../src/limits.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

type Part = { readonly name: string; readonly filename: string | null; readonly content: string };

const BOUNDARY = '----formdata-0123456789';
const encoder = new TextEncoder();
/** One character a byte, so that any content can be compared. */
const latin1 = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** Parses chunks, each in a buffer that is overwritten afterwards, as a reader that uses its buffer again does. */
function parse(chunks: readonly Uint8Array[], boundary = BOUNDARY): Part[] {
  const parser = new MultipartParser(boundary);
  const parts: { name: string; filename: string | null; content: string; ended: boolean }[] = [];
  for (const chunk of chunks) {
    const buffer = chunk.slice();
    for (const event of parser.push(buffer)) {
      const last = parts.at(-1);
      if (event.kind === 'part') parts.push({ ...event.head, content: '', ended: false });
      else if (last === undefined || last.ended) throw new Error(`${event.kind} outside of a part`);
      else if (event.kind === 'data') last.content += latin1(event.bytes);
      else last.ended = true;
    }
    buffer.fill(0x2d);
  }
  parser.finish();
  return parts.map(({ ended, ...part }) => {
    if (!ended) throw new Error('a part has no end');
    return part;
  });
}

function defectOf(body: string | Uint8Array, boundary = BOUNDARY): string {
  try {
    parse([typeof body === 'string' ? encoder.encode(body) : body], boundary);
  } catch (error) {
    if (error instanceof MultipartError) return error.defect;
    throw error;
  }
  return 'none';
}

function formOf(parts: readonly Part[], { preamble = '', epilogue = '\r\n', padding = '' } = {}): Uint8Array {
  const pieces = parts.map(({ name, filename, content }) => {
    const file = filename === null ? '' : `; filename="${filename}"`;
    return `--${BOUNDARY}${padding}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;
  });
  return bytesOf(`${preamble}${pieces.join('')}--${BOUNDARY}--${epilogue}`);
}

function oneHeader(header: string): string {
  return `--${BOUNDARY}\r\n${header}\r\n\r\nx\r\n--${BOUNDARY}--`;
}

/** Content made of what delimiters are made of. */
const contentArbitrary = fc
  .array(
    fc.constantFrom(
      '\r',
      '\n',
      '-',
      '--',
      '\r\n',
      '\r\n--',
      `\r\n--${BOUNDARY.slice(0, -1)}`,
      BOUNDARY,
      'a',
      '\u0000',
      'ÿ',
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''))
  .filter((content) => !`\r\n${content}`.includes(`\r\n--${BOUNDARY}`));

const partArbitrary = fc.record({
  name: fc.constantFrom('file', 'purpose', 'a b', 'x[y]'),
  filename: fc.constantFrom(null, 'rows.jsonl', ''),
  content: contentArbitrary,
});

describe('a form', () => {
  const parts: Part[] = [
    { name: 'file', filename: 'rows.jsonl', content: `{"a":1}\r\n\r\n--${BOUNDARY.slice(0, 5)}\r\r\n--\n` },
    { name: 'empty', filename: null, content: '' },
    { name: 'purpose', filename: null, content: 'batch' },
  ];

  it('is read the same wherever it is cut in two, and byte by byte', () => {
    const body = formOf(parts, { preamble: 'before\r\n', epilogue: '\r\nafter\r\n', padding: ' \t' });
    for (let cut = 0; cut <= body.length; cut++) {
      expect(parse([body.subarray(0, cut), body.subarray(cut)]), `cut at ${cut}`).toEqual(parts);
    }
    expect(parse(Array.from(body, (byte) => Uint8Array.of(byte)))).toEqual(parts);
  });

  it('gives back any content through any chunks', () => {
    const cutsArbitrary = fc.array(fc.nat({ max: 2_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(partArbitrary, { maxLength: 4 }), cutsArbitrary, (given, cuts) => {
        const body = formOf(given);
        const places = [0, ...cuts.filter((cut) => cut < body.length).sort((a, b) => a - b), body.length];
        const chunks = places.slice(1).map((place, i) => body.subarray(places[i], place));
        expect(parse(chunks)).toEqual(given);
      }),
      { numRuns: 500 },
    );
  });

  it('can be empty, and can end without a line end', () => {
    expect(parse([formOf([])])).toEqual([]);
    expect(parse([formOf(parts, { epilogue: '' })])).toEqual(parts);
  });

  it('is what fetch and FormData send', async () => {
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', new File(['{"a":"ö"}\n'], 'zeilen "ö"\n.jsonl'));
    const request = new Request('https://citeward.test', { method: 'POST', body: form });
    const boundary = boundaryOf(request.headers.get('content-type') ?? '');
    expect(parse([new Uint8Array(await request.arrayBuffer())], boundary ?? '')).toEqual([
      { name: 'purpose', filename: null, content: 'batch' },
      { name: 'file', filename: 'zeilen "ö"\n.jsonl', content: latin1(encoder.encode('{"a":"ö"}\n')) },
    ]);
  });

  it('passes content on as it comes, holding nothing back but what may be a boundary', () => {
    const parser = new MultipartParser(BOUNDARY);
    parser.push(formOf([{ name: 'file', filename: 'f', content: '' }]).subarray(0, -BOUNDARY.length - 8));
    const megabyte = new Uint8Array(1024 * 1024).fill(0x61);
    for (let i = 0; i < 3; i++) {
      const events = parser.push(megabyte);
      expect(events.map((event) => (event.kind === 'data' ? event.bytes.byteLength : event.kind))).toEqual([
        1024 * 1024,
      ]);
    }
  });
});

describe('names', () => {
  const headOf = (header: string): Part[] => parse([encoder.encode(oneHeader(header))]);
  it.each([
    ['form-data; name="file"; filename="a.jsonl"', 'file', 'a.jsonl'],
    ['form-data; name=file; filename=a.jsonl', 'file', 'a.jsonl'],
    ['Form-Data ;name = "file" ; FILENAME="a;b=c.jsonl";', 'file', 'a;b=c.jsonl'],
    ['form-data; name="a%22b%0D%0Ac"', 'a"b\r\nc', null],
    ['form-data; name="a\\"b\\\\c"; filename="C:\\dir\\a.jsonl"', 'a"b\\c', 'C:\\dir\\a.jsonl'],
    ['form-data; name="ö"; filename="名.jsonl"', 'ö', '名.jsonl'],
    ['form-data; name="file"; filename="100%25.jsonl"', 'file', '100%25.jsonl'],
    ["form-data; name=file; filename=x; filename*=UTF-8''%e5%90%8d%22.jsonl", 'file', '名".jsonl'],
    ["form-data; name=file; filename*=iso-8859-1'de'%f6.jsonl", 'file', 'ö.jsonl'],
    ['form-data; name=file;\r\n filename="a.jsonl"', 'file', 'a.jsonl'],
    ['form-data; name=file; filename=""', 'file', ''],
  ])('of %s', (disposition, name, filename) => {
    for (const header of [
      `Content-Disposition: ${disposition}`,
      `content-disposition:${disposition}\r\nContent-Type: a/b; filename=other\r\nX-Other: ö`,
      `Content-Transfer-Encoding: 8BIT\r\nCONTENT-DISPOSITION: ${disposition}`,
    ]) {
      expect(headOf(header)).toEqual([{ name, filename, content: 'x' }]);
    }
  });

  it.each([
    ['name_missing', 'Content-Disposition: form-data'],
    ['name_missing', 'Content-Disposition: form-data; name=""; filename="a"'],
    ['name_missing', 'Content-Type: text/plain'],
    ['name_missing', ''],
    ['header', 'Content-Disposition: attachment; name=file'],
    ['header', 'Content-Disposition: form-data; name="file'],
    ['header', 'Content-Disposition: form-data; name=a b'],
    ['header', 'Content-Disposition: form-data; name=a; name=b'],
    ['header', 'Content-Disposition: form-data; name=a; =b'],
    ['header', 'Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b'],
    ['header', 'Content-Disposition form-data; name=a'],
    ['header', ' Content-Disposition: form-data; name=a'],
    ['header', 'Content-Disposition: form-data; name="a\nb"'],
    ['header', 'Content-Disposition: form-data; name="a\u0000b"'],
    ['header', "Content-Disposition: form-data; name=a; filename*=UTF-8''%ff"],
    ['header', "Content-Disposition: form-data; name=a; filename*=UTF-8''%4"],
    ['header', "Content-Disposition: form-data; name=a; filename*=koi8-r''a"],
    ['header', 'Content-Disposition: form-data; name=a; filename*=a'],
    ['encoding', 'Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64'],
  ])('are missing or malformed (%s): %s', (defect, header) => {
    expect(defectOf(oneHeader(header))).toBe(defect);
  });

  it('are UTF-8', () => {
    const body = bytesOf(oneHeader('Content-Disposition: form-data; name="\u00f6"'));
    expect(defectOf(body)).toBe('header');
  });
});

describe('what is no form', () => {
  const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n`;
  it.each([
    ['', 'not_closed'],
    ['hello', 'not_closed'],
    [part, 'not_closed'],
    [`${part}--${BOUNDARY}`, 'not_closed'],
    [`${part}--${BOUNDARY}-`, 'not_closed'],
    [`${part}--${BOUNDARY}\r\nContent-Disposition: form-data; name=a`, 'not_closed'],
    [`${part}--${BOUNDARY}x\r\n\r\n--${BOUNDARY}--`, 'delimiter'],
    [`${part}--${BOUNDARY} -\r\n\r\n--${BOUNDARY}--`, 'delimiter'],
    [part.repeat(MAX_FORM_PARTS + 1), 'too_many_parts'],
    [`--${BOUNDARY}\r\nA: ${'x'.repeat(MAX_PART_HEADER_BYTES)}\r\n\r\n`, 'header_too_long'],
    [`--${BOUNDARY}${' '.repeat(MAX_PART_HEADER_BYTES)}\r\n\r\n`, 'header_too_long'],
    [`${'x'.repeat(MAX_FORM_IGNORED_BYTES + 1)}\r\n${part}--${BOUNDARY}--`, 'ignored_too_long'],
    [`${part}--${BOUNDARY}--${'x'.repeat(MAX_FORM_IGNORED_BYTES + 1)}`, 'ignored_too_long'],
  ])('is refused (%#)', (body, defect) => {
    expect(defectOf(body)).toBe(defect);
  });
});

describe('the boundary of a content type', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data;boundary="a b:c=d"; charset=utf-8', 'a b:c=d'],
    ['multipart/form-data; charset=utf-8; Boundary=openai-x1', 'openai-x1'],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
    ['application/json', null],
    ['', null],
    ['multipart/mixed; boundary=abc', null],
  ])('of %s', (contentType, boundary) => {
    expect(boundaryOf(contentType)).toBe(boundary);
  });

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="a"b',
    'multipart/form-data; boundary="abc ',
    'multipart/form-data; boundary="abc "',
    'multipart/form-data; boundary="a\\"b"',
    'multipart/form-data; boundary="ö"',
    'multipart/form-data; boundary=a; boundary=b',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])('is missing or unusable: %s', (contentType) => {
    expect(() => boundaryOf(contentType)).toThrow(MultipartError);
  });
});

describe('hostile content', () => {
  it.each([
    ['line ends', '\r\n'],
    ['carriage returns', '\r'],
    ['boundaries that are all but complete', `\r\n--${BOUNDARY.slice(0, -1)}`],
  ])('of %s takes linear time', (_what, content) => {
    const chunkOf = (bytes: number) => encoder.encode(content.repeat(Math.ceil(bytes / content.length)));
    expectLinear(
      (chunk) => {
        const parser = new MultipartParser(BOUNDARY);
        parser.push(encoder.encode(`--${BOUNDARY}\r\nContent-Disposition: form-data; name=a\r\n\r\n`));
        parser.push(chunk);
      },
      chunkOf((4 * 1024 * 1024) / GROWTH),
      chunkOf(4 * 1024 * 1024),
    );
  });

  it('of many near-boundaries gives one event a chunk', () => {
    const parser = new MultipartParser(BOUNDARY);
    parser.push(encoder.encode(`--${BOUNDARY}\r\nContent-Disposition: form-data; name=a\r\n\r\n`));
    const chunk = encoder.encode(`${`\r\n--${BOUNDARY.slice(0, -1)}.`.repeat(1_000)}.`);
    expect(parser.push(chunk)).toEqual([{ kind: 'data', bytes: chunk }]);
  });
});
