/** The judgment record as it is stored and, later, carried between deployments. Version 1. */
import * as z from 'zod';

/** 64 lower-case hex digits: a SHA-256. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

const indexSchema = z.int().min(0);

export const judgmentKindSchema = z.enum(['rubric', 'citations']);

export const samplingSchema = z
  .record(z.string(), z.union([z.number(), z.string(), z.boolean()]))
  .nullable()
  .describe('Sampling parameters exactly as sent; null where nothing is sampled.');

export const tokenUsageSchema = z.strictObject({ prompt_tokens: indexSchema, completion_tokens: indexSchema });

const preimageSchema = z.strictObject({
  v: z.literal(1),
  kind: judgmentKindSchema,
  judge: z.strictObject({ model: z.string(), template: z.string(), sampling: samplingSchema }),
  parser: z.string(),
  replicate: indexSchema,
  inputs: z.record(z.string(), sha256Schema).describe('Input name to SHA-256 of its RFC 8785 JSON.'),
});

const rubricVerdictsSchema = z.strictObject({
  kind: z.literal('rubric'),
  criteria: z.array(z.strictObject({ key: z.string(), score: z.literal([0, 1, 2]) })),
});

const quoteSchema = z.strictObject({ source: indexSchema, start: indexSchema, end: indexSchema });

const citationVerdictsSchema = z.strictObject({
  kind: z.literal('citations'),
  claims: z.array(
    z.strictObject({
      claim: indexSchema,
      support: z.literal([0, 0.5, 1]),
      relevant: z.array(z.boolean()),
      quote: z.union([quoteSchema, z.enum(['unverified', 'absent'])]),
    }),
  ),
  statements: z.array(z.strictObject({ statement: indexSchema, needs_citation: z.boolean() })),
});

export const judgmentSchema = z.strictObject({
  v: z.literal(1),
  key: sha256Schema.describe('SHA-256 of the RFC 8785 JSON of `preimage`.'),
  preimage: preimageSchema,
  verdicts: z.discriminatedUnion('kind', [rubricVerdictsSchema, citationVerdictsSchema]),
  usage: tokenUsageSchema.nullable(),
  judged_at: z.iso.datetime(),
});
