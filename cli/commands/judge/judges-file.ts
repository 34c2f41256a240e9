/** Reads the file of `--compare`: a JSON list of judges that are checked side by side on the same rows. */
import * as z from 'zod';
import { classifierFields } from '../../../service/backends/settings-schema.ts';
import { judgingFields } from '../../../src/family/judging-schemas.ts';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { isJsonObject, parsedJson } from '../../../src/json.ts';
import { CHAT_DIALECTS, REFUSABLE } from '../../../src/judgments/chat-dialects.ts';
import { MAX_NAME_CHARS } from '../../../src/limits.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { readTextFile } from '../../shared/input.ts';
import { type ClassifierServer, isClassifierUrl, KEY_VARIABLE } from '../../shared/model-server.ts';
import { type CriteriaAsking, JUDGINGS, type ServerOptions } from './judges.ts';

/** A judge before its server was asked. */
export type JudgeDescription =
  | ({ readonly kind: 'lexical'; readonly name: string | null } & CriteriaAsking)
  | ({ readonly kind: 'classifier'; readonly name: string | null } & ClassifierServer)
  | ({ readonly kind: 'server' } & ServerOptions)
  | { readonly kind: 'cascade'; readonly name: string; readonly tiers: readonly DescribedTier[] };

/** `band`: the probabilities from the first on and below the second are left to the next tier; `null` = the last tier. */
type DescribedTier = { readonly judge: JudgeDescription; readonly band: readonly [number, number] | null };

const nameSchema = z.string().min(1).max(MAX_NAME_CHARS);

/** Criteria in one call of the judging `batched`. */
export const BATCH_RANGE = { min: 2, max: 4 } as const;

const judgingShape = {
  judging: z.enum(JUDGINGS).default('per_criterion'),
  batch: z.int().min(BATCH_RANGE.min).max(BATCH_RANGE.max).exactOptional(),
};

const lexicalSchema = z.strictObject({
  name: nameSchema.exactOptional(),
  judge: z.literal('lexical'),
  ...judgingShape,
});

const serverSchema = z.strictObject({
  name: nameSchema.exactOptional(),
  url: z.string().min(1),
  model: z.string().min(1),
  key_env: nameSchema.default(KEY_VARIABLE),
  context_tokens: z.int().min(2_048).exactOptional(),
  ...judgingShape,
  template: judgingFields.template,
  temperature: z.number().min(0).max(2).exactOptional(),
  dialect: z.enum(CHAT_DIALECTS).default('vllm'),
  refuses: z.array(z.enum(REFUSABLE)).default([]),
  api_version: z.string().min(1).exactOptional(),
});

const classifierSchema = z.strictObject({
  name: nameSchema.exactOptional(),
  url: z.string().min(1),
  model: z.string().min(1),
  key_env: nameSchema.default(KEY_VARIABLE),
  ...classifierFields,
});

const share = z.number().min(0).max(1);
const cascadeSchema = z.strictObject({
  name: nameSchema,
  tiers: z
    .array(z.looseObject({ band: z.tuple([share, share]).exactOptional() }))
    .min(2)
    .max(5),
});

/** Judges of one comparison. */
const MAX_JUDGES = 16;

const EXAMPLE = '[{"judge": "lexical"}, {"url": "http://127.0.0.1:8000/v1", "model": "Qwen/Qwen3-32B"}]';

/** @throws UsageError that names the entry and the field that is wrong. */
export async function judgesOfFile(path: string, flags: Flags): Promise<readonly JudgeDescription[]> {
  const list = parsedList(path, await readTextFile(path));
  return list.map((entry, position) => describedJudge(path, entry, position, flags));
}

function parsedList(path: string, text: string): readonly unknown[] {
  const refused = (): UsageError =>
    new UsageError(`${path}: expected a JSON list of 1 to ${MAX_JUDGES} judges`, `As in ${EXAMPLE}`);
  const value = parsedJson(text);
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_JUDGES) throw refused();
  return value;
}

function describedJudge(path: string, entry: unknown, position: number, flags: Flags): JudgeDescription {
  if (isJsonObject(entry) && Object.hasOwn(entry, 'tiers')) {
    const read = cascadeSchema.safeParse(entry);
    if (!read.success) throw wrongEntry(path, position, entry, read.error);
    const tiers = read.data.tiers.map(({ band = null, ...judge }) => ({
      judge: describedJudge(path, judge, position, flags),
      band,
    }));
    return { kind: 'cascade', name: read.data.name, tiers };
  }
  const isLexical = typeof entry === 'object' && entry !== null && Object.hasOwn(entry, 'judge');
  if (isLexical) {
    const read = lexicalSchema.safeParse(entry);
    if (!read.success) throw wrongEntry(path, position, entry, read.error);
    const { name = null, judging, batch = null } = read.data;
    return { kind: 'lexical', name, judging, batch, template: null };
  }
  if (isJsonObject(entry) && typeof entry['url'] === 'string' && isClassifierUrl(entry['url'])) {
    const read = classifierSchema.safeParse(entry);
    if (!read.success) throw wrongEntry(path, position, entry, read.error);
    const { name = null, key_env, ...classifier } = read.data;
    return { kind: 'classifier', name, key: flags.variable(key_env), ...classifier };
  }
  const read = serverSchema.safeParse(entry);
  if (!read.success) throw wrongEntry(path, position, entry, read.error);
  const { name = null, key_env, context_tokens = null, temperature = null, template = null, ...server } = read.data;
  const { api_version = null, batch = null, ...others } = server;
  const key = flags.variable(key_env);
  return { kind: 'server', name, key, context_tokens, temperature, template, api_version, batch, ...others };
}

function wrongEntry(path: string, position: number, entry: unknown, error: z.ZodError): UsageError {
  const problems = problemsOfIssues(error.issues, entry, [position]);
  return new UsageError(
    problems.map((one) => `${path}: ${pathText(one.path)}: ${one.message}`).join('\n'),
    `As in ${EXAMPLE}`,
  );
}
