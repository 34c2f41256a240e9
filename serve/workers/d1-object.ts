/**
 * A D1 database: the SQLite of one Durable Object. Speaks the HTTP protocol of workerd's `cloudflare-internal:d1-api`:
 * POST of one statement or a list, which run in one transaction.
 */
import { DurableObject } from 'cloudflare:workers';
import * as z from 'zod';

const statementSchema = z.object({
  sql: z.string(),
  params: z
    // Bytes are lists of numbers.
    .array(z.union([z.number(), z.string(), z.null(), z.array(z.number())]))
    .nullish(),
});
const statementsSchema = z.union([z.array(statementSchema), statementSchema.transform((one) => [one])]);

type Statement = z.infer<typeof statementSchema>;
type Changes = { readonly changes: number; readonly last_row_id: number };

export class D1Object extends DurableObject<unknown> {
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const statements = statementsSchema.parse(await request.json()).filter(({ sql }) => !isEmpty(sql));
    if (statements.length === 0) return refused('No SQL statements detected.');
    const asRows = searchParams.get('resultsFormat') === 'ROWS_AND_COLUMNS';
    try {
      return Response.json(
        this.ctx.storage.transactionSync(() => statements.map((statement) => this.#run(statement, asRows))),
      );
    } catch (error) {
      return refused(error instanceof Error ? error.message : String(error));
    }
  }

  #run({ sql, params }: Statement, asRows: boolean): object {
    const before = this.#changes();
    const bound = (params ?? []).map((value) => (Array.isArray(value) ? Uint8Array.from(value).buffer : value));
    const cursor = this.ctx.storage.sql.exec(sql, ...bound);
    const columns = cursor.columnNames;
    const rows = [...cursor.raw()].map((row) =>
      row.map((value) => (value instanceof ArrayBuffer ? [...new Uint8Array(value)] : value)),
    );
    const after = this.#changes();
    const changes = after.changes - before.changes;
    return {
      success: true,
      results: asRows
        ? { columns, rows }
        : rows.map((row) => Object.fromEntries(columns.map((column, n) => [column, row[n]]))),
      meta: {
        served_by: 'citeward serve',
        duration: 0,
        changes,
        last_row_id: after.last_row_id,
        changed_db: changes > 0,
        size_after: this.ctx.storage.sql.databaseSize,
        rows_read: cursor.rowsRead,
        rows_written: cursor.rowsWritten,
      },
    };
  }

  #changes(): Changes {
    const sql = 'SELECT total_changes() AS changes, last_insert_rowid() AS last_row_id';
    return this.ctx.storage.sql.exec<Changes>(sql).one();
  }
}

/** Whether a statement consists of comments. */
function isEmpty(sql: string): boolean {
  return sql.split('\n').every((line) => line.trim() === '' || line.trimStart().startsWith('--'));
}

/** The binding throws an error with this message. */
function refused(error: string): Response {
  return Response.json({ success: false, error });
}
