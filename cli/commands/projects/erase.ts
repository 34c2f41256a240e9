/**
 * `citeward projects erase`: erases what a project stores, through the routes that its own keys have, and counts again
 * afterwards what is left. An operator's key makes a key of the project for it and revokes it in the end.
 */
import { setTimeout } from 'node:timers/promises';
import type { Client } from '../../../clients/typescript/client.ts';
import type { Reply } from '../../../clients/typescript/reply.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Screen } from '../../shared/screen.ts';
import { type Column, resultTable } from '../../shared/table.ts';
import { connect, connectAs } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { eraseSyntax } from './options.ts';

export const eraseCommand: Command = { ...eraseSyntax, run: eraseProject };

/** The key that erases ends by itself if the command is interrupted. */
const KEY_LIFETIME_S = 3_600;
/** Requests that delete one run: a Worker deletes a part of it with each. */
const MAX_DELETE_REQUESTS = 1_000;

/** What an erasure leaves, and until when. docs/guides/operations.md says more. */
const REMAINS = [
  'judgments in KV: verdicts and digests, no text (with JUDGMENTS_SCOPE=project the keys that begin with p:PROJECT:)',
  'results of single lines of batches: for an hour after the end of the batch',
  'unfinished uploads, and files that had expired: for an hour',
  "copies of judges' reasons in KV: 30 days after they were written",
  'ids, times and counts of batches; uses of admin routes and revoked keys for 90 days',
  'the restore points of the platform: D1 and Durable Objects for 30 days',
] as const;

/** One kind of thing that a project stores. */
type Store = {
  readonly name: string;
  /** The ids of everything that is there now. */
  readonly list: () => Promise<string[]>;
  readonly erase: (id: string) => Promise<void>;
};

type Tally = { readonly store: string; readonly found: number; readonly erased: number; readonly left: number | null };

async function eraseProject(flags: Flags): Promise<number> {
  const [project, ...more] = flags.positionals;
  if (project === undefined || more.length > 0)
    throw new UsageError(`expected one project: ${CITEWARD} projects erase PROJECT --dry-run --url URL`);
  const isDry = flags.isOn('dry-run');
  if (!isDry && !flags.isOn('yes')) {
    throw new UsageError(
      `projects erase ${project} needs --yes`,
      'It deletes its runs, files and webhook endpoints and revokes its keys, for good. --dry-run only counts.',
    );
  }
  const screen = new Screen(flags);
  const say = (text: string): void => screen.message(text, 'dim');
  const missing = new UsageError('projects needs a Worker: --url URL', 'Its projects are stored there.');
  const operator = await connect(flags, say, missing);
  const made = bodyOf(
    await operator.apiKeys.add({
      label: 'erasure',
      project,
      scopes: ['score', 'batch', 'admin'],
      expires_in_s: KEY_LIFETIME_S,
    }),
  );
  const stores = storesOf(operator, await connectAs(flags, made.key, say), project, made.id);
  const tallies: Tally[] = [];
  try {
    for (const store of stores) tallies.push(await eraseStore(store, isDry, say));
    if (!isDry) {
      const cleared = { judge_calls_per_day: null, judge_tokens_per_day: null };
      bodyOf(await operator.projects.change(project, cleared));
    }
  } finally {
    bodyOf(await operator.apiKeys.revoke(made.id));
  }
  await printReport(screen, flags.isOn('json'), { project, at: new Date().toISOString(), dry_run: isDry, tallies });
  return isDry || tallies.every(({ left }) => left === 0) ? EXIT_OK : EXIT_INCOMPLETE;
}

/** Keys first: nothing is written any more once they are revoked. Batches before files, which they write. */
function storesOf(operator: Client, own: Client, project: string, ownKey: string): readonly Store[] {
  return [
    {
      name: 'keys (revoked)',
      list: async () =>
        (
          await pages(async (after) => {
            const { keys, next } = bodyOf(await operator.apiKeys.list({ project, ...after }));
            return { entries: keys, next };
          })
        ).flatMap(({ id, revoked_at }) => (revoked_at === null && id !== ownKey ? [id] : [])),
      erase: async (id) => void bodyOf(await operator.apiKeys.revoke(id)),
    },
    {
      name: 'webhook endpoints',
      list: async () => bodyOf(await own.webhooks.list()).endpoints.map(({ id }) => id),
      erase: async (id) => void bodyOf(await own.webhooks.delete(id)),
    },
    {
      name: 'running batches (cancelled)',
      list: async () =>
        (
          await pages(async (after) => {
            const { data, has_more, last_id } = bodyOf(await own.batches.list({ limit: 100, ...after }));
            return { entries: data, next: has_more ? last_id : null };
          })
        ).flatMap(({ id, status }) => (OVER.has(status) ? [] : [id])),
      erase: (id) => cancelBatch(own, id),
    },
    {
      name: 'files',
      list: async () =>
        (
          await pages(async (after) => {
            const { data, has_more, last_id } = bodyOf(await own.files.list(after));
            return { entries: data, next: has_more ? last_id : null };
          })
        ).map(({ id }) => id),
      erase: (id) => deleteFile(own, id),
    },
    {
      name: 'runs',
      list: async () =>
        await pages(async (after) => {
          const { runs, next, deleting } = bodyOf(await own.runs.list({ limit: 100, ...after }));
          // A run whose deletion was interrupted is hidden, and its rollouts may still be there.
          const hidden = after.after === undefined ? deleting : [];
          return { entries: [...runs.map(({ id }) => id), ...hidden], next };
        }),
      erase: (id) => deleteRun(own, id),
    },
  ];
}

/** Statuses of a batch that writes nothing any more. */
const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'expired']);

/** How long a cancelled batch is waited for: it writes the results of its finished lines first. */
const CANCEL_POLLS = 60;
const CANCEL_POLL_MS = 1_000;

async function cancelBatch(own: Client, id: string): Promise<void> {
  const reply = await own.batches.cancel(id);
  // It may have ended meanwhile.
  if (!reply.ok && !(reply.failure.kind === 'problem' && reply.failure.problem.reason === 'batch_is_over'))
    throw runErrorOf(reply.failure);
  for (let poll = 0; poll < CANCEL_POLLS; poll++) {
    if (OVER.has(bodyOf(await own.batches.retrieve(id)).status)) return;
    await setTimeout(CANCEL_POLL_MS);
  }
}

async function deleteRun(own: Client, id: string): Promise<void> {
  for (let request = 0; request < MAX_DELETE_REQUESTS; request++) {
    const reply = await own.runs.delete(id);
    if (isGone(reply, 'run_not_found') || bodyOf(reply).complete) return;
  }
}

async function deleteFile(own: Client, id: string): Promise<void> {
  const reply = await own.files.delete(id);
  if (!isGone(reply, 'file_not_found')) bodyOf(reply);
}

/** The Worker also removes what has expired, or what an interrupted deletion left, so it may be faster. */
function isGone(reply: Reply<unknown>, reason: 'run_not_found' | 'file_not_found'): boolean {
  return !reply.ok && reply.failure.kind === 'problem' && reply.failure.problem.reason === reason;
}

/** Erases what a store has, and lists it again: what is still there, or new, is left. */
async function eraseStore({ name, list, erase }: Store, isDry: boolean, say: (text: string) => void): Promise<Tally> {
  const ids = await list();
  if (isDry) return { store: name, found: ids.length, erased: 0, left: null };
  for (const [done, id] of ids.entries()) {
    if (done > 0 && done % PROGRESS_EVERY === 0) say(`${name}: ${done} of ${ids.length}`);
    await erase(id);
  }
  return { store: name, found: ids.length, erased: ids.length, left: (await list()).length };
}

const PROGRESS_EVERY = 100;

type Page<T> = { readonly entries: readonly T[]; readonly next: string | null };

/** All entries of a list. @param fetchPage takes the cursor of a page as its `after`; the first page has none. */
async function pages<T>(fetchPage: (after: { readonly after?: string }) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  let after: { readonly after?: string } = {};
  for (;;) {
    const { entries, next } = await fetchPage(after);
    all.push(...entries);
    if (next === null) return all;
    after = { after: next };
  }
}

type Report = {
  readonly project: string;
  readonly at: string;
  readonly dry_run: boolean;
  readonly tallies: readonly Tally[];
};

const COLUMNS: readonly Column[] = [
  { title: 'what', align: 'left', most: 32 },
  { title: 'found', align: 'right', most: 10 },
  { title: 'erased', align: 'right', most: 10 },
  { title: 'left', align: 'right', most: 10 },
];

async function printReport(screen: Screen, asJson: boolean, { tallies, ...report }: Report): Promise<void> {
  if (asJson) return screen.result(JSON.stringify({ ...report, stores: tallies, remains: REMAINS }));
  const table = resultTable(COLUMNS, screen);
  for (const { store, found, erased, left } of tallies) {
    await table.add({ cells: [store, found, erased, left ?? '-'].map((value) => ({ text: String(value) })) });
  }
  await table.end();
  if (report.dry_run) return;
  screen.message(`remains: ${REMAINS.join('; ')}`, 'dim');
  const [keys] = tallies;
  if (tallies.some(({ left }) => left !== 0)) screen.message('not all is erased: run the command again', 'red');
  else if (keys !== undefined && keys.erased > 0)
    screen.message('revoked keys may write for another minute: run the command again then, to be sure', 'yellow');
  else screen.message(`${report.project} is empty at ${report.at}`, 'bold');
}

/** The body of a reply. @throws RunError for a failure. */
function bodyOf<T>(reply: Reply<T>): T {
  if (!reply.ok) throw runErrorOf(reply.failure);
  return reply.body;
}
