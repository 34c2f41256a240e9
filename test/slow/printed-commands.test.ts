/**
 * Runs every command that the project prints: those of the pages, of the help texts and of the hints. The Worker is
 * the one of `npm run dev`, in a copy of the repository. A page's commands run in the order of the page, in a folder of
 * their own.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newIssuerKey, STATE } from '../../scripts/demo-run/state.ts';
import { freePort } from '../../scripts/local-worker.ts';
import { questionDigest } from '../../src/rubrics/rubric-set.ts';
import { type CopiedSources, copySources } from '../house/copied-sources.ts';
import {
  guidePages,
  type PrintedCommand,
  pageCommands,
  sourceCommands,
  usageCommands,
} from '../house/printed-commands.ts';
import { FAKE_KEY, FAKE_MODEL, type FakeBackend, startFakeBackend } from '../llm/fake-backend.ts';
import {
  type Background,
  runCommands,
  type Shell,
  startInBackground,
  terminalEnvironment,
  workingFolder,
} from './shell.ts';

vi.setConfig({ maxConcurrency: 2 });

const root = resolve(import.meta.dirname, '../..');
const START_MS = 120_000;
const PAGE_MS = 480_000;
/** The three demo runs take about a minute on two quiet cores. */
const DEMO_MS = 600_000;
/** The last line of `npm run demo:rubrics`. */
const RUBRICS_PAGE = /(?<url>http:\/\/\S+?)\/#\/runs\/demo-rubrics\//u;

type Exception = {
  /** The page, or the source that prints the command. */
  readonly file: RegExp;
  readonly command: RegExp;
  /** Why the command is not run here. */
  readonly reason: string;
};

/** Commands that are not run. An entry that matches no command fails. */
const NOT_RUN: readonly Exception[] = [
  {
    file: /./u,
    command: /^(?:npx vitest|npm (?:test|run (?:test:slow|test:llm|test:vendors|test:real|fuzz|bench\S*)))\b/u,
    reason: 'a suite, or a benchmark',
  },
  { file: /./u, command: /^npm run format\b/u, reason: 'rewrites the sources' },
  { file: /./u, command: /^npm run demo(?![:\w])/u, reason: 'test/slow/newcomer.test.ts runs it' },
  { file: /./u, command: /^npm run pictures\b/u, reason: 'test/slow/pictures.test.ts runs it' },
  { file: /./u, command: /^npm run dev(?! --)/u, reason: 'starts the Worker that the other commands use' },
  { file: /./u, command: /^npm run demo:run\b/u, reason: 'runs before the others, which read what it leaves' },
  { file: /./u, command: /^npm run demo:rubrics(?! -- --once$)/u, reason: 'test/slow/demo-rubrics.test.ts runs it' },
  { file: /./u, command: /rubrics edit RUN/u, reason: 'a criterion is retired once; docs/guides/rubrics.md edits one' },
  { file: /./u, command: /citeward serve\b/u, reason: 'stays; test/e2e/serve.test.ts starts it' },
  { file: /./u, command: /citeward view\b/u, reason: 'stays; test/slow/cli-view.test.ts starts it' },
  { file: /deploy/u, command: /npx wrangler /u, reason: 'needs an account' },
  { file: /./u, command: /npm run deploy\b(?!.*--dry-run)/u, reason: 'needs an account' },
  { file: /CONTRIBUTING/u, command: /^npm run smoke\b/u, reason: 'the page names scripts without their arguments' },
  { file: /judge-check/u, command: /OTHER_MODEL/u, reason: 'needs a second model' },
  { file: /serve/u, command: /^until grep /u, reason: 'waits for a server that stays' },
  { file: /alerts/u, command: /runs watch .*--every/u, reason: 'ends when an alert is active' },
  { file: /./u, command: /runs watch .*--live/u, reason: 'follows a run until Ctrl-C' },
  { file: /./u, command: /runs sync (?!.*--once)/u, reason: 'follows a run until Ctrl-C' },
  {
    file: /./u,
    command: /^npm run redteam\b/u,
    reason: 'trains for minutes; test/slow/red-team.test.ts trains with it',
  },
  { file: /^(?!docs\/guides\/agent)/u, command: /citeward agent\b/u, reason: 'needs a policy and a sandbox' },
];

/** Commands that must be refused, beside those whose page shows their error. */
const REFUSED: readonly (Exception & { readonly says: string })[] = [
  {
    file: /./u,
    command: /citeward recipe probe\b/u,
    reason: 'a cheap answer to the examples earns too much',
    says: 'of the best known answer',
  },
  { file: /./u, command: /citeward rubrics lint\b/u, reason: 'the examples have a finding', says: 'two_things' },
  { file: /troubleshooting/u, command: /"response": 1/u, reason: 'it shows a reason', says: 'input_invalid' },
  { file: /batch/u, command: /batch cancel BATCH/u, reason: 'the batch has ended', says: 'so it cannot be cancelled' },
  { file: /capacity/u, command: /--slots 512/u, reason: 'it is not sustained', says: 'the limit is the judge' },
  { file: /./u, command: /keys revoke KEY_ID --url/u, reason: 'no key has this id', says: 'key_not_found' },
  { file: /operations/u, command: /# 404 run_not_found/u, reason: 'the run is erased', says: 'run_not_found' },
  { file: /demo-run/u, command: /runs watch/u, reason: 'an alert is active', says: '! reference_gap' },
  { file: /cli|help runs/u, command: /runs audit RUN/u, reason: 'the run has no text', says: 'text_not_kept' },
  {
    file: /help rubrics/u,
    command: /rubrics make .*--url URL/u,
    reason: 'the built-in judge writes no criteria',
    says: 'judge_request_refused',
  },
  { file: /rubrics/u, command: /URL\/v1\/rubrics -H/u, reason: 'needs a model', says: 'judge_unknown' },
  { file: /runs/u, command: /export RUN --wandb NAME --url/u, reason: 'needs wandb', says: 'has no module wandb' },
  {
    file: /runs/u,
    command: /citeward\.langfuse/u,
    reason: 'needs the Python client',
    says: "No module named 'citeward'",
  },
];

const isOf = ({ file, command }: Exception, printed: PrintedCommand): boolean =>
  file.test(printed.file) && command.test(printed.text);

const pages = guidePages()
  .map((page) => ({ page, commands: pageCommands(page, readFileSync(resolve(root, page), 'utf8')) }))
  .filter(({ commands }) => commands.length > 0);
/** Commands of programs, each once. */
const ofPrograms = [
  ...new Map([...sourceCommands(), ...(await usageCommands())].map((printed) => [printed.text, printed])).values(),
];

const RUN = 'recorded';
const QUESTION = 'How long is the Aare?';
const EXAMPLES = 'examples/rollouts.jsonl';
const EXAMPLE_STEP = 'examples/step.jsonl';
const EXAMPLE_COMPARISONS = 'examples/comparisons.jsonl';

let copy: CopiedSources;
let folders: string;
let env: NodeJS.ProcessEnv;
let url: string;
let worker: Background;
/** The demo of evolving rubrics, whose run is in a Worker of its own. */
let rubricsDemo: Background;
let rubricsUrl: string;
let model: FakeBackend;
let batch: string;
let runFile: string;
/** Files of the names that help texts use. */
let files: readonly string[];

beforeAll(async () => {
  copy = copySources({ files: {}, edits: {} });
  cpSync(join(root, 'dist'), join(copy.path, 'dist'), { recursive: true });
  folders = join(copy.path, '..', `${copy.path.split('/').at(-1)}-folders`);
  env = terminalEnvironment({
    npm_config_cache: join(folders, 'npm-cache'),
    npm_config_update_notifier: 'false',
    VLLM_API_KEY: FAKE_KEY,
  });
  model = await startFakeBackend();
  const shell = { directory: workingFolder(copy.path, folders), env };
  // The runs of the demo are in the Worker of the other commands, as they start it on the demo's state.
  const demo = await startInBackground('npm run demo:run', /\/#\/runs\/demo-no-citation-weight/u, shell, DEMO_MS);
  await demo.stop();
  const [again] = await runCommands(['npm run demo:run -- --once'], shell, START_MS);
  expect(again).toMatchObject({ status: 0, output: expect.stringContaining('nothing to score') });
  rubricsDemo = await startInBackground('npm run demo:rubrics', RUBRICS_PAGE, shell, START_MS);
  rubricsUrl = RUBRICS_PAGE.exec(rubricsDemo.output())?.groups?.['url'] ?? '';
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const settings = `--state ${join(copy.path, STATE, 'worker')} --var ISSUER_KEY=${await newIssuerKey()}`;
  const command = `npm run dev -- --port ${port} ${settings}`;
  worker = await startInBackground(command, /dashboard is at http/u, shell, START_MS);
  const prepared = await runCommands(
    [
      `npx citeward score ${EXAMPLES} --url ${url} --run ${RUN} --step 0`,
      `curl -sf ${url}/v1/runs/${RUN}/rubrics -H 'content-type: application/json' -d '{"question": "${QUESTION}", "criteria": []}'`,
      `npx citeward batch submit ${EXAMPLES} --url ${url} 2>&1 >batch.txt; npx citeward batch wait $(cat batch.txt) --url ${url}`,
      `npx citeward runs export ${RUN} --url ${url} > RUN.jsonl`,
      'npx citeward judge check --quick --json > REPORT.json',
      `npx citeward score ${EXAMPLES} --url ${url} --json --receipt > REPLY.json`,
      `jq -r '.judgments[].key | values' REPLY.json | sort -u > KEYS.txt`,
      `npx citeward judgments export KEYS.txt --url ${url} > JUDGMENTS.jsonl`,
      `curl -s ${url}/v1/keys > KEYS.json; cp ${EXAMPLES} REQUEST.json`,
      'echo ALLOW_LEXICAL_JUDGE=true > serve.vars',
    ],
    shell,
    START_MS,
  );
  expect(prepared.filter(({ status }) => status !== 0)).toEqual([]);
  runFile = join(shell.directory, 'RUN.jsonl');
  batch = readFileSync(join(shell.directory, 'batch.txt'), 'utf8').trim();
  files = 'RUN.jsonl REPORT.json REPLY.json KEYS.txt JUDGMENTS.jsonl KEYS.json REQUEST.json serve.vars'
    .split(' ')
    .map((name) => join(shell.directory, name));
}, DEMO_MS + PAGE_MS);

afterAll(async () => {
  await worker?.stop();
  await rubricsDemo?.stop();
  await model?.stop();
  copy?.remove();
  spawnSync('rm', ['-rf', folders]);
});

/** The command with this test's values for the addresses and placeholders of the documentation. */
function filledIn(text: string, url: string): string {
  const values: readonly (readonly [RegExp, string])[] = [
    [/http:\/\/(?:127\.0\.0\.1|localhost):8799/gu, url],
    [/https:\/\/citeward\.example\.com/gu, url],
    [/http:\/\/127\.0\.0\.1:8000/gu, model.url],
    [/https:\/\/gpu\.example\.com/gu, model.url],
    [/(?<![$\w{])MODEL_URL\b/gu, `${model.url}/v1`],
    [/(?<![$\w{])URL\b(?![=(])/gu, url],
    [/(?<![$\w{])MODEL\b(?!=)/gu, FAKE_MODEL],
    [/(?<![$\w{])BATCH\b(?!=)/gu, batch],
    [/(?<![$\w{])RUN\b(?![=.])/gu, RUN],
    [/(?<![$\w{])PROMPT\b(?!=)/gu, questionDigest(QUESTION)],
    [/(?<![$\w{])KEY\b(?!=)/gu, FAKE_KEY],
    [/(?<![$\w{])NAME\b(?!=)/gu, 'mine'],
    [/(?<![$\w{])JUDGE\b(?!=)/gu, 'lexical'],
    [/(?<![$\w{])PROJECT\b(?!=)/gu, 'mine'],
    [/(?<= compare )FILE\.jsonl\b/gu, EXAMPLE_COMPARISONS],
    [/(?<= advantages )FILE\.jsonl\b/gu, EXAMPLE_STEP],
    [/(?<![$\w{])PRESET\b/gu, 'trl-gdpo'],
    [/(?<= completion )SHELL\b/gu, 'bash'],
    [/(?<![$\w{])GRADER\.json\b/gu, 'examples/graders/grader.json'],
    [/(?<![$\w{])SAMPLES\.jsonl\b/gu, 'examples/graders/samples.jsonl'],
    [/(?<![$\w{])DATASET\.jsonl\b/gu, 'examples/training-rows.jsonl'],
    // Several files; one is given.
    [/\[?(?<![$\w{])FILE\.jsonl…\]?/gu, EXAMPLES],
    [/(?<![$\w{])FILE\.jsonl\b/gu, EXAMPLES],
    [/(?<= --file )RUN\.jsonl\b/gu, runFile],
    [/(?<= --settings )FILE\b/gu, 'serve.vars'],
    // A part in brackets is optional; it is given.
    [/\[(?<option>--[^\]]+)\]/gu, '$<option>'],
    [/FIELD=VALUE\b/gu, 'citation_weight=0.5'],
    [/FIELD=FROM:TO:BY\b/gu, 'citation_weight=0:1:0.5'],
  ];
  return values.reduce((filled, [placeholder, value]) => filled.replaceAll(placeholder, value), text);
}

/** A reply of the Worker that refuses the request: curl succeeds nevertheless. */
const PROBLEM = /"type": ?"urn:citeward:problem:/u;

const OWN_WORKER = /^npm run dev -- /u;

/** Deletes the run that other commands use, or asks for it afterwards. */
const DELETES_RUN = /(?<= runs delete |-X DELETE \S*\/v1\/runs\/)RUN\b/u;
const AFTER_DELETION = /(?<=\/v1\/runs\/)RUN\b(?=.*# 404 run_not_found)/u;

/** Deletes a copy of the run instead, one for each page. */
function onCopy({ file, text }: PrintedCommand, address: string): string | null {
  const copied = `doomed-${file.replaceAll(/\W+/gu, '-')}`;
  const make = `npx citeward runs import ${copied} ${runFile} --url ${address}`;
  if (DELETES_RUN.test(text)) return `${make} && ${filledIn(text.replace(DELETES_RUN, copied), address)}`;
  return AFTER_DELETION.test(text) ? filledIn(text.replace(AFTER_DELETION, copied), address) : null;
}

/** What a command that must fail says; `null` for the others. */
function refusalOf(printed: PrintedCommand): string | null {
  const shown = printed.shown.find((line) => line.startsWith('citeward: '));
  return shown ?? REFUSED.find((exception) => isOf(exception, printed))?.says ?? null;
}

/** Runs the commands and returns a report of each that did not end as it should. */
async function failuresOf(commands: readonly PrintedCommand[], shell: Shell): Promise<readonly string[]> {
  const run = commands.filter((printed) => !NOT_RUN.some((exception) => isOf(exception, printed)));
  // A page that starts a Worker with settings of its own goes on with that one.
  const own = run.some(({ text }) => OWN_WORKER.test(text)) ? await freePort() : null;
  const address = own === null ? url : `http://127.0.0.1:${own}`;
  const texts = run.map((printed) => {
    const { text } = printed;
    const copying = onCopy(printed, address);
    if (copying !== null) return copying;
    const filled = filledIn(text, /\bdemo-rubrics\b/u.test(text) ? rubricsUrl : address);
    if (own === null || !OWN_WORKER.test(text)) return filled;
    const more = `--port ${own} --state ${join(shell.directory, 'state')}`;
    return `${filled} ${more} > worker.log &\ncurl -sf --retry 60 --retry-all-errors --retry-delay 1 ${address}/healthz`;
  });
  const ran = await runCommands(texts, shell, PAGE_MS);
  return run.flatMap((printed, number) => {
    const { status = null, output = '' } = ran[number] ?? {};
    const refusal = refusalOf(printed);
    const failed = status !== 0 || PROBLEM.test(output);
    const isRight = refusal === null ? !failed : failed && output.includes(filledIn(refusal, address));
    if (isRight) return [];
    const expected = refusal === null ? '' : `, expected to be refused with: ${refusal}`;
    return [
      `${printed.file}:${printed.line}: ${printed.text}\nexit status ${status}${expected}\n${output.slice(-2_000)}`,
    ];
  });
}

describe.concurrent('the commands of', () => {
  it.each(pages)('$page', { timeout: PAGE_MS }, async ({ commands }) => {
    const failures = await failuresOf(commands, { directory: workingFolder(copy.path, folders), env });
    expect(failures.join('\n\n')).toBe('');
  });
});

/** The file that a command gets as standard input. */
function standardInput(command: string): string {
  if (command.includes('receipt')) return 'REPLY.json';
  return command.includes(' compare ') ? EXAMPLE_COMPARISONS : EXAMPLES;
}

describe.concurrent('the program prints', () => {
  it.each(ofPrograms)('$text', { timeout: PAGE_MS }, async (printed) => {
    const directory = workingFolder(copy.path, folders, ...files);
    const stdin = join(directory, standardInput(printed.text));
    expect((await failuresOf([printed], { directory, env, stdin })).join('\n\n')).toBe('');
  });
});

it('has no exception without a command', () => {
  const all = [...pages.flatMap(({ commands }) => commands), ...ofPrograms];
  const unused = [...NOT_RUN, ...REFUSED].filter((exception) => !all.some((printed) => isOf(exception, printed)));
  expect(unused).toEqual([]);
});

it('collects the commands of pages and programs', () => {
  expect(pages.length).toBeGreaterThan(15);
  expect(ofPrograms.length).toBeGreaterThan(50);
});
