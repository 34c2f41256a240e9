/**
 * The tables of D1. The Worker creates them on first use in an isolate, so a new deployment needs no migration step
 * (docs/decisions/2026-11-21-the-worker-makes-its-tables.md). Add versions; never change a released statement.
 */

/** The statements of each version. A version is one transaction, and is made once. */
const VERSIONS: readonly (readonly string[])[] = [
  // Tables without projects were here once.
  [],
  [],
  [],
  [
    ...[
      'rollout_rows',
      'rollouts',
      'run_recipes',
      'runs',
      'files',
      'uploads',
      'batches',
      'webhook_endpoints',
      'run_list',
    ].map((table) => `DROP TABLE IF EXISTS ${table}`),
    `CREATE TABLE IF NOT EXISTS files (
       id TEXT PRIMARY KEY, project TEXT NOT NULL, purpose TEXT NOT NULL, filename TEXT NOT NULL, bytes INTEGER NOT NULL,
       created_at INTEGER NOT NULL, expires_at INTEGER, removed_at INTEGER
     ) STRICT`,
    `CREATE INDEX IF NOT EXISTS files_created ON files (project, created_at, id)`,
    `CREATE INDEX IF NOT EXISTS files_expires ON files (expires_at) WHERE expires_at IS NOT NULL AND removed_at IS NULL`,
    `CREATE INDEX IF NOT EXISTS files_removed ON files (removed_at) WHERE removed_at IS NOT NULL`,
    `CREATE TABLE IF NOT EXISTS uploads (
       id TEXT PRIMARY KEY, project TEXT NOT NULL, status TEXT NOT NULL, purpose TEXT NOT NULL, filename TEXT NOT NULL,
       bytes INTEGER NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, file_lifetime_s INTEGER,
       parts INTEGER NOT NULL, file_id TEXT, part_ids_sha256 TEXT, cleared INTEGER NOT NULL
     ) STRICT`,
    `CREATE INDEX IF NOT EXISTS uploads_cleared ON uploads (cleared, expires_at)`,
    `CREATE TABLE IF NOT EXISTS batches (
       id TEXT PRIMARY KEY, project TEXT NOT NULL, created_at INTEGER NOT NULL, snapshot TEXT NOT NULL
     ) STRICT`,
    `CREATE INDEX IF NOT EXISTS batches_created ON batches (project, created_at, id)`,
    `CREATE TABLE IF NOT EXISTS webhook_endpoints (
       id TEXT PRIMARY KEY, project TEXT NOT NULL, created_at INTEGER NOT NULL
     ) STRICT`,
    `CREATE INDEX IF NOT EXISTS webhook_endpoints_created ON webhook_endpoints (project, created_at, id)`,
    // The list of runs. Their rollouts are in objects (STORAGE.md).
    `CREATE TABLE IF NOT EXISTS run_list (
       project TEXT NOT NULL, id TEXT NOT NULL, incarnation TEXT NOT NULL, family TEXT NOT NULL, shards INTEGER NOT NULL,
       created_at INTEGER NOT NULL, active_at INTEGER NOT NULL, store_text INTEGER NOT NULL, first_step INTEGER,
       last_step INTEGER, deleting_at INTEGER, PRIMARY KEY (project, id)
     ) STRICT`,
    `CREATE INDEX IF NOT EXISTS run_list_created ON run_list (project, created_at, id)`,
    `CREATE INDEX IF NOT EXISTS run_list_active ON run_list (active_at)`,
    `CREATE INDEX IF NOT EXISTS run_list_deleting ON run_list (deleting_at) WHERE deleting_at IS NOT NULL`,
  ],
  [
    `CREATE TABLE IF NOT EXISTS api_keys (
       id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, project TEXT NOT NULL, label TEXT NOT NULL,
       scopes TEXT NOT NULL, tier TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER, last_used_at INTEGER,
       revoked_at INTEGER
     ) STRICT`,
    `CREATE INDEX IF NOT EXISTS api_keys_created ON api_keys (created_at, id)`,
    `CREATE INDEX IF NOT EXISTS api_keys_project ON api_keys (project, created_at, id)`,
    `CREATE TABLE IF NOT EXISTS projects (
       project TEXT PRIMARY KEY, judge_calls_per_day INTEGER, judge_tokens_per_day INTEGER
     ) STRICT`,
    `CREATE TABLE IF NOT EXISTS budget_use (
       project TEXT NOT NULL, day TEXT NOT NULL, judge_calls INTEGER NOT NULL, judge_tokens INTEGER NOT NULL,
       PRIMARY KEY (project, day)
     ) STRICT`,
    `CREATE TABLE IF NOT EXISTS audit (
       n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, project TEXT NOT NULL, key_id TEXT NOT NULL,
       key_label TEXT NOT NULL, method TEXT NOT NULL, route TEXT NOT NULL, path TEXT, status INTEGER NOT NULL,
       reason TEXT
     ) STRICT`,
    `CREATE INDEX IF NOT EXISTS audit_project ON audit (project, n)`,
    `CREATE INDEX IF NOT EXISTS audit_at ON audit (at)`,
  ],
  [
    'ALTER TABLE budget_use ADD COLUMN reserved_calls INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE budget_use ADD COLUMN reserved_tokens INTEGER NOT NULL DEFAULT 0',
  ],
  ['ALTER TABLE run_list ADD COLUMN title TEXT'],
];

/**
 * Databases whose tables exist, as far as this isolate knows. Not a promise: requests cannot wait for I/O of one
 * another.
 */
const ready = new WeakSet<D1Database>();

/** Returns the database once its tables exist. @throws whatever D1 throws; the next caller tries again. */
export async function database(db: D1Database): Promise<D1Database> {
  if (!ready.has(db)) {
    await makeTables(db);
    ready.add(db);
  }
  return db;
}

async function makeTables(db: D1Database): Promise<void> {
  await db.prepare('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY) STRICT').run();
  let version = await versionOf(db);
  for (let next = VERSIONS[version]; next !== undefined; next = VERSIONS[version]) {
    try {
      // One transaction per version. Its row comes first and must be new: of two isolates that start at once, the
      // slower one fails there and drops nothing that the other has made.
      await db.batch([
        db.prepare('INSERT INTO schema_version (version) VALUES (?)').bind(version + 1),
        ...next.map((statement) => db.prepare(statement)),
      ]);
    } catch (error) {
      if ((await versionOf(db)) <= version) throw error;
    }
    version = await versionOf(db);
  }
}

async function versionOf(db: D1Database): Promise<number> {
  const found = await db.prepare('SELECT MAX(version) AS version FROM schema_version').first('version');
  return typeof found === 'number' ? found : 0;
}
