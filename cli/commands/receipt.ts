/** `citeward receipt verify`: whether a reward is what its deployment signed, for what was asked. */
import { createKnownIssuers } from '../../src/judgments/issuer.ts';
import { sha256Schema } from '../../src/judgments/judgment-schema.ts';
import type { Flags } from '../arguments/flags.ts';
import { type Command, type CommandGroup, EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../command.ts';
import { Screen } from '../output/screen.ts';
import type { Colour } from '../output/style.ts';
import { plainLine } from '../output/text-width.ts';
import { readDocuments, receiptedIn } from '../receipt/documents.ts';
import { type Finding, findingsOf, type Means } from '../receipt/findings.ts';
import { type KnownKeys, keysOfFile, keysOfWorker } from '../receipt/known-keys.ts';
import { createRequests } from '../receipt/requests.ts';

const verifyCommand: Command = {
  name: 'receipt verify',
  summary: 'Whether receipts are what their deployment signed, and of this reply and this request.',
  usage: ['receipt verify REPLY.json --keys KEYS.json [flags]', 'receipt verify - --url URL [flags]'],
  flags: [
    {
      name: 'keys',
      kind: 'text',
      value: 'FILE',
      help: 'Public keys: a saved reply of GET /v1/keys, or a list of JWKs.',
    },
    { name: 'url', kind: 'text', value: 'URL', help: 'Ask the Worker at URL for its keys instead.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
    { name: 'key-id', kind: 'list', value: 'ID', help: 'The key that must have signed (may be repeated).' },
    { name: 'request', kind: 'text', value: 'FILE', help: 'What was scored: compare its digest and its recipe too.' },
  ],
  details: [
    'REPLY holds a reply of POST /v1/score or /v1/groups, a receipt alone, lines of a batch output',
    'file, or what citeward score --json printed. REQUEST holds the body that was sent, the input',
    'file of the batch, or the rows.',
    '--url trusts whoever answers there now. To trust a key that you know, pin it with --key-id.',
    'Exit code: 0 every receipt holds; 1 one does not, or there is none; 2 wrong command line.',
  ],
  run,
};

export const receiptCommands: CommandGroup = {
  name: 'receipt',
  summary: 'Check the signed receipts of scores.',
  commands: [verifyCommand],
  details: ['Try: citeward receipt verify reply.json --keys keys.json --request request.json'],
};

async function run(flags: Flags): Promise<number> {
  const [path, ...more] = flags.positionals;
  if (path === undefined || more.length > 0) {
    throw new UsageError('expected one file: citeward receipt verify REPLY.json --keys KEYS.json');
  }
  const requestPath = flags.text('request');
  if (path === '-' && requestPath === '-') throw new UsageError('--request: standard input holds the reply already');
  const pinned = pinnedKeys(flags);
  const screen = new Screen(flags.isOn('no-color'));
  const documents = await readDocuments(path);
  const requests = requestPath === null ? null : createRequests(await readDocuments(requestPath));
  const { keys, keysFrom } = await keysOf(flags);
  const means: Means = { known: createKnownIssuers(keys.keys), keys, keysFrom, pinned, requests };

  const counts = { held: 0, failed: 0, unread: 0 };
  for (const [position, document] of documents.entries()) {
    const all = receiptedIn(document, position);
    if (all === null) {
      counts.unread++;
      const place = document.line === null ? path : `line ${document.line}`;
      screen.message(`${place}: neither a receipt nor a reply that could have one`, 'red');
      continue;
    }
    for (const receipted of all) {
      const findings = await findingsOf(receipted, means);
      if (findings.some(({ verdict }) => verdict === 'fails')) counts.failed++;
      else counts.held++;
      if (receipted.place !== null) await screen.result(screen.resultStyle('bold', plainLine(receipted.place)));
      for (const finding of findings) await screen.result(findingLine(finding, screen));
    }
  }
  screen.message(summary(counts), 'bold');
  return counts.held > 0 && counts.failed + counts.unread === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

function pinnedKeys(flags: Flags): readonly string[] {
  return flags.list('key-id').map((id) => {
    const read = sha256Schema.safeParse(id);
    if (read.success) return read.data;
    throw new UsageError(`--key-id: expected a key id, 64 hexadecimal digits, got "${id}"`);
  });
}

async function keysOf(flags: Flags): Promise<{ readonly keys: KnownKeys; readonly keysFrom: string }> {
  const [file, url] = [flags.text('keys'), flags.text('url')];
  if ((file === null) === (url === null)) {
    throw new UsageError('whose keys? Give --keys FILE or --url URL', 'A deployment lists them at GET /v1/keys.');
  }
  if (file !== null) return { keys: await keysOfFile(file), keysFrom: file };
  return { keys: await keysOfWorker(url ?? '', flags.text('key')), keysFrom: url ?? '' };
}

const COLOURS: Readonly<Record<Finding['verdict'], Colour | null>> = { holds: 'green', fails: 'red', open: null };
const WHAT_WIDTH = 9;

function findingLine({ what, verdict, said }: Finding, screen: Screen): string {
  return `  ${what.padEnd(WHAT_WIDTH)}  ${screen.resultStyle(COLOURS[verdict], plainLine(said))}`;
}

function summary({ held, failed, unread }: { held: number; failed: number; unread: number }): string {
  const parts = [`${held} ${held === 1 ? 'receipt holds' : 'receipts hold'}`];
  if (failed > 0) parts.push(`${failed} ${failed === 1 ? 'does' : 'do'} not`);
  if (unread > 0) parts.push(`${unread} not read`);
  return parts.join(' · ');
}
