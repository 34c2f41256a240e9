/** Checks several choices in one request, token counts, and error replies with a message. */
import { chat, shortened } from '../chat.ts';
import { send } from '../connection.ts';
import { type Finding, fail, notReported, pass, type Requirement } from '../finding.ts';
import { type Probe, proseBody } from '../probe.ts';
import { errorMessage, readCompletion, type Usage } from '../wire.ts';

export const USAGE: Requirement = {
  id: 'usage',
  title: 'usage counts tokens',
  change: 'Cost and budgets are computed from usage: configure the gateway to pass it through.',
};

export const ECHO: Requirement = {
  id: 'model_echo',
  title: 'replies name the requested model',
  change:
    'The Worker refuses replies of another model name. Turn off aliases in the gateway, or request the name in the reply.',
};

const CUT_TOKENS = 16;

/** A reply that is cut after 16 tokens must count at most 16, have a consistent total, and name its model. */
export async function checkUsage(probe: Probe): Promise<readonly Finding[]> {
  const { usage, choices, model } = await chat(probe.target, proseBody(probe, CUT_TOKENS, { ignore_eos: true }));
  return [countedRight(usage, choices[0]?.finish_reason ?? null), namedRight(model, probe.model)];
}

function countedRight(usage: Usage | null, finish: string | null): Finding {
  if (usage === null) return fail(USAGE, 'no usage');
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const saw = `${prompt_tokens} + ${completion_tokens} = ${total_tokens ?? 'not said'}, "${finish}"`;
  const counted = completion_tokens > 0 && completion_tokens <= CUT_TOKENS && prompt_tokens > 0;
  const sums = total_tokens === undefined || total_tokens === prompt_tokens + completion_tokens;
  return counted && sums ? pass(USAGE, saw) : fail(USAGE, saw);
}

function namedRight(echoed: string | null, asked: string): Finding {
  if (echoed === null) return notReported(ECHO, 'replies name no model');
  return echoed === asked
    ? pass(ECHO, shortened(echoed))
    : fail(ECHO, `asked for ${shortened(asked)}, named ${shortened(echoed)}`);
}

export const CHOICES: Requirement = {
  id: 'choices',
  title: 'n > 1 gives n different choices',
  change: 'Policies (refine) request n samples in one call, judges do not: use vLLM for policies.',
};

const CHOICE_COUNT = 4;

export async function checkChoices(probe: Probe): Promise<Finding> {
  const { choices } = await chat(probe.target, proseBody(probe, 32, { n: CHOICE_COUNT, top_p: 1 }));
  const indexes = new Set(choices.map(({ index }) => index));
  const texts = new Set(choices.map(({ content }) => content));
  const saw = `${choices.length} choices, ${texts.size} different`;
  return indexes.size === CHOICE_COUNT && texts.size > 1 ? pass(CHOICES, saw) : fail(CHOICES, saw);
}

export const UNKNOWN_MODEL: Requirement = {
  id: 'unknown_model',
  title: 'an unknown model is refused',
  change: 'A typo in a model name must not be answered by another model: use a server that checks names, as vLLM does.',
};

export async function checkUnknownModel(probe: Probe): Promise<Finding> {
  const body = { ...proseBody(probe, 1), model: `no-such-model-${probe.nonce}` };
  const reply = await send(probe.target, { method: 'POST', path: '/v1/chat/completions', body });
  if (reply.status !== 200) return errorShape(UNKNOWN_MODEL, reply, [404, 400, 422]);
  const echoed = readCompletion(reply.json)?.model ?? null;
  if (echoed !== probe.model) return fail(UNKNOWN_MODEL, 'answered, under a name that is not served');
  // The Worker compares the model name of the reply, so a wrong model is never used silently.
  return notReported(UNKNOWN_MODEL, `names are not checked; answered, and echoed as ${shortened(probe.model)}`);
}

export const BAD_REQUEST: Requirement = {
  id: 'bad_request',
  title: 'a bad request is a 400 with a message',
  change: 'The Worker retries 5xx and never 400: let the gateway pass status and body of errors through.',
};

export async function checkBadRequest(probe: Probe): Promise<Finding> {
  const body = { model: probe.model, messages: 'not a list', max_tokens: 1 };
  const reply = await send(probe.target, { method: 'POST', path: '/v1/chat/completions', body });
  return errorShape(BAD_REQUEST, reply, [400, 422]);
}

function errorShape(
  requirement: Requirement,
  { status, json }: { readonly status: number; readonly json: unknown },
  expected: readonly number[],
): Finding {
  const message = errorMessage(json);
  const saw = `HTTP ${status}, ${message === null ? 'no message' : `"${shortened(message)}"`}`;
  return expected.includes(status) && message !== null ? pass(requirement, saw) : fail(requirement, saw);
}
