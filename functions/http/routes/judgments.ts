/**
 * `POST /v1/judgments:export` and `:import` transfer judgments as JSON lines; `GET /v1/keys` returns the keys that
 * verify them. Both directions are streamed: a Worker has 128 MB, a file may have 100,000 lines.
 */
import { MAX_KV_BULK_KEYS } from '../../../lib/kv-store.ts';
import { type ImportReport, importJudgments } from '../../../src/judgments/import-judgments.ts';
import type { IssuerKey } from '../../../src/judgments/issuer.ts';
import { readLines } from '../../../src/judgments/jsonl.ts';
import { exportJudgments } from '../../../src/judgments/record-file.ts';
import { MAX_IMPORT_LINE_BYTES, MAX_IMPORT_LINES, MAX_REFUSED_LINES_LISTED } from '../../../src/limits.ts';
import { exportRequestSchema, type IssuerKeysReply } from '../../../src/wire/judgment-files.ts';
import type { IssuerKeys } from '../../storage/issuer-settings.ts';
import { readJson } from '../body.ts';
import { platformOf, storesOf } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { chunksOf, JSON_LINES_HEADERS, streamOf } from '../json-lines.ts';

/** Judgments that an import verifies and stores together, and the size of their lines in UTF-16 code units. */
const IMPORT_CHUNK_LINES = 100;
const IMPORT_CHUNK_CHARS = 256 * 1024;
/** What an import holds at a time: a chunk, and the line that is being read. */
const IMPORT_BUFFER_BYTES = 2 * IMPORT_CHUNK_CHARS + MAX_IMPORT_LINE_BYTES;

export const judgmentHandlers = {
  'GET /v1/keys': async (c) => {
    return c.json(describeKeys((await platformOf(c)).issuer));
  },
  'POST /v1/judgments:export': async (c) => {
    const { keys } = await readJson(c, exportRequestSchema);
    const wanted = keys.map((key) => ({ key, verdicts: null }));
    const { judgments, desk } = storesOf(c);
    const lines = exportJudgments(judgments, desk, wanted, MAX_KV_BULK_KEYS);
    return c.body(streamOf(lines), 200, JSON_LINES_HEADERS);
  },
  'POST /v1/judgments:import': async (c) => {
    const { signing, desk } = await platformOf(c);
    const lines = readLines(chunksOf(c, IMPORT_BUFFER_BYTES), MAX_IMPORT_LINE_BYTES);
    const limits = {
      lines: MAX_IMPORT_LINES,
      chunk: IMPORT_CHUNK_LINES,
      chunkChars: IMPORT_CHUNK_CHARS,
      listed: MAX_REFUSED_LINES_LISTED,
    };
    const report: ImportReport = await importJudgments(lines, signing.known, desk.import, limits);
    return c.json(report);
  },
} satisfies Partial<Handlers>;

function describeKeys({ current, previous, revoked }: IssuerKeys): IssuerKeysReply {
  const described = (status: 'current' | 'previous') => (key: IssuerKey) => ({ ...key, status });
  return {
    v: 1,
    keys: [
      ...(current === null ? [] : [current]).map(described('current')),
      ...previous.map(described('previous')),
      ...revoked.map(({ key_id }) => ({ key_id, status: 'revoked' as const, public_key: null })),
    ],
  };
}
