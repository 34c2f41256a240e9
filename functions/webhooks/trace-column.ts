/** Adds the column `trace` to a table of an endpoint that was made before traces were stored. Idempotent. */
export function addTraceColumn(sql: SqlStorage, table: 'jobs_v1' | 'deliveries_v1'): void {
  const columns = sql.exec<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).toArray();
  if (!columns.some(({ name }) => name === 'trace')) sql.exec(`ALTER TABLE ${table} ADD COLUMN trace TEXT`);
}
