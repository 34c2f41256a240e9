/** The fields that describe a rollout, shared by every resource that takes one. */

import * as z from 'zod';
import { ANSWER_FORMATS } from '../citations/formats/names.ts';
import { type AnswerFields, requestedAnswer, validatedAnswer } from '../citations/formats/requested-answer.ts';
import type { InputProblem } from '../input-problem.ts';
import { isJsonObject } from '../json.ts';
import {
  MAX_CRITERIA,
  MAX_CRITERION_CHARS,
  MAX_CRITERION_WEIGHT,
  MAX_ENTITIES,
  MAX_ENTITY_CHARS,
  MAX_ID_CHARS,
  MAX_MESSAGES,
  MAX_NAME_CHARS,
  MAX_SOURCES,
  MAX_TEST_CHARS,
  MAX_TESTS,
  MAX_TEXT_CHARS,
  MAX_TITLE_CHARS,
  MAX_USEFUL_CHUNKS,
} from '../limits.ts';
import { derivedFields } from '../trajectory/final-turns.ts';
import { readMessages, SOURCE_IDS, trajectoryOf } from '../trajectory/rollout-messages.ts';
import type { CriterionInput, Rollout, RolloutSources } from './rollout.ts';

export const textSchema = z.string().max(MAX_TEXT_CHARS);
const titleSchema = z.string().max(MAX_TITLE_CHARS);
const descriptionSchema = z.string().min(1).max(MAX_CRITERION_CHARS);

export const questionSchema = textSchema.min(1).describe('The question to the policy.');

export const responseSchema = textSchema.describe("The policy's whole output. Offsets in the reply point into it.");

const finishReasonSchema = z
  .string()
  .max(MAX_NAME_CHARS)
  .describe('As reported by the trainer or the backend: "stop", "length", …');

export const sourceInputSchema = z
  .strictObject({
    id: z.string().min(1).max(MAX_ID_CHARS),
    text: textSchema,
    title: titleSchema.exactOptional(),
    url: titleSchema.exactOptional(),
  })
  .describe('One piece that an answer may cite, truncated as the policy saw it.');

export const criterionInputSchema = z.strictObject({
  title: titleSchema.exactOptional(),
  description: descriptionSchema,
  weight: z.number().min(0).max(MAX_CRITERION_WEIGHT).exactOptional().describe('Default 1.'),
});

export const rubricsSchema = z
  .array(z.union([descriptionSchema, criterionInputSchema]))
  .max(MAX_CRITERIA)
  .describe('Criteria of one polarity: a text, or a text with title and weight.');

/**
 * The two fields that can hold the sources that the policy could cite. A rollout has exactly one of them;
 * `hasOneOrigin` checks that.
 */
export const originFields = {
  tool_output: textSchema
    .exactOptional()
    .describe('The raw search-tool output with its tagged pieces: <snippet id=…>, <webpage id=…>, …'),
  sources: z.array(sourceInputSchema).max(MAX_SOURCES).exactOptional().describe('The pieces as a list.'),
};

type Origin = z.infer<z.ZodObject<typeof originFields>>;

/**
 * JSON Schema of the rule that a rollout has exactly one of `tool_output` and `sources`, which a type cannot express.
 */
export const EXACTLY_ONE_ORIGIN = { oneOf: [{ required: ['tool_output'] }, { required: ['sources'] }] };

/** JSON Schema of the rule for recipes that may read no sources: at most one of `tool_output` and `sources`. */
export const NOT_BOTH_ORIGINS = { not: { required: ['tool_output', 'sources'] } };

/**
 * The rule "exactly one of `tool_output` and `sources`" as options of zod's `refine`. It checks presence only, so it
 * also runs if other fields are invalid.
 */
export const oneOriginRule = {
  path: ['tool_output'],
  error: 'give exactly one of tool_output and sources',
  when: ({ value }: { readonly value: unknown }) => isJsonObject(value),
};

/** Whether exactly one of `tool_output` and `sources` is given. */
export function hasOneOrigin(origin: Origin): boolean {
  return (origin.tool_output === undefined) !== (origin.sources === undefined);
}

/**
 * Whether at most one of `tool_output` and `sources` is given. Recipes that read sources require one (requirements.ts).
 */
export function hasNotBothOrigins(origin: Origin): boolean {
  return origin.tool_output === undefined || origin.sources === undefined;
}

/**
 * Converts the field that is given to the library's type of sources.
 * @throws Error if the fields were not validated.
 */
export function rolloutSources(origin: Origin): RolloutSources {
  if (origin.tool_output !== undefined) return { tool_output: origin.tool_output };
  if (origin.sources !== undefined) return { sources: origin.sources };
  throw new Error('rolloutSources: neither tool_output nor sources after validation');
}

/** The criteria of dr-tulu: the sign of a weight is the criterion's polarity. */
const signedRubricsSchema = z
  .array(
    z.strictObject({
      title: titleSchema.exactOptional(),
      description: descriptionSchema,
      weight: z
        .number()
        .min(-MAX_CRITERION_WEIGHT)
        .max(MAX_CRITERION_WEIGHT)
        .describe('Negative = the criterion describes a fault.'),
    }),
  )
  .min(1)
  .max(MAX_CRITERIA);

const programTestSchema = z.union([
  z
    .strictObject({ stdin: z.string().max(MAX_TEST_CHARS), stdout: z.string().max(MAX_TEST_CHARS) })
    .describe('Expected output for an input.'),
  z
    .strictObject({ assert: z.string().min(1).max(MAX_TEST_CHARS) })
    .describe('Python that runs after the program and must not raise.'),
]);

/** The fields that all samples of a group share. The recipe decides which of them are required. */
export const sharedFields = {
  question: questionSchema.exactOptional(),
  ...originFields,
  positive_rubrics: rubricsSchema.exactOptional(),
  negative_rubrics: rubricsSchema.exactOptional(),
  rubrics: signedRubricsSchema.exactOptional().describe("dr-tulu: the row's criteria with signed weights."),
  reference: textSchema.min(1).exactOptional().describe('long-trace, carr, tool-call: the right final answer.'),
  entities: z
    .array(z.string().min(1).max(MAX_ENTITY_CHARS))
    .min(1)
    .max(MAX_ENTITIES)
    .exactOptional()
    .describe('long-trace: gold entities.'),
  entity_rubrics: z
    .array(descriptionSchema)
    .min(1)
    .max(MAX_CRITERIA)
    .exactOptional()
    .describe(
      'carr: single-hop criteria about labels; <E0> is the answer, <E1>, <E2>, … are entities on the way to it.',
    ),
  useful_chunks: z
    .array(z.int().min(0))
    .min(1)
    .max(MAX_USEFUL_CHUNKS)
    .exactOptional()
    .describe('long-trace, variant chunks: gold chunk ids.'),
  tests: z
    .array(programTestSchema)
    .min(1)
    .max(MAX_TESTS)
    .exactOptional()
    .describe('tool-call: the tests of a program, in place of a reference.'),
};

const markSchema = z.string().min(1).max(MAX_NAME_CHARS);
const marksSchema = z.strictObject({ open: markSchema, close: markSchema });

const trajectoryOptionsSchema = z
  .strictObject({
    policy_messages: z
      .array(z.int().min(0))
      .max(MAX_MESSAGES)
      .exactOptional()
      .describe(
        'Indexes of the messages that the policy wrote. Default: all assistant messages without sampled: false.',
      ),
    leaf: z
      .int()
      .min(0)
      .exactOptional()
      .describe('For a verifiers trace with several branches: the index of the last node of the branch to read.'),
    markup: z
      .union([
        z.enum(['hermes', 'search_r1']),
        z.strictObject({ result: marksSchema, call: marksSchema.exactOptional() }),
      ])
      .exactOptional()
      .describe(
        'The marks of a transcript that is one text. hermes: <tool_call> and <tool_response>, also as verl decodes ' +
          'them. search_r1: <search> and <information>. Or your own; without call, Hermes calls are read.',
      ),
    source_ids: z
      .enum(SOURCE_IDS)
      .exactOptional()
      .describe(
        'The ids that answers cite. tagged (default): those of the tagged pieces in tool results. call: each tool ' +
          'result is one source, under the id of its call. url: each page in tool results is one source, under its ' +
          'address.',
      ),
  })
  .describe('How messages are read.');

/** The fields of an answer as its vendor sent it, in place of `response`. */
export const citedAnswerFields = {
  cited_answer: z
    .union([textSchema, z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .exactOptional()
    .describe(
      'The answer as its vendor sent it, with its citations, in place of response: of Anthropic, OpenAI, Gemini, ' +
        'Cohere, Bedrock, Mistral, the AI SDK, Perplexity, or Markdown. Without tool_output and sources, the texts that ' +
        "it carries are the sources. Offsets in the reply point into the vendor's text.",
    ),
  answer_format: z
    .enum(ANSWER_FORMATS)
    .exactOptional()
    .describe('The format of cited_answer. Default: the first in this list that fits.'),
};

/** The fields that each sample has of its own. */
export const responseFields = {
  ...citedAnswerFields,
  response: responseSchema
    .exactOptional()
    .describe("The policy's whole output. Offsets in the reply point into it. Give it, messages or cited_answer."),
  messages: z
    .union([z.array(z.record(z.string(), z.unknown())).min(1).max(MAX_MESSAGES), textSchema])
    .exactOptional()
    .describe(
      'The conversation, in place of response and tool_output: messages of OpenAI, Anthropic, TRL, verifiers, ' +
        'LongTraceRL and CaRR, Hermes texts, and items of the Responses API. The prompt may be left out. Or one text, with trajectory.markup.',
    ),
  trajectory: trajectoryOptionsSchema.exactOptional(),
  reasoning: textSchema
    .exactOptional()
    .describe(
      "long-trace: the policy's thinking, if it is not part of the response. Other families: not judged, only recorded.",
    ),
  finish_reason: finishReasonSchema.exactOptional(),
  num_turns: z
    .int()
    .min(0)
    .exactOptional()
    .describe('tool-call, and recipes with turns: user turns + assistant turns + 1; 2 = no tool call, 4 = one round.'),
  response_tokens: z
    .int()
    .min(0)
    .exactOptional()
    .describe('tool-call, and recipes with length: tokens of the response, tool output included.'),
};

/** JSON Schema of the rule that a sample is a text, messages or a vendor's answer. */
export const ONE_OUTPUT = {
  oneOf: [{ required: ['response'] }, { required: ['messages'] }, { required: ['cited_answer'] }],
};

type Output = Pick<z.infer<z.ZodObject<typeof responseFields>>, 'response' | 'messages' | 'trajectory'> & AnswerFields;

/** The rule "exactly one of `response`, `messages` and `cited_answer`", like `oneOriginRule`. */
export const oneOutputRule = {
  ...oneOriginRule,
  path: ['response'],
  error: 'give exactly one of response (a string), messages and cited_answer',
};

export function hasOneOutput({ response, messages, cited_answer }: Output): boolean {
  return [response, messages, cited_answer].filter((field) => field !== undefined).length === 1;
}

/** Converts the cited answer of a sample or request: a check of zod. The rollout is then made of the same reading. */
export function checkCitedAnswer({ value, issues }: z.core.ParsePayload<AnswerFields>): void {
  const reading = requestedAnswer(value);
  if (reading === null && value.answer_format !== undefined) {
    issues.push({ code: 'custom', path: ['answer_format'], message: 'only with cited_answer', input: value });
  }
  for (const { path, message } of reading === null || reading.ok ? [] : reading.error) {
    issues.push({ code: 'custom', path: [...path], message, input: value });
  }
}

/** Reads the messages or the cited answer of a sample: a check of zod. The rollout is then made of the same reading. */
export function checkMessages(payload: z.core.ParsePayload<Output>): void {
  checkCitedAnswer(payload);
  const { value, issues } = payload;
  const { messages, trajectory } = value;
  const problems: readonly InputProblem[] =
    messages === undefined
      ? trajectory === undefined
        ? []
        : [{ path: ['trajectory'], message: 'only with messages: it says how they are read' }]
      : problemsOf(readMessages(trajectory === undefined ? { messages } : { messages, trajectory }));
  for (const { path, message } of problems) issues.push({ code: 'custom', path: [...path], message, input: value });
}

function problemsOf(reading: ReturnType<typeof readMessages>): readonly InputProblem[] {
  return reading.ok ? [] : reading.error;
}

/** The fields of a request that describe a rollout, validated. */
export type RolloutFields = z.infer<z.ZodObject<typeof sharedFields & typeof responseFields>>;

/**
 * Converts the validated fields of a request to a rollout; a criterion that is a text becomes an object.
 * @throws Error if the fields were not validated.
 */
export function rolloutOf({ positive_rubrics, negative_rubrics, ...fields }: RolloutFields): Rollout {
  return sampleOf(
    { positive_rubrics: criterionInputs(positive_rubrics), negative_rubrics: criterionInputs(negative_rubrics) },
    fields,
  );
}

/**
 * One sample of a prompt, with the fields that all samples share. Messages give the final answer, and each field that
 * they determine and neither the sample nor `common` gives. A vendor's answer gives the response, and its sources if
 * neither gives some.
 */
export function sampleOf(common: Partial<Rollout>, sample: Omit<RolloutFields, keyof Rubrics>): Rollout {
  const answer = sample.response === undefined ? validatedAnswer({ ...originIn(common), ...sample }) : null;
  if (answer !== null) {
    const carried = answer.sources === null ? {} : { sources: answer.sources };
    return { ...carried, ...common, ...sample, response: answer.response };
  }
  const trajectory = trajectoryOf(sample);
  const derived = trajectory === null ? null : derivedFields(trajectory);
  const response = sample.response ?? derived?.response;
  if (response === undefined) throw new Error('sampleOf: neither response nor messages after validation');
  return { ...derived, ...common, ...sample, response };
}

function originIn({ tool_output, sources }: Partial<Rollout>): Pick<AnswerFields, 'tool_output' | 'sources'> {
  if (tool_output !== undefined) return { tool_output };
  return sources === undefined ? {} : { sources };
}

type Rubrics = Pick<RolloutFields, 'positive_rubrics' | 'negative_rubrics'>;

function criterionInputs(rubrics: z.infer<typeof rubricsSchema> | undefined): CriterionInput[] {
  return (rubrics ?? []).map((rubric) => (typeof rubric === 'string' ? { description: rubric } : rubric));
}
