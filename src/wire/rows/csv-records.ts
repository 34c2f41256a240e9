/** The records of CSV, numbered, from csv-parse. One that is malformed is a fault, and the next ones are read on. */
import { isJsonObject } from '../../json.ts';
import { MAX_BODY_BYTES } from '../../limits.ts';
import { type FileRecord, ROW_FAULTS, type RowFault } from './row-line.ts';

/** An error of csv-parse. Its message may quote the file, which is untrusted. */
type CsvProblem = { readonly code: string; readonly index?: unknown; readonly header?: unknown };

/** What a person can do about a file that `UnreadableCsv` is thrown for. */
export const CSV_HINT = 'Fields with commas, quotes or line breaks need quotes.';

/** Why nothing after a place of the file can be read. */
export class UnreadableCsv extends Error {
  /** The first record that is not read; `null` = the header cannot be. */
  readonly row: number | null;
  /** Such as `longer than 16777216 bytes`. */
  readonly problem: string;

  constructor(row: number | null, problem: string) {
    super(row === null ? problem : `row ${row} is ${problem}`);
    this.row = row;
    this.problem = problem;
  }
}

/**
 * Collects records while csv-parse reads: `parse(text, { columns: true, ...records.options })`, then `records.end()`,
 * such as `[{ number: 1, record: { ok: true, value: { question: 'q' } } }]`.
 */
export class CsvRecords {
  #number = 0;
  #read: FileRecord[] = [];
  /** The fault of the record that is being read; several errors may be in one record. */
  #fault: RowFault | null = null;
  /** Whether a field of the record with the fault has ended. */
  #hasField = false;

  /** csv-parse throws `UnreadableCsv` for a header that is malformed, and at a record that is too long. */
  readonly options = {
    columns: true,
    max_record_size: MAX_BODY_BYTES,
    skip_empty_lines: true,
    skip_records_with_error: true,
    /** Called at the end of each field. */
    cast: (field: string, { index }: { readonly index: number }): string => {
      if (this.#fault === null) return field;
      if (index === 0 && this.#hasField) this.#endFault();
      this.#hasField = true;
      return field;
    },
    on_record: (record: unknown): null => {
      this.#endFault();
      if (isJsonObject(record)) this.#read.push({ number: ++this.#number, record: { ok: true, value: record } });
      return null;
    },
    on_skip: (error: CsvProblem | undefined): undefined => {
      if (error !== undefined) this.#addFault(error);
    },
  };

  #addFault({ code, index, header }: CsvProblem): void {
    if (header === true) throw new UnreadableCsv(null, 'has a malformed header');
    const fault = faultOf(code);
    if (this.#fault !== null && index === 0 && this.#hasField) this.#endFault();
    // csv-parse drops what it has not read of its chunk, and goes on in the middle of a record.
    if (fault === 'too_long') {
      throw new UnreadableCsv(this.#number + 1, `${ROW_FAULTS.too_long}; perhaps a quote in it is not closed`);
    }
    if (this.#fault === null) this.#hasField = index !== 0;
    // The first error of a record is the reason, except that a quote that is not closed hides the rest of the file.
    if (this.#fault === null || fault === 'open_quote') this.#fault = fault;
  }

  #endFault(): void {
    if (this.#fault !== null) this.#read.push({ number: ++this.#number, record: { ok: false, error: this.#fault } });
    this.#fault = null;
  }

  /** The records since the last call. */
  take(): FileRecord[] {
    const read = this.#read;
    this.#read = [];
    return read;
  }

  /** The last records. */
  end(): FileRecord[] {
    this.#endFault();
    return this.take();
  }
}

function faultOf(code: string): RowFault {
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return 'other_fields';
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'open_quote';
    case 'CSV_MAX_RECORD_SIZE':
      return 'too_long';
    default:
      return 'malformed_record';
  }
}
