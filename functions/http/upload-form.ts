/**
 * Reads a form with one file as a stream: the file is passed on piece by piece, the few other fields are kept. After an
 * error the rest of the body is read and dropped, within limits, so that the client receives the problem.
 */

import { invalidInput, RequestError } from '../../service/failures.ts';
import {
  MAX_FILE_NAME_CHARS,
  MAX_FORM_FIELD_BYTES,
  MAX_FORM_IGNORED_BYTES,
  MAX_FORM_PARTS,
  MAX_PART_HEADER_BYTES,
} from '../../src/limits.ts';
import { BodyReader } from './body-reader.ts';
import type { Context } from './context.ts';
import { boundaryOf, MultipartError, type MultipartEvent, MultipartParser, type PartHead } from './multipart.ts';

type FormShape = {
  /** The field that contains the file. */
  readonly file: string;
  readonly maxFileBytes: number;
  /** Other fields to read; all further fields are ignored. */
  readonly fields: readonly string[];
  /** Receives the fields sent before the file, so that it can refuse the file before it is stored. */
  readonly begin?: (fields: ReadonlyMap<string, string>) => void;
  /** Receives bytes of the file, which are valid until the returned promise resolves. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
};

type Form = {
  readonly fields: ReadonlyMap<string, string>;
  /** The file name without a path. */
  readonly filename: string;
};

/** The most a form may contain beside its file. */
const MAX_OVERHEAD_BYTES = MAX_FORM_IGNORED_BYTES + MAX_FORM_PARTS * (MAX_PART_HEADER_BYTES + MAX_FORM_FIELD_BYTES);
/** The buffer, which all reads of a form share: the bytes of a read are valid until the next read. */
const READ_BYTES = 512 * 1024;

/** Reads the form of a request. @throws RequestError; the caller must then undo what was written. */
export async function readForm(c: Context, shape: FormShape): Promise<Form> {
  const request = c.req.raw;
  const boundary = asProblem(() => formBoundary(request.headers));
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > shape.maxFileBytes + MAX_OVERHEAD_BYTES) {
    throw new RequestError({ reason: 'file_too_large', limit_bytes: shape.maxFileBytes });
  }
  if (request.body === null) throw new RequestError({ reason: 'multipart_malformed', defect: 'not_closed' });
  const body = new BodyReader(request.body, c.get('bodyStallMs'));
  let buffer = new ArrayBuffer(READ_BYTES);
  const parser = new MultipartParser(boundary);
  const form = new FormReader(shape);
  try {
    for (;;) {
      const bytes = await body.read(new Uint8Array(buffer));
      buffer = bytes.buffer;
      if (bytes.byteLength === 0) break;
      for (const event of asProblem(() => parser.push(bytes))) await form.take(event);
    }
    asProblem(() => parser.finish());
    return form.result();
  } catch (error) {
    await body.discard();
    throw error;
  }
}

function formBoundary(headers: Headers): string {
  const boundary = boundaryOf(headers.get('content-type') ?? '');
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (boundary !== null && encoding === 'identity') return boundary;
  throw new RequestError({ reason: 'content_type_unsupported', wanted: 'form' });
}

function asProblem<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error;
    throw new RequestError({ reason: 'multipart_malformed', defect: error.defect });
  }
}

type Field = { readonly name: string; readonly pieces: Uint8Array[]; bytes: number };

/** Routes parts of the form to the file, the known fields or nowhere. */
class FormReader {
  readonly #shape: FormShape;
  readonly #fields = new Map<string, string>();
  #filename: string | null = null;
  #fileBytes = 0;
  #ignoredBytes = 0;
  #part: 'file' | 'ignored' | Field = 'ignored';

  constructor(shape: FormShape) {
    this.#shape = shape;
  }

  async take(event: MultipartEvent): Promise<void> {
    switch (event.kind) {
      case 'part':
        this.#begin(event.head);
        return;
      case 'data':
        await this.#content(event.bytes);
        return;
      case 'end':
        if (typeof this.#part === 'object') this.#fields.set(this.#part.name, fieldText(this.#part));
    }
  }

  result(): Form {
    if (this.#filename !== null) return { fields: this.#fields, filename: this.#filename };
    throw invalidInput([this.#shape.file], 'required: a file');
  }

  #begin({ name, filename }: PartHead): void {
    if (name === this.#shape.file) {
      if (this.#filename !== null) throw malformed('field_repeated');
      this.#filename = baseName(filename ?? '') ?? name;
      this.#part = 'file';
      if (this.#filename.length > MAX_FILE_NAME_CHARS) {
        const message = `expected a file name of at most ${MAX_FILE_NAME_CHARS} characters`;
        throw invalidInput([name], message);
      }
      this.#shape.begin?.(this.#fields);
    } else if (this.#shape.fields.includes(name)) {
      if (this.#fields.has(name)) throw malformed('field_repeated');
      this.#part = { name, pieces: [], bytes: 0 };
    } else this.#part = 'ignored';
  }

  async #content(bytes: Uint8Array): Promise<void> {
    if (this.#part === 'file') {
      const limit_bytes = this.#shape.maxFileBytes;
      this.#fileBytes += bytes.byteLength;
      if (this.#fileBytes > limit_bytes) throw new RequestError({ reason: 'file_too_large', limit_bytes });
      await this.#shape.write(bytes);
    } else if (this.#part === 'ignored') {
      this.#ignoredBytes += bytes.byteLength;
      if (this.#ignoredBytes > MAX_FORM_IGNORED_BYTES) throw malformed('ignored_too_long');
    } else {
      this.#part.bytes += bytes.byteLength;
      if (this.#part.bytes > MAX_FORM_FIELD_BYTES) throw malformed('field_too_long');
      this.#part.pieces.push(bytes.slice());
    }
  }
}

function fieldText({ pieces }: Field): string {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw malformed('field_not_utf8');
    throw error;
  }
}

function malformed(defect: MultipartError['defect']): RequestError {
  return new RequestError({ reason: 'multipart_malformed', defect });
}

/** The part after the last separator: a path has no meaning here (RFC 7578 section 4.2). */
function baseName(filename: string): string | null {
  const name = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1);
  return name === '' ? null : name;
}
