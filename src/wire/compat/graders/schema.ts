/**
 * OpenAI's grader objects and the requests that run and validate them. Source: openai 7.57.0,
 * `resources/graders/grader-models.d.ts` and `resources/fine-tuning/alpha/graders.d.ts`.
 */
import * as z from 'zod';
import { problemsOfIssues } from '../../../input-problem.ts';
import { MAX_REPLICATE, MAX_TEXT_CHARS } from '../../../limits.ts';
import { MAX_FORMULA_CHARS } from './formula.ts';

/** Messages of one grader, and content parts of one message. */
const MAX_GRADER_PARTS = 64;
const MAX_LABELS = 64;
const MAX_LABEL_CHARS = 256;
/** Graders of one multi grader. */
const MAX_GRADERS = 32;

const text = z.string().max(MAX_TEXT_CHARS);
const name = z.string().min(1).max(256);

const textPart = z.union([
  text,
  z.strictObject({ type: z.enum(['input_text', 'output_text']), text }).describe('Images and audio are not supported.'),
]);

const messageSchema = z.strictObject({
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([textPart, z.array(textPart).min(1).max(MAX_GRADER_PARTS)]),
  type: z.literal('message').exactOptional(),
});

const modelFields = {
  name,
  model: z.string().min(1).describe('The name of a judge of the deployment, or of the model behind it.'),
  input: z.array(messageSchema).min(1).max(MAX_GRADER_PARTS),
};

const samplingSchema = z.strictObject({
  temperature: z.number().min(0).max(2).nullable().exactOptional().describe('Default 0.'),
  seed: z
    .int()
    .min(0)
    .max(MAX_REPLICATE)
    .nullable()
    .exactOptional()
    .describe('Selects one of several independent judgments, as replicate does.'),
  top_p: z.literal(1).nullable().exactOptional().describe('Not supported: only 1 is accepted.'),
  reasoning_effort: z.literal('none').nullable().exactOptional().describe('Not supported: only none is accepted.'),
  max_completions_tokens: z.null().exactOptional().describe('Not supported: the limit is that of one verdict.'),
});

const stringCheckSchema = z.strictObject({
  type: z.literal('string_check'),
  name,
  input: text,
  reference: text,
  operation: z.enum(['eq', 'ne', 'like', 'ilike']),
});

const scoreModelSchema = z.strictObject({
  type: z.literal('score_model'),
  ...modelFields,
  range: z
    .tuple([z.number(), z.number()])
    .refine(([low, high]) => low < high, 'expected the lower end, then the upper end')
    .exactOptional()
    .describe('Default [0, 1].'),
  sampling_params: samplingSchema.exactOptional(),
  pass_threshold: z.number().exactOptional().describe('Accepted and not used: the reply is the score.'),
});

const labels = z.array(z.string().min(1).max(MAX_LABEL_CHARS)).min(1).max(MAX_LABELS);

const labelModelSchema = z
  .strictObject({
    type: z.literal('label_model'),
    ...modelFields,
    labels: labels.refine((all) => new Set(all).size === all.length, 'expected each label once'),
    passing_labels: labels,
    sampling_params: samplingSchema.exactOptional(),
  })
  .refine(({ labels: all, passing_labels }) => passing_labels.every((one) => all.includes(one)), {
    message: 'expected some of labels',
    path: ['passing_labels'],
  });

export const SINGLE = [stringCheckSchema, scoreModelSchema, labelModelSchema] as const;
export const singleSchema = z.discriminatedUnion('type', SINGLE);

/** The names of graders are those of variables. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'expected letters, digits and underscores');

const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['text_similarity', 'text_similarity is not supported: nothing here computes its metrics'],
  ['python', "python is not supported: graders' programs are not run"],
  ['endpoint', 'endpoint is not supported: graders call no other server'],
]);

const typed = z.looseObject({ type: z.string() });

/** Refuses other types by name before the fields are read. */
function known<S extends z.ZodType>(schema: S, types: readonly string[]) {
  return z.preprocess((value, context) => {
    const read = typed.safeParse(value);
    if (!read.success || types.includes(read.data.type)) return value;
    const message = REFUSALS.get(read.data.type) ?? `expected one of ${types.join(', ')}`;
    context.addIssue({ code: 'custom', path: ['type'], message });
    return z.NEVER;
  }, schema);
}

const SINGLE_TYPES = ['string_check', 'score_model', 'label_model'] as const;

export const multiSchemaOf = (one: z.ZodType<SingleGrader>) =>
  z.strictObject({
    type: z.literal('multi'),
    name,
    graders: z
      .union([one, z.record(variable, one)])
      .describe("A map from names to graders, or one grader, whose name is the formula's variable."),
    calculate_output: z
      .string()
      .min(1)
      .max(MAX_FORMULA_CHARS)
      .describe('Numbers, names of graders, + - * / ^, parentheses, min, max, abs, floor, ceil, exp, sqrt, log.'),
  });

export type SingleGrader = z.infer<typeof singleSchema>;
export type MultiGrader = Omit<z.infer<ReturnType<typeof multiSchemaOf>>, 'graders'> & {
  readonly graders: SingleGrader | Readonly<Record<string, SingleGrader>>;
};
export type Grader = SingleGrader | MultiGrader;

const oneGrader = known(singleSchema, SINGLE_TYPES);
const mapOfGraders = z.record(variable, oneGrader);

/** One grader has a type that is text; in a map, `type` would be a grader. */
const checkedGraders = z.unknown().transform((value, context): MultiGrader['graders'] => {
  const parsed = typed.safeParse(value).success ? oneGrader.safeParse(value) : mapOfGraders.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of problemsOfIssues(parsed.error.issues, value)) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
  return z.NEVER;
});

const checkedSchema = known(
  z.discriminatedUnion('type', [...SINGLE, multiSchemaOf(singleSchema).extend({ graders: checkedGraders })]),
  [...SINGLE_TYPES, 'multi'],
);

export const runFields = {
  model_sample: text.describe('The output to grade: {{ sample.output_text }}, and as JSON {{ sample.output_json }}.'),
  item: z.unknown().optional().describe('The row of the data set: {{ item.… }}.'),
};

/** What the routes read. */
export const graderRunSchema = z.strictObject({ grader: checkedSchema, ...runFields });
export const graderValidateSchema = z.strictObject({ grader: checkedSchema });

/** @property graders more than this are refused. */
export const GRADER_LIMITS = { graders: MAX_GRADERS } as const;
