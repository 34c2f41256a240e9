/** The judge on a server that the flags of a command name: `--judge-url`, `--judge-model` and what goes with them. */
import type { VllmConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import type { ClassifierConfig } from '../../service/backends/classifier/classifier-server.ts';
import { CHAT_DIALECTS } from '../../src/judgments/chat-dialects.ts';
import { UsageError } from './exit.ts';
import type { FlagDescription, Flags } from './flags.ts';
import {
  classifierFlags,
  DIALECT_FLAG,
  isClassifierUrl,
  KEY_VARIABLE,
  LABELS_FLAG,
  servedClassifier,
  servedModel,
  THRESHOLD_FLAG,
} from './model-server.ts';

/** As `judge check` has them. */
export const JUDGE_SERVER_FLAGS: readonly FlagDescription[] = [
  {
    name: 'judge-url',
    kind: 'text',
    value: 'MODEL_URL',
    help: 'Judge here with a model on an OpenAI-compatible server, or with a classifier: URL of its endpoint.',
  },
  { name: 'judge-model', kind: 'text', value: 'MODEL', help: 'The model, by its name on the server.' },
  DIALECT_FLAG,
  LABELS_FLAG,
  THRESHOLD_FLAG,
];

/**
 * Reads the flags and asks the server for the model. @returns `null` if no flag names a judge.
 * @throws UsageError for flags that exclude each other, RunError for a server that does not answer.
 */
export async function readJudgeServer(flags: Flags): Promise<VllmConfig | ClassifierConfig | null> {
  const [url, model] = [flags.text('judge-url'), flags.text('judge-model')];
  const dialect = flags.choice('dialect', CHAT_DIALECTS);
  const settings = classifierFlags(flags, url);
  if (url === null) {
    if (model !== null) throw new UsageError('--judge-model needs --judge-url');
    if (dialect !== null) throw new UsageError('--dialect is for a model server', 'Give its --judge-url too.');
    return null;
  }
  if (model === null) {
    throw new UsageError('--judge-url needs --judge-model', `${url}/models lists the models of the server.`);
  }
  const key = flags.variable(KEY_VARIABLE);
  if (isClassifierUrl(url)) return servedClassifier({ url, model, key, ...settings }, model);
  const server = { url, model, key, context_tokens: null, refuses: [] };
  return servedModel({ ...server, dialect: dialect ?? 'vllm', api_version: null }, model);
}

/** The name of the judge in the setting. */
const JUDGE_NAME = 'judge';

/** The setting BACKENDS of a Worker with this judge alone; `null` = no flag names one. @throws as `readJudgeServer`. */
export async function judgeSetting(flags: Flags): Promise<string | null> {
  const judge = await readJudgeServer(flags);
  if (judge === null) return null;
  const { kind, model, slots, base_url, api_key } = judge;
  const own =
    judge.kind === 'vllm'
      ? { context_tokens: judge.context_tokens, dialect: judge.dialect }
      : classifierFlags(flags, base_url);
  const written = { kind, name: JUDGE_NAME, model, slots, base_url, ...(api_key === null ? {} : { api_key }), ...own };
  return JSON.stringify({ backends: [written], default_judge: JUDGE_NAME });
}
