/** The flags of `citeward judge check`. */
import { CHAT_DIALECTS } from '../../../src/judgments/chat-dialects.ts';
import { RUBRIC_TEMPLATES } from '../../../src/judgments/kinds/rubric/rubric-templates.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import {
  classifierFlags,
  DIALECT_FLAG,
  isClassifierUrl,
  KEY_VARIABLE,
  LABELS_FLAG,
  THRESHOLD_FLAG,
} from '../../shared/model-server.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { didYouMean } from '../../shared/suggest.ts';
import { ROW_FORMATS } from './check-rows.ts';
import { DEFAULT_BATCH, JUDGINGS } from './judges.ts';
import { BATCH_RANGE, type JudgeDescription, judgesOfFile } from './judges-file.ts';

export const REPLICATES_RANGE = { min: 0, max: 20 } as const;

export const DEFAULT_REPLICATES = 1;

export const LIMIT_RANGE = { min: 1, max: 999_999_999 } as const;

export const SEED_RANGE = { min: 0, max: 999_999_999 } as const;

/** The range that a deployment accepts too. */
const CONTEXT_RANGE = { min: 2_048, max: 16_777_216 } as const;

const MAX_TEMPERATURE = 2;

export const judgeSyntax: CommandSyntax = {
  json: 'one object: `rows`, `judges`, `differences`, `intervals`, `stopped_early`; `readings`: in words',
  usage: [
    'judge check [flags]                  (the shipped set of minimal pairs)',
    'judge check FILE.jsonl… [flags]',
    'judge check - [flags]                (rows from standard input)',
  ],
  flags: [
    { name: 'judge', kind: 'text', value: 'lexical', help: 'The built-in judge (the default without --judge-url).' },
    {
      name: 'judge-url',
      kind: 'text',
      value: 'MODEL_URL',
      help: 'An OpenAI-compatible server, as in http://127.0.0.1:8000/v1, or the endpoint of a classifier.',
    },
    {
      name: 'judge-model',
      kind: 'list',
      value: 'MODEL',
      help: 'The model that judges, by its name on the server. May be repeated.',
    },
    { name: 'url', kind: 'text', value: 'MODEL_URL', help: 'The old name of --judge-url.' },
    { name: 'model', kind: 'list', value: 'MODEL', help: 'The old name of --judge-model.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'Key of the server; safer in the environment, as VLLM_API_KEY.' },
    {
      name: 'context-tokens',
      kind: 'text',
      value: 'N',
      help: 'Context length, prompt and reply together (default: as the server says).',
    },
    {
      name: 'judging',
      kind: 'list',
      value: JUDGINGS.join('|'),
      help: 'How labelled criteria are judged (default per_criterion). Several may be given.',
    },
    {
      name: 'batch',
      kind: 'text',
      value: 'N',
      help: `Criteria in one call of the judging batched (default ${DEFAULT_BATCH}); also asks about rollouts in batches.`,
    },
    {
      name: 'template',
      kind: 'list',
      value: 'NAME',
      help: `The words of the question about criteria: ${RUBRIC_TEMPLATES.join(', ')}. Several may be given.`,
    },
    DIALECT_FLAG,
    LABELS_FLAG,
    THRESHOLD_FLAG,
    {
      name: 'temperature',
      kind: 'text',
      value: 'T',
      help: 'Temperature of the model, 0 to 2 (default 0, or as the recipe of a rollout says).',
    },
    {
      name: 'compare',
      kind: 'text',
      value: 'FILE',
      help: 'JSON file with a list of judges, instead of the flags above.',
    },
    {
      name: 'replicates',
      kind: 'text',
      value: 'N',
      help: `How many times each row is judged again (default ${DEFAULT_REPLICATES}).`,
    },
    {
      name: 'shots',
      kind: 'text',
      value: 'N',
      help: 'Also ask with N labelled criteria as examples in the template; their questions are left out.',
    },
    {
      name: 'logprobs',
      kind: 'switch',
      help: 'Ask language models for log-probabilities, and say how good they are on the labels.',
    },
    { name: 'quick', kind: 'switch', help: 'Judge labelled rows once: no effects of order, padding or halo.' },
    { name: 'format', kind: 'text', value: ROW_FORMATS.join('|'), help: 'What the rows are (default auto).' },
    MAP_FLAG,
    { name: 'seed', kind: 'text', value: 'N', help: 'Seed of the intervals, examples and random orders (default 0).' },
    {
      name: 'min-balanced-accuracy',
      kind: 'text',
      value: 'X',
      help: 'Exit code 4 if the lower bound of a judge is below X, 0 to 1, on one kind of labelled rows.',
    },
    { name: 'limit', kind: 'text', value: 'N', help: 'Read the first N rows only.' },
    { name: 'concurrency', kind: 'text', value: 'N', help: 'Rows at the same time (default 8 with a model, else 1).' },
    { name: 'json', kind: 'switch', help: 'Print the report as one JSON object instead of tables.' },
  ],
  details: [
    'Rows: labelled rows {kind, set, label, …}, public sets {claim, evidence, label} and {statement,',
    'needs_citation}, and rollouts as for score; also mixed, and compressed by gzip.',
    'Labelled rows: compares verdicts with labels. Rollouts: compares ways of judging their criteria.',
    'A question without a verdict counts as a failure and is left out of all other figures.',
    'docs/guides/judge-check.md explains each line.',
    'Exit code: 0 all questions got verdicts, 1 some did not or lines were bad, 2 wrong command line,',
    '4 the lower bound of a judge is below --min-balanced-accuracy.',
  ],
};

/** The judges that the flags name, at least one. @throws UsageError for flags that exclude each other. */
export async function describedJudges(flags: Flags): Promise<readonly JudgeDescription[]> {
  const file = flags.text('compare');
  const url = flags.text('judge-url') ?? flags.text('url');
  if (file !== null) {
    const other = JUDGE_FLAGS.find((name) => flags.text(name) !== null || flags.list(name).length > 0);
    if (other !== undefined) throw new UsageError(`--compare and --${other} exclude each other`, 'Give one of them.');
    return judgesOfFile(file, flags);
  }
  const judgings = judgingFlags(flags);
  const classifying = classifierFlags(flags, url);
  const lexical = flags.choice('judge', ['lexical']) !== null;
  const models = [...flags.list('judge-model'), ...flags.list('model')];
  const key = flags.text('key') ?? flags.variable(KEY_VARIABLE);
  const context_tokens = flags.count('context-tokens', CONTEXT_RANGE);
  const temperature = flags.number(
    'temperature',
    `a number from 0 to ${MAX_TEMPERATURE}`,
    (value) => value <= MAX_TEMPERATURE,
  );
  const dialect = flags.choice('dialect', CHAT_DIALECTS) ?? 'vllm';
  const batch = flags.count('batch', BATCH_RANGE);
  const templates = templateFlags(flags);
  // The lexical judge reads no prompt, so it has no template.
  const builtIn = judgings.map((judging) => ({ kind: 'lexical', name: null, judging, batch, template: null }) as const);
  if (url === null) {
    const lost = SERVER_FLAGS.find((name) => flags.text(name) !== null || flags.list(name).length > 0);
    if (lost !== undefined) throw new UsageError(`--${lost} is for a model server`, 'Give its --judge-url too.');
    return builtIn;
  }
  if (models.length === 0)
    throw new UsageError('--judge-url needs --judge-model', `${url}/models lists the models of the server.`);
  const twice = models.find((model, position) => models.indexOf(model) !== position);
  if (twice !== undefined) throw new UsageError(`--judge-model ${twice} is given twice`);
  if (isClassifierUrl(url)) {
    const other = MODEL_FLAGS.find((name) => flags.text(name) !== null || flags.list(name).length > 0);
    if (other !== undefined) throw new UsageError(`--${other} is for a language model`, 'Leave it out.');
    const classifiers = models.map(
      (model) => ({ kind: 'classifier', name: null, url, model, key, ...classifying }) as const,
    );
    return [...(lexical ? builtIn : []), ...classifiers];
  }
  return [
    ...(lexical ? builtIn : []),
    ...models.flatMap((model) =>
      templates.flatMap((template) =>
        judgings.map((judging): JudgeDescription => {
          const server = { url, model, key, context_tokens, temperature, dialect, refuses: [], api_version: null };
          return { kind: 'server', name: null, ...server, judging, batch, template };
        }),
      ),
    ),
  ];
}

const MODEL_FLAGS = ['context-tokens', 'temperature', 'template', 'dialect'] as const;
const SERVER_FLAGS = ['judge-model', 'model', 'key', ...MODEL_FLAGS] as const;
const JUDGE_FLAGS = ['judge', 'judge-url', 'url', 'judging', 'batch', 'labels', 'threshold', ...SERVER_FLAGS] as const;

/** The templates to compare; `null` = the usual one. */
function templateFlags(flags: Flags): readonly ((typeof RUBRIC_TEMPLATES)[number] | null)[] {
  const given = flags.list('template');
  const wrong = given.find((name) => !RUBRIC_TEMPLATES.some((known) => known === name));
  if (wrong !== undefined) {
    const hint = didYouMean(wrong, RUBRIC_TEMPLATES) ?? "A template of one's own is a field of the file of --compare.";
    throw new UsageError(`--template: "${wrong}" is not one of ${RUBRIC_TEMPLATES.join(', ')}`, hint);
  }
  const chosen = RUBRIC_TEMPLATES.filter((name) => given.includes(name));
  return chosen.length === 0 ? [null] : chosen;
}

function judgingFlags(flags: Flags): readonly (typeof JUDGINGS)[number][] {
  const given = flags.list('judging');
  const wrong = given.find((name) => !JUDGINGS.some((known) => known === name));
  if (wrong !== undefined) throw new UsageError(`--judging: "${wrong}" is not one of ${JUDGINGS.join(', ')}`);
  const chosen = JUDGINGS.filter((judging) => given.includes(judging));
  return chosen.length === 0 ? ['per_criterion'] : chosen;
}
