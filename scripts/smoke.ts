/**
 * `npm run smoke -- --url URL`: checks a deployed or local Worker from outside, prints one line for each check, and
 * erases what it recorded. The exit code is 0 if every check held, 1 if one did not, 2 for a wrong command line.
 */
import { parseArgs } from 'node:util';
import { styleFor } from '../cli/shared/style.ts';
import { createClient } from '../clients/typescript/client.ts';
import { CHECKS, CheckFailed, erase, type Subject } from './smoke/checks.ts';

const HELP = `npm run smoke -- --url URL [--key KEY] [--wait S] [--batch-limit S]

  --url URL        The Worker, without a path such as /v1.
  --key KEY        An API key with the scopes verify, score, batch, admin and, for the times, metrics; safer as the
                   variable CITEWARD_KEY.
  --wait S         Seconds to wait for the first answer of a new deployment. Default: 0.
  --batch-limit S  Seconds that the batch may take. Default: 120.`;

type Options = {
  readonly url: URL;
  readonly key: string | null;
  readonly wait_ms: number;
  readonly batch_ms: number;
};

/** The command line is wrong. */
class UsageError extends Error {}

function readOptions(): Options | 'help' {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      wait: { type: 'string' },
      'batch-limit': { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'help';
  if (values.url === undefined) throw new UsageError('--url is missing: the address of the Worker');
  const url = URL.parse(values.url);
  if (url === null || !/^https?:$/u.test(url.protocol)) throw new UsageError('--url: expected an http or https URL');
  return {
    url,
    key: values.key ?? process.env['CITEWARD_KEY'] ?? null,
    wait_ms: 1000 * seconds('wait', values.wait, 0),
    batch_ms: 1000 * seconds('batch-limit', values['batch-limit'], 120),
  };
}

function seconds(flag: string, text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  if (!/^\d{1,5}$/u.test(text)) throw new UsageError(`--${flag}: expected a whole number of seconds`);
  return Number(text);
}

const style = styleFor(process.stdout, false);
/** Attempts of one call: a busy judge is no failure of the deployment. */
const ATTEMPTS = 3;
/** Width of the names and of the times, in columns. */
const WIDTHS = { name: 18, time: 9 } as const;

/** Runs every check in order. Returns how many failed. */
async function smoke({ url, key, wait_ms, batch_ms }: Options): Promise<number> {
  const client = createClient({ url, key, transport: { attempts: ATTEMPTS } });
  const mark = crypto.randomUUID().slice(0, 8);
  const subject: Subject = { client, url, key, mark, files: [], batch_ms, scored: null };
  await waitForAnswer(subject, wait_ms);
  let failed = 0;
  let erased = false;
  try {
    for (const { name, run } of CHECKS) {
      const started = performance.now();
      let line: string;
      try {
        line = `${style('green', 'ok')}      ${await run(subject)}`;
      } catch (error) {
        if (!(error instanceof CheckFailed)) throw error;
        failed++;
        line = `${style('red', 'FAILED')}  ${error.message}`;
      }
      const took = `${Math.round(performance.now() - started)} ms`;
      console.log(`${name.padEnd(WIDTHS.name)}${took.padStart(WIDTHS.time)}  ${line}`);
    }
    erased = true;
  } finally {
    if (!erased) await erase(subject);
  }
  return failed;
}

async function waitForAnswer({ client }: Subject, wait_ms: number): Promise<void> {
  const end = performance.now() + wait_ms;
  while (performance.now() < end) {
    if ((await client.health()).ok) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

try {
  const options = readOptions();
  if (options === 'help') console.log(HELP);
  else {
    const failed = await smoke(options);
    if (failed > 0) {
      console.error(`\n${failed} of ${CHECKS.length} checks failed`);
      process.exitCode = 1;
    }
  }
} catch (error) {
  const isUsage =
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  if (!isUsage) throw error;
  console.error(`${error.message}\n\n${HELP}`);
  process.exitCode = 2;
}
