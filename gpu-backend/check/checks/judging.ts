/**
 * Checks that the backend judges as the Worker asks. Prompts, schemas and the reply reader are the Worker's own, so the
 * Worker can use the replies of a backend that passes. The quality of the verdicts is measured by `citeward judge
 * check`.
 */

import { isJsonObject } from '../../../src/json.ts';
import { judgePrompt, readReply } from '../../../src/judgments/model-judge.ts';
import type { JsonSchema, JudgePrompt } from '../../../src/judgments/protocol/prompt.ts';
import { type ChatBody, chat } from '../chat.ts';
import { type Finding, fail, pass, type Requirement } from '../finding.ts';
import type { Probe } from '../probe.ts';
import { sampleCitations, sampleRubric } from '../sample-requests.ts';

const CONSTRAINT_HINT =
  'Upgrade to a vLLM that knows response_format json_schema (guided_json is ignored); --structured-outputs-config.backend xgrammar.';

export const SCHEMA: Requirement = {
  id: 'schema',
  title: 'replies follow the JSON schema',
  change: CONSTRAINT_HINT,
};

export const CONSTRAINED: Requirement = {
  id: 'schema_constrained',
  title: 'the schema holds against the prompt',
  change: `The server treats the schema as a hint, not as a constraint. ${CONSTRAINT_HINT}`,
};

export const ORDER: Requirement = {
  id: 'reason_first',
  title: 'reasons are written before verdicts',
  change: 'The grammar reorders properties: --structured-outputs-config.backend xgrammar keeps their order.',
};

function constrainedBody(model: string, name: string, schema: JsonSchema, content: ChatBody): ChatBody {
  return {
    model,
    temperature: 0,
    seed: 7,
    chat_template_kwargs: { enable_thinking: false },
    response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } },
    ...content,
  };
}

/** The body of a judge call. @throws Error for a prompt whose reply is free text. */
export function constrainedPrompt(model: string, { schema: form, messages, max_reply_tokens }: JudgePrompt): ChatBody {
  if (form === null) throw new Error('constrainedPrompt: the prompt has no schema');
  return constrainedBody(model, form.name, form.schema, { messages, max_tokens: max_reply_tokens });
}

/** Checks both judge calls of a rollout with the Worker's strict reader, and the order of the keys in the replies. */
export async function checkSchemas({ target, model, nonce }: Probe): Promise<readonly Finding[]> {
  const problems: string[] = [];
  const disordered: string[] = [];
  let tokens = 0;
  for (const request of [sampleRubric(nonce, 1), sampleCitations(nonce)]) {
    const prompt = judgePrompt(request);
    const { choices, usage } = await chat(target, constrainedPrompt(model, prompt));
    const [choice] = choices;
    tokens += usage?.completion_tokens ?? 0;
    const read = readReply(request, choice?.content ?? '');
    if (choice?.finish_reason === 'length')
      problems.push(`${request.kind}: cut after ${prompt.max_reply_tokens} tokens`);
    else if (!read.ok) problems.push(`${request.kind}: ${read.detail}`);
    else
      disordered.push(
        ...keysOutOfOrder(JSON.parse(choice?.content ?? ''), prompt.schema?.schema ?? {}).map(
          (key) => `${request.kind} ${key}`,
        ),
      );
  }
  if (problems.length > 0)
    return [fail(SCHEMA, problems.join('; ')), fail(ORDER, 'no reply to look at', SCHEMA.change)];
  return [
    pass(SCHEMA, `rubric and citations read by the Worker's reader, ${tokens} tokens`),
    disordered.length === 0
      ? pass(ORDER, 'keys in the order of the schema, in every entry')
      : fail(ORDER, `other order in ${disordered.slice(0, 3).join(', ')}`),
  ];
}

/** Paths of the objects whose keys are not in the order of the schema. */
function keysOutOfOrder(value: unknown, schema: unknown, path = ''): string[] {
  if (!isJsonObject(value) || !isJsonObject(schema) || !isJsonObject(schema['properties'])) return [];
  const properties = schema['properties'];
  const expected = Object.keys(properties).filter((key) => key in value);
  const actual = Object.keys(value);
  const here = expected.every((key, position) => actual[position] === key) ? [] : [path === '' ? 'the reply' : path];
  return [...here, ...expected.flatMap((key) => keysOutOfOrder(value[key], properties[key], `${path}/${key}`))];
}

/** Checks constrained decoding with a prompt that asks for prose: only constrained decoding then returns the object. */
export async function checkConstrained({ target, model }: Probe): Promise<Finding> {
  const schema: JsonSchema = {
    type: 'object',
    properties: { reason: { type: 'string', maxLength: 60 }, score: { type: 'integer', enum: [0, 1, 2] } },
    required: ['reason', 'score'],
    additionalProperties: false,
  };
  const messages = [
    { role: 'user', content: 'Write a short poem about rain. Do not use JSON, braces or quotation marks.' },
  ];
  const body = constrainedBody(model, 'verdict', schema, { messages, max_tokens: 200 });
  const { choices } = await chat(target, body);
  const text = choices[0]?.content ?? '';
  return isVerdict(text)
    ? pass(CONSTRAINED, 'an object although prose was asked for')
    : fail(CONSTRAINED, 'prose came back');
}

function isVerdict(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return (
      isJsonObject(value) && typeof value['reason'] === 'string' && [0, 1, 2].some((score) => score === value['score'])
    );
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

export const THINKING: Requirement = {
  id: 'thinking_off',
  title: 'the request can turn thinking off',
  change: `Start vLLM with --reasoning-parser qwen3 --default-chat-template-kwargs '{"enable_thinking": false}', or serve a model whose thinking can be turned off.`,
};

export async function checkThinkingOff({ target, model }: Probe): Promise<Finding> {
  const ask = (thinking: boolean, maxTokens: number) =>
    chat(target, {
      model,
      messages: [{ role: 'user', content: 'What is 17 times 23?' }],
      max_tokens: maxTokens,
      temperature: 0,
      chat_template_kwargs: { enable_thinking: thinking },
    });
  const off = await ask(false, 64);
  const on = await ask(true, 1);
  const [choice] = off.choices;
  const thought = choice === undefined || choice.reasoning !== '' || /<\/?think>/.test(choice.content);
  const lengths = [off, on].map(({ usage }) => usage?.prompt_tokens);
  const reaches =
    lengths[0] === undefined || lengths[0] === lengths[1] ? '' : `; the prompt has ${lengths.join(' tokens off, ')} on`;
  return thought ? fail(THINKING, 'there is reasoning text') : pass(THINKING, `no reasoning text${reaches}`);
}
