/**
 * `citeward doctor`: a line for each thing that Citeward needs, whether it is there, and what to do if it is not. It
 * checks this machine, then the judges of a configuration, or a Worker and its judges.
 */
import { createClient, type Full, type ScoreInput } from '../../../clients/typescript/client.ts';
import { receivedProblemSchema } from '../../../clients/typescript/reply.ts';
import { reasonOf } from '../../../clients/typescript/transport.ts';
import { createLocalClient, type RowClient } from '../../../hosts/memory/local-client.ts';
import { requireFreeAddress } from '../../../serve/address.ts';
import { ServeError } from '../../../serve/serve-error.ts';
import { workerdPath } from '../../../serve/workerd-path.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import { type Readiness, readinessSchema } from '../../../src/wire/health.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { durationText } from '../../shared/number-text.ts';
import { CITEWARD } from '../../shared/program.ts';
import { LOCAL_FLAGS, openLocalHost } from '../../shared/row-host.ts';
import { Screen } from '../../shared/screen.ts';
import { keyOfWorker, readUrl } from '../../shared/worker.ts';
import { refusal, runErrorOf } from '../../shared/worker-failures.ts';
import { DEFAULT_HOST, DEFAULT_PORT, readSettings, SETTINGS_FLAGS, withAccess } from '../serve/options.ts';
import { withOwnWorker } from '../serve/own-worker.ts';

const syntax: CommandSyntax = {
  json: 'a check: `what`, `ok`, `detail`, `hint`',
  usage: ['doctor [flags]', 'doctor --settings FILE', 'doctor --url URL'],
  flags: [
    { name: 'url', kind: 'text', value: 'URL', help: 'Check this Worker too, and its judges.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; safer in the environment, as CITEWARD_KEY.' },
    // What a check stored would hide a judge that has failed since.
    ...LOCAL_FLAGS.filter(({ name }) => name !== 'state'),
    ...SETTINGS_FLAGS,
    { name: 'json', kind: 'switch', help: 'Print one JSON object a line: what, ok, detail, hint.' },
  ],
  details: [
    'Checks Node, workerd and the port of serve; then that each judge of --backends or --judge-url answers a question,',
    'or with --url that the Worker is ready, its clock is right and each of its judges answers. A judge that answers',
    'costs one call. With --settings or --var a Worker starts with these settings, is checked, and ends.',
    'Exit code: 0 all is well, 1 something is not, 2 wrong command line.',
  ],
};

export const doctorCommand: Command = { ...syntax, run };

/** One line: what was checked, and what was found. */
type Check = {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; `null` = nothing. */
  readonly hint: string | null;
};

async function run(flags: Flags): Promise<number> {
  const [extra] = flags.positionals;
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`, `See: ${CITEWARD} help doctor`);
  const screen = new Screen(flags);
  const isJson = flags.isOn('json');
  const url = flags.text('url');
  let faults = 0;
  for await (const check of checks(flags, url === null ? null : readUrl(url), screen)) {
    if (!check.ok) faults++;
    await print(check, isJson, screen);
  }
  if (faults > 0) screen.message(`${faults} of these must be mended`, 'red');
  return faults === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

async function print({ what, ok, detail, hint }: Check, isJson: boolean, screen: Screen): Promise<void> {
  if (isJson) return screen.result(JSON.stringify({ what, ok, detail, hint }));
  const said = plainLine(`${what}: ${detail}`);
  await screen.result(`${screen.resultStyle(ok ? 'green' : 'red', ok ? 'ok  ' : 'FAIL')}  ${said}`);
  if (hint !== null) await screen.result(`      ${plainLine(hint)}`);
}

async function* checks(flags: Flags, url: URL | null, screen: Screen): AsyncGenerator<Check> {
  const settings = await readSettings(flags);
  const hasSettings = flags.text('settings') !== null || Object.keys(settings).length > 0;
  const other = ['url', ...LOCAL_FLAGS.map(({ name }) => name)].find((name) => flags.text(name) !== null);
  if (hasSettings && other !== undefined) throw new UsageError(`--${other} and settings exclude each other`);
  yield { what: 'Node', ok: true, detail: process.version, hint: null };
  yield* onServe();
  if (hasSettings) {
    yield* onSettings(settings, keyOfWorker(flags), screen);
    return;
  }
  if (url !== null) {
    yield* onWorker(url, keyOfWorker(flags));
    return;
  }
  try {
    const { host } = await openLocalHost(flags, null, () => undefined);
    const judges = host.ports.backends.named.map(({ judge }) => judge.name);
    yield* onJudges(createLocalClient(host), judges);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    yield { what: 'judges', ok: false, detail: error.message, hint: error.hint };
  }
}

/** What `citeward serve` and `citeward view` need of this machine. */
async function* onServe(): AsyncGenerator<Check> {
  yield await served('workerd', async () => workerdPath());
  yield await checkAddress(DEFAULT_HOST, DEFAULT_PORT);
}

/** Whether `citeward serve` can listen there. A Worker that already does is what most people want. */
export function checkAddress(host: string, port: number): Promise<Check> {
  return served(`port ${port}`, async () => {
    try {
      await requireFreeAddress(host, port);
      return 'free';
    } catch (error) {
      const url = new URL(`http://${host}:${port}`);
      if (!(await createClient({ url, key: null }).health()).ok) throw error;
      return `a Worker listens: --url ${url.origin}`;
    }
  });
}

async function served(what: string, check: () => Promise<string>): Promise<Check> {
  try {
    return { what, ok: true, detail: await check(), hint: null };
  } catch (error) {
    if (!(error instanceof ServeError)) throw error;
    return { what, ok: false, detail: error.message, hint: error.hint };
  }
}

/** Starts a Worker with these settings, and checks it. */
async function* onSettings(
  settings: Readonly<Record<string, string>>,
  key: string | null,
  screen: Screen,
): AsyncGenerator<Check> {
  const what = 'settings';
  try {
    const found: Check[] = [];
    // The access that `serve` would give.
    const own = withAccess({ host: DEFAULT_HOST, settings });
    await withOwnWorker({ state: null, port: 0, settings: own.settings, screen }, async ({ url }) => {
      for await (const check of onWorker(new URL(url), key)) found.push(check);
    });
    const names = Object.keys(settings).join(', ');
    const detail = names === '' ? 'none are set; a Worker starts' : `${names}: a Worker starts with them`;
    yield { what, ok: true, detail, hint: null };
    yield* found;
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    yield { what, ok: false, detail: error.message, hint: error.hint };
  }
}

/** How far a clock may be off, in seconds; webhook signatures are refused from five minutes on. */
const MAX_CLOCK_S = 60;

async function* onWorker(url: URL, key: string | null): AsyncGenerator<Check> {
  const found = await readinessOf(url, key);
  if (!found.ok) {
    yield { what: url.origin, ok: false, detail: found.why, hint: found.hint };
    return;
  }
  const { status, reason, default_judge, judges, stores } = found.readiness;
  const down = stores.filter(({ reachable }) => !reachable).map(({ name }) => name);
  const isReady = status === 'ready';
  const why = [reason, ...down.map((name) => `${name} is not reachable`)].filter((one) => one !== null).join(', ');
  const hint = reason === null ? null : `docs/reference/troubleshooting.md says what to do about ${reason}.`;
  yield {
    what: url.origin,
    ok: isReady,
    detail: isReady ? `ready, judge ${default_judge}` : why,
    hint: isReady ? null : hint,
  };
  if (found.clock_s !== null) {
    const off = Math.abs(found.clock_s).toFixed(0);
    const isRight = Math.abs(found.clock_s) <= MAX_CLOCK_S;
    yield {
      what: 'clock',
      ok: isRight,
      detail: `differs by ${off} s from that of the Worker`,
      hint: isRight ? null : 'Set the clock of this machine; signatures of webhooks hold for five minutes.',
    };
  }
  const client = createClient({ url, key });
  yield* onJudges(
    client,
    judges.map(({ name }) => name),
  );
}

/** `clock_s`: how far this clock is ahead, in seconds; `null` = the reply has no date. */
type FoundWorker =
  | { readonly ok: true; readonly readiness: Readiness; readonly clock_s: number | null }
  | { readonly ok: false; readonly why: string; readonly hint: string };

const READY_TIMEOUT_MS = 5_000;

const NO_WORKER = 'Is it the address of a Worker? Start one on this machine with: npm run dev';

async function readinessOf(url: URL, key: string | null): Promise<FoundWorker> {
  try {
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(new URL('readyz', url), { headers, signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
    const body: unknown = await response.json();
    const refused = receivedProblemSchema.safeParse(body);
    if (refused.success) {
      const { message, hint } = refusal(response.status, refused.data);
      return { ok: false, why: message, hint: hint ?? NO_WORKER };
    }
    const read = readinessSchema.safeParse(body);
    if (!read.success)
      return { ok: false, why: `GET /readyz answered ${response.status}, and not as a Worker does`, hint: NO_WORKER };
    const date = response.headers.get('date');
    const clock_s = date === null ? null : (Date.now() - Date.parse(date)) / 1000;
    return { ok: true, readiness: read.data, clock_s };
  } catch (error) {
    return { ok: false, why: `no answer: ${reasonOf(error)}`, hint: NO_WORKER };
  }
}

/** Asks each judge a new question: a stored judgment would hide that the judge has failed since. */
async function* onJudges(client: Pick<RowClient, 'score'>, judges: readonly string[]): AsyncGenerator<Check> {
  for (const judge of judges) {
    const began = performance.now();
    const reply = await client.score({ ...question(), judge });
    const time = durationText((performance.now() - began) / 1000);
    const what = `judge ${judge}`;
    if (!reply.ok) {
      const { message, hint } = runErrorOf(reply.failure);
      yield { what, ok: false, detail: message, hint };
      continue;
    }
    const { reward, reason, judgments } = reply.body;
    const failed = judgments.find(({ failure }) => failure !== null)?.failure ?? null;
    yield reward === null
      ? {
          what,
          ok: false,
          detail: failed === null ? String(reason) : `${failed.reason}: ${failed.detail}`,
          hint: `docs/reference/troubleshooting.md says what to do about ${failed?.reason ?? reason}.`,
        }
      : { what, ok: true, detail: `answers in ${time}`, hint: null };
  }
}

function question(): Full<ScoreInput> {
  const number = Math.floor(Math.random() * 1e9);
  const fact = `The bridge ${number} was opened in 1876.`;
  return {
    question: `When was the bridge ${number} opened?`,
    sources: [{ id: 'S1', text: fact }],
    response: `<answer><snippet id=S1>${fact}</snippet></answer>`,
    positive_rubrics: ['States that the bridge was opened in 1876'],
    recipe: 'refiner-gpt54-instance-rubric',
    on_judge_failure: 'null',
  };
}
