/** Adds a column of text to a table of an endpoint that was made before the column existed. Idempotent. */
export function addTextColumn(
  sql: SqlStorage,
  table: 'jobs_v1' | 'deliveries_v1' | 'secrets_v1',
  column: 'trace' | 'key_id',
): void {
  const columns = sql.exec<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).toArray();
  if (!columns.some(({ name }) => name === column)) sql.exec(`ALTER TABLE ${table} ADD COLUMN ${column} TEXT`);
}
