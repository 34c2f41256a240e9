/**
 * Replies of judges in the forms of several servers: each is a reply or a named failure, never a verdict by accident.
 * The forms are those of Azure, OpenRouter, LiteLLM, Mistral, Gemini, Anthropic behind a gateway, Together and TGI.
 */
import { describe, expect, it } from 'vitest';
import { ChatCompletionReader } from '../../../lib/model-servers/dialects/completion-reader.ts';
import { openAiCompatible } from '../../../lib/open-ai-compatible.ts';

function outcomeOf(...chunks: readonly object[]) {
  const reader = new ChatCompletionReader({ answers_as: 'judge', pinned: 'judge', echo: 'must' });
  for (const chunk of chunks) {
    const failure = reader.accept(chunk);
    if (failure !== null) return failure;
  }
  const outcome = reader.outcome();
  return outcome.ok ? outcome.completion.text : outcome.failure;
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  model: 'judge',
  choices: [{ index: 0, delta, finish_reason }],
});
const END = chunk({}, 'stop');

describe('the content filter of Azure', () => {
  const prompt = { id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
  const late = { id: '', model: '', choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] };

  it('says nothing about the model', () => {
    expect(outcomeOf(prompt, chunk({ content: '{"a"' }), late, chunk({ content: ': 1}' }), END)).toBe('{"a": 1}');
  });

  it.each([
    ['an empty model with text', { model: '', choices: [{ index: 0, delta: { content: 'x' } }] }],
    ['another model without text', { model: 'other', choices: [] }],
  ])('%s is another model', (_, other) => {
    expect(outcomeOf(chunk({ content: 'x' }), other, END)).toMatchObject({ reason: 'judge_model_mismatch' });
  });
});

it('a chunk of the filter with an empty delta says nothing about the model', () => {
  const late = { model: '', choices: [{ index: 0, delta: {}, finish_reason: null, content_filter_offsets: {} }] };
  expect(outcomeOf(chunk({ content: '{}' }), late, END)).toBe('{}');
});

it('joins content in parts', () => {
  const message = { content: [{ type: 'text', text: '{"a"' }, { type: 'image' }, { type: 'text', text: ': 1}' }] };
  expect(outcomeOf({ model: 'judge', choices: [{ message, finish_reason: 'stop' }] })).toBe('{"a": 1}');
});

describe('a reply in the field of the thinking', () => {
  it.each(['reasoning_content', 'reasoning'])('%s alone names the setting', (field) => {
    const failure = outcomeOf(chunk({ [field]: '{"a": 1}' }), END);
    expect(failure).toMatchObject({ reason: 'judge_reply_invalid' });
    expect(JSON.stringify(failure)).toContain('--reasoning-parser');
  });

  it('beside a reply is dropped', () => {
    expect(outcomeOf(chunk({ reasoning_content: 'I think.' }), chunk({ content: '{}' }), END)).toBe('{}');
  });

  it('an empty reply without it stays empty', () => {
    expect(outcomeOf(chunk({ content: '' }), END)).toBe('');
  });
});

const REPLY = '{"reason": "Yes.", "score": 1}';
const whole = (message: object, finish_reason = 'stop') => ({ model: 'judge', choices: [{ message, finish_reason }] });

const WHOLE: readonly (readonly [string, readonly object[]])[] = [
  ['the usage in a chunk without choices', [chunk({ content: REPLY }), END, { object: 'chat.completion.chunk' }]],
  [
    'choices null beside the usage',
    [chunk({ content: REPLY }), END, { choices: null, usage: { prompt_tokens: 1, completion_tokens: 1 } }],
  ],
  [
    'thinking in parts',
    [
      whole({
        content: [
          { type: 'reasoning', text: '0' },
          { type: 'text', text: REPLY },
        ],
      }),
    ],
  ],
  [
    'thinking in nested parts (Mistral)',
    [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: '0' }] }] }),
      chunk({ content: [{ type: 'text', text: REPLY }] }),
      END,
    ],
  ],
  ['empty lists of calls and of thinking', [whole({ content: REPLY, tool_calls: [], reasoning_details: [] })]],
  ...['STOP', 'end_turn', 'COMPLETE', 'eos', 'eos_token'].map(
    (end) => [`the end ${end}`, [whole({ content: REPLY }, end)]] as const,
  ),
  ['an error that is null', [{ ...whole({ content: REPLY }), error: null }]],
  ...['response_text', 'message', 'json', 'Text', 'text_delta', 'input_text', null].map(
    (type) => [`a part of type ${type}`, [whole({ content: [{ type, text: REPLY }] })]] as const,
  ),
  ...[{ text: 'x' }, ['x'], 3].map((thinking) => {
    const content = [
      { type: 'thinking', thinking },
      { type: 'text', text: REPLY },
    ];
    return [`thinking as ${JSON.stringify(thinking)}`, [whole({ content })]] as const;
  }),
  ...['Reasoning', 'redacted_thinking', 'summary_text'].map((type) => {
    const content = [
      { type, text: '0' },
      { type: 'text', text: REPLY },
    ];
    return [`${type} beside the reply`, [whole({ content })]] as const;
  }),
  ...['', {}, null].map((error) => {
    const message = { content: REPLY };
    const choices = [{ message, finish_reason: 'stop', error }];
    return [`the error ${JSON.stringify(error)} in a choice`, [{ model: 'judge', choices }]] as const;
  }),
];

it.each(WHOLE)('a whole reply: %s', (_, chunks) => {
  expect(outcomeOf(...chunks)).toBe(REPLY);
});

describe('a reply that is none names its cause', () => {
  const failed = (error: object) => ({ model: 'judge', choices: [{ message: { content: REPLY }, error }] });
  it.each([
    ['a call with the reason stop', whole({ content: null, tool_calls: [{}] }), 'judge_reply_invalid', 'called a tool'],
    ['a refusal in parts', whole({ content: [{ type: 'refusal', refusal: 'No.' }] }), 'judge_refusal', 'refused'],
    ['line breaks beside thinking', whole({ content: '\n\n', reasoning: REPLY }), 'judge_reply_invalid', 'parser'],
    [
      'thinking in parts alone',
      whole({ content: [{ type: 'thinking', thinking: REPLY }] }),
      'judge_reply_invalid',
      'parser',
    ],
    ['OpenRouter details alone', whole({ content: '', reasoning_details: [{}] }), 'judge_reply_invalid', 'parser'],
    [
      'thinking to the limit',
      whole({ content: '', reasoning: 'x' }, 'length'),
      'judge_reply_cut',
      'judge_options.thinking',
    ],
    ['the end MAX_TOKENS', whole({ content: REPLY }, 'MAX_TOKENS'), 'judge_reply_cut', 'token limit'],
    ['the end SAFETY', whole({ content: REPLY }, 'SAFETY'), 'judge_refusal', 'filter'],
    ['an unknown end', whole({ content: REPLY }, 'done'), 'judge_error', 'no success'],
    ['an error in a choice', failed({ code: 429, message: 'x' }), 'judge_rate_limited', '429'],
    [
      'an error in a choice that stopped',
      { ...failed({ code: 502 }), finish_reason: 'stop' },
      'judge_unreachable',
      '502',
    ],
    ['an error named by its type', { error: { type: 'overloaded_error' } }, 'judge_overloaded', '529'],
    ['a limit named by its type', { error: { type: 'rate_limit_error' } }, 'judge_rate_limited', '429'],
    ['an account without credit', { error: { code: 'insufficient_quota' } }, 'judge_rate_limited', 'no credit'],
    ['an error of a filter', { error: { code: 'content_filter', status: 400 } }, 'judge_refusal', 'filter'],
    ['a message of Anthropic', { type: 'message', model: 'judge', usage: { input_tokens: 1 } }, 'judge_not_an_api', ''],
    ['an empty object', {}, 'judge_not_an_api', ''],
    ['another model', { model: 'judge-2024', choices: [] }, 'judge_model_mismatch', 'answers_as'],
  ])('%s', (_, reply, reason, cause) => {
    const failure = outcomeOf(reply);
    expect(failure).toMatchObject({ reason });
    expect(JSON.stringify(failure)).toContain(cause);
  });
});

it.each(['constructor', '__proto__'])('an error of type %s is an error', (type) => {
  expect(outcomeOf({ error: { type } })).toMatchObject({
    reason: 'judge_error',
    detail: expect.stringContaining('error'),
  });
});

/** The judgment of one graded answer, from a server that replies with this body. */
async function judged(status: number, type: string, body: string) {
  const judge = openAiCompatible({
    baseUrl: 'https://judge.example/v1',
    model: 'judge',
    fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
  });
  const request = {
    kind: 'grader',
    messages: [{ role: 'user', parts: [{ text: 'Grade.' }] }],
    output: { range: [0, 1] },
  } as const;
  const reply = await judge.judge(request, { deadline_ms: 1_500 });
  return reply.ok ? reply.verdicts : `${reply.failure.reason} ${reply.failure.detail}`;
}

describe('a body under another type', () => {
  const stream = (...chunks: object[]) => chunks.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('');
  const SSE = 'text/event-stream';
  const JSON_TYPE = 'application/json';

  it.each([
    ['a whole reply as a stream', SSE, JSON.stringify(whole({ content: REPLY }))],
    ['a stream as a whole reply', JSON_TYPE, `: ping\n\n${stream(chunk({ content: REPLY }), END)}`],
    ['a stream with comments, without [DONE]', SSE, `: ping\r\n\r\n${stream(chunk({ content: REPLY }), END)}`],
  ])('%s is read', async (_, type, body) => {
    expect(await judged(200, type, body)).toEqual({ kind: 'grader', value: 1 });
  });

  it.each(['id: 1', 'retry: 3', 'event: message', ': ping'])('a stream that begins with %s is read', async (line) => {
    const body = `${line}\n${stream(chunk({ content: REPLY }), END)}`;
    expect(await judged(200, JSON_TYPE, body)).toEqual({ kind: 'grader', value: 1 });
  });

  it.each([
    ['an error as a stream', 200, SSE, '{"error": {"message": "x", "code": "401"}}', 'judge_unauthorized'],
    ['an error within a stream', 200, SSE, 'event: error\ndata: {"error": {"type": "overloaded_error"}}\n\n', '529'],
    ['a filter of Azure', 400, JSON_TYPE, '{"error": {"code": "content_filter", "param": "prompt"}}', 'judge_refusal'],
    ['no credit', 402, JSON_TYPE, '{"error": {"code": 402}}', 'no credit'],
    ['a stream that breaks off', 200, SSE, stream(chunk({ content: REPLY })), 'judge_interrupted'],
  ])('%s is a failure', async (_, status, type, body, cause) => {
    expect(await judged(status, type, body)).toContain(cause);
  });
});

describe('a text that is no reply names its cause', () => {
  const THINKING = 'judge_options';
  const UNGUIDED = 'response_format';
  it.each([
    ['nothing', '', 'the reply is empty'],
    ['thinking in the text', `<think>\nHm.\n</think>\n\n${REPLY}`, THINKING],
    ['thinking that never ends', `<think>${REPLY}`, THINKING],
    ['thinking of Mistral', `[THINK]Hm.[/THINK]${REPLY}`, THINKING],
    ['channels of gpt-oss', `<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>${REPLY}`, THINKING],
    ['words', 'I am sorry, but I cannot assist with that.', UNGUIDED],
    ['a number', '1', UNGUIDED],
    ['words before', `Here it is:\n${REPLY}`, 'before'],
    ['words behind', `${REPLY}\nI hope that this helps.`, 'behind'],
    ['a control token behind', `${REPLY}<|im_end|>`, 'behind'],
    ['half an object', REPLY.slice(0, -3), 'breaks off'],
    ['two objects', REPLY + REPLY, 'behind'],
    ['NaN', '{"reason": "", "score": NaN}', 'malformed'],
    ['a number as text', '{"reason": "", "score": "0.8"}', 'score: missing, or of another type'],
    ['percent', '{"reason": "", "score": "80%"}', 'score: missing, or of another type'],
    ['a word', '{"reason": "", "score": "Yes"}', 'score: missing, or of another type'],
    ['a score beyond the range', '{"reason": "", "score": 80}', 'outside the range'],
    ['a member more', '{"reason": "", "score": 1, "confidence": 0.5}', 'not asked for'],
  ])('%s', async (_, text, cause) => {
    const failure = await judged(200, 'application/json', JSON.stringify(whole({ content: text })));
    expect(failure).toContain('judge_reply_invalid');
    expect(failure).toContain(cause);
  });

  it('a fenced object is a reply', async () => {
    const text = `\`\`\`json\n${REPLY}\n\`\`\``;
    expect(await judged(200, 'application/json', JSON.stringify(whole({ content: text })))).toMatchObject({ value: 1 });
  });
});

it('keeps the log-probabilities of a stream, of a whole reply, and none where there are none', () => {
  const tokensOf = (...chunks: readonly object[]): readonly unknown[] => {
    const reader = new ChatCompletionReader({ answers_as: 'judge', pinned: 'judge', echo: 'must' });
    for (const one of chunks) expect(reader.accept(one)).toBeNull();
    return reader.logprobs;
  };
  const token = (text: string) => ({ token: text, logprob: -0.1, bytes: null, top_logprobs: [] });
  const piece = (text: string) => ({
    model: 'judge',
    choices: [{ index: 0, delta: { content: text }, logprobs: { content: [token(text)], refusal: null } }],
  });
  expect(tokensOf(piece('{"a"'), piece(': 1}'), END)).toEqual([token('{"a"'), token(': 1}')]);
  const message = { role: 'assistant', content: '{}' };
  const choice = { index: 0, message, logprobs: { content: [token('{}')] }, finish_reason: 'stop' };
  expect(tokensOf({ model: 'judge', choices: [choice] })).toEqual([token('{}')]);
  for (const logprobs of [null, { content: null }, {}, 'none', { content: 'odd' }]) {
    expect(tokensOf({ model: 'judge', choices: [{ index: 0, message, logprobs, finish_reason: 'stop' }] })).toEqual([]);
  }
});
