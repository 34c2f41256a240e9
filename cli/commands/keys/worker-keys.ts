/** API keys that a Worker stores: makes, lists and revokes them, and lists the uses of admin routes. */
import type { Client } from '../../../clients/typescript/client.ts';
import type { Scope } from '../../../src/wire/api-keys.ts';
import type { AuditedUse, StoredKeyReply } from '../../../src/wire/stored-keys.ts';
import { EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { limitOf, printList } from '../../shared/paging.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Screen } from '../../shared/screen.ts';
import { writeLine } from '../../shared/shell.ts';
import type { Column } from '../../shared/table.ts';
import { connect } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';

/** Connects to the Worker of `--url`. @throws UsageError */
async function connectForKeys(flags: Flags, screen: Screen): Promise<Client['apiKeys']> {
  const missing = new UsageError('keys needs a Worker: --url URL', 'Its keys are stored there.');
  return (await connect(flags, (text) => screen.message(text, 'dim'), missing)).apiKeys;
}

/** Makes a key in the Worker of `--url` and prints it. */
export async function addToWorker(flags: Flags, label: string, scopes: readonly Scope[]): Promise<number> {
  const expires_in_s = secondsOf(flags.text('expires'));
  const project = flags.text('project');
  const tier = flags.choice('tier', ['standard', 'high']);
  const screen = new Screen(flags);
  const keys = await connectForKeys(flags, screen);
  const reply = await keys.add({
    label,
    scopes: [...scopes],
    ...(project === null ? {} : { project }),
    ...(expires_in_s === null ? {} : { expires_in_s }),
    ...(tier === null ? {} : { tier }),
  });
  if (!reply.ok) throw runErrorOf(reply.failure);
  const { id, key, expires_at, ...made } = reply.body;
  const until = expires_at === null ? 'never expires' : `expires ${expires_at}`;
  const { stdout, stderr } = flags.shell;
  writeLine(stderr, `Key "${label}" of the project ${made.project} (${scopes.join(', ')}; ${until}), shown only once:`);
  writeLine(stdout, key);
  writeLine(stderr, `\nIts id, to revoke it: ${id}`);
  return EXIT_OK;
}

const LIFETIME = /^([1-9]\d{0,3})([hdwy])$/;
const UNIT_S = { h: 3_600, d: 86_400, w: 7 * 86_400, y: 365 * 86_400 } as const;

/** The seconds of a lifetime such as `90d`; `null` = never expires. @throws UsageError */
function secondsOf(text: string | null): number | null {
  if (text === null) return null;
  const [, count, unit] = LIFETIME.exec(text) ?? [];
  if (count !== undefined && (unit === 'h' || unit === 'd' || unit === 'w' || unit === 'y')) {
    return Number(count) * UNIT_S[unit];
  }
  throw new UsageError(`--expires: expected a number and h, d, w or y, got "${text}"`, 'Example: --expires 90d');
}

const KEY_COLUMNS: readonly Column[] = [
  { title: 'key', align: 'left', most: 28 },
  { title: 'project', align: 'left', most: 32 },
  { title: 'label', align: 'left', most: 24 },
  { title: 'scopes', align: 'left', most: 36 },
  { title: 'expires', align: 'left', most: 16 },
  { title: 'last used', align: 'left', most: 16 },
  { title: 'revoked', align: 'left', most: 16 },
];

function keyTexts({ id, project, label, scopes, expires_at, last_used_at, revoked_at }: StoredKeyReply): string[] {
  return [id, project, label, scopes.join(','), minuteOf(expires_at), minuteOf(last_used_at), minuteOf(revoked_at)];
}

export async function listKeys(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) throw new UsageError('keys list takes no key');
  const limit = limitOf(flags);
  const screen = new Screen(flags);
  const keys = await connectForKeys(flags, screen);
  await printList(screen, {
    limit,
    async fetchPage(count, after) {
      const page = await keys.list({ ...projectIn(flags), limit: count, ...(after === null ? {} : { after }) });
      if (!page.ok) throw runErrorOf(page.failure);
      return { entries: page.body.keys, next: page.body.next };
    },
    columns: KEY_COLUMNS,
    rowOf: (key) => ({ cells: keyTexts(key).map((text) => ({ text })) }),
    json: flags.isOn('json'),
    empty: 'no keys',
  });
  return EXIT_OK;
}

export async function revokeKey(flags: Flags): Promise<number> {
  const [id, ...more] = flags.positionals;
  if (id === undefined || more.length > 0)
    throw new UsageError(`expected one id: ${CITEWARD} keys revoke KEY_ID --url URL`);
  const screen = new Screen(flags);
  const reply = await (await connectForKeys(flags, screen)).revoke(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  screen.message(`${id} revoked; it stops working everywhere within a minute`, 'bold');
  return EXIT_OK;
}

const USE_COLUMNS: readonly Column[] = [
  { title: 'time', align: 'left', most: 20 },
  { title: 'project', align: 'left', most: 32 },
  { title: 'label', align: 'left', most: 24 },
  { title: 'key', align: 'left', most: 40 },
  { title: 'request', align: 'left', most: 60 },
  { title: 'status', align: 'right', most: 6 },
  { title: 'reason', align: 'left', most: 24 },
];

function useTexts({ at, project, key_label, key_id, method, route, path, status, reason }: AuditedUse): string[] {
  const time = at.slice(0, 19).replace('T', ' ');
  return [time, project, key_label, key_id, `${method} ${path ?? route}`, String(status), reason ?? ''];
}

export async function listUses(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) throw new UsageError('keys audit takes no key');
  const limit = limitOf(flags);
  const screen = new Screen(flags);
  const keys = await connectForKeys(flags, screen);
  await printList(screen, {
    limit,
    async fetchPage(count, after) {
      const before = after === null ? {} : { before: Number(after) };
      const page = await keys.audit({ ...projectIn(flags), limit: count, ...before });
      if (!page.ok) throw runErrorOf(page.failure);
      return { entries: page.body.uses, next: page.body.next === null ? null : String(page.body.next) };
    },
    columns: USE_COLUMNS,
    rowOf: (use) => ({ cells: useTexts(use).map((text) => ({ text })) }),
    json: flags.isOn('json'),
    empty: 'no uses',
  });
  return EXIT_OK;
}

function projectIn(flags: Flags): { readonly project?: string } {
  const project = flags.text('project');
  return project === null ? {} : { project };
}

function minuteOf(time: string | null): string {
  return time === null ? '' : time.slice(0, 16).replace('T', ' ');
}
