/**
 * Reads chat messages: OpenAI's, and the variants that trainers made of them. Sources, each read in code:
 * - TRL (huggingface/trl f2cd5771): arguments are objects, neither calls nor results have ids, and the content of a
 *   tool message is Python's `str(result)`.
 * - verifiers (PrimeIntellect-ai/verifiers a60a606e): calls are flat, `sampled: false` marks context.
 * - Anthropic: thinking, calls and results are parts; results are parts of user messages.
 * - LongTraceRL (THU-KEG/LongTraceRL 415b6433) and CaRR (THUDM/CaRR c97e7e89): `reasoning_content`; calls have
 *   `tool_call_id`, and the content of a tool message is a list of `{tool_call_id, output}`.
 */
import { isJsonObject } from '../json.ts';
import { type Fields, fieldOf, isAbsent, isTooLong, TextBuilder, type TrajectoryDraft, wholeText } from './draft.ts';
import type { MessagePath, TrajectoryCall, TrajectoryResult, TurnRole } from './trajectory.ts';

const ROLES: Readonly<Record<string, TurnRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** What the parts of one message add up to. */
type Parts = {
  readonly text: TextBuilder;
  readonly thinking: TextBuilder;
  readonly calls: TrajectoryCall[];
  readonly results: TrajectoryResult[];
};

/** Anthropic's stop reasons in OpenAI's words, which recipes read. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
};

/** Reads one message into one turn. */
export function readChatMessage(message: Fields, position: number, path: MessagePath, draft: TrajectoryDraft): void {
  const given = fieldOf(message, 'role');
  if (typeof given !== 'string') {
    draft.expected([...path, 'role'], 'a role: "system", "user", "assistant" or "tool"', given);
    return;
  }
  const role = Object.hasOwn(ROLES, given) ? (ROLES[given] ?? 'other') : 'other';
  if (role === 'other') draft.finding('role_unknown', [...path, 'role']);
  const stopped = draft.firstString(message, ['finish_reason', 'stop_reason'], path);
  const common = {
    role,
    message: position,
    path,
    by_policy: draft.byPolicy(message, position, role, path),
    finish_reason: stopped !== null && Object.hasOwn(STOP_REASONS, stopped) ? (STOP_REASONS[stopped] ?? null) : stopped,
  };
  if (role === 'tool') {
    draft.turns.push({ ...common, text: null, thinking: null, calls: [], results: toolResults(message, path, draft) });
    return;
  }
  if (!isAbsent(fieldOf(message, 'truncated_content'))) {
    draft.finding('content_truncated', [...path, 'truncated_content']);
  }
  if (draft.string(message, 'refusal', path) !== null) draft.finding('refusal', [...path, 'refusal']);
  const parts: Parts = { text: new TextBuilder(), thinking: new TextBuilder(), calls: [], results: [] };
  addThinking(message, path, draft, parts.thinking);
  const hasContent = readContent(message, path, draft, parts);
  addCalls(message, path, draft, parts.calls);
  const { text, thinking, calls, results } = parts;
  draft.turns.push({
    ...common,
    // Parts that are only calls or results are no text.
    text: !hasContent || (text.isEmpty() && calls.length + results.length > 0) ? null : text.build(),
    thinking: thinking.isEmpty() ? null : thinking.build(),
    calls,
    results,
  });
}

function addThinking(message: Fields, path: MessagePath, draft: TrajectoryDraft, thinking: TextBuilder): void {
  for (const name of ['reasoning_content', 'reasoning', 'thinking']) {
    const text = draft.string(message, name, path);
    if (text === null) continue;
    if (isTooLong(text)) draft.tooLong([...path, name]);
    thinking.add(text, [...path, name]);
    return;
  }
}

/**
 * Reads the content of a message: a text, or parts. Texts of parts are joined without a separator, as chat templates
 * join them. Returns whether there is content.
 */
function readContent(message: Fields, path: MessagePath, draft: TrajectoryDraft, parts: Parts): boolean {
  const content = fieldOf(message, 'content');
  const at = [...path, 'content'];
  if (isAbsent(content)) return false;
  if (typeof content === 'string') {
    if (isTooLong(content)) draft.tooLong(at);
    parts.text.add(content, at);
  } else if (Array.isArray(content)) {
    for (const [position, part] of content.entries()) readPart(part, [...at, position], draft, parts);
  } else draft.expected(at, 'a string or an array of parts', content);
  return true;
}

/** Types of the parts whose `text` is the visible text. */
const TEXT_PARTS: ReadonlySet<unknown> = new Set(['text', 'output_text', 'input_text']);

/** Reads one part. Calls and results as parts are Anthropic's; parts without text (images, files) are findings. */
function readPart(part: unknown, path: MessagePath, draft: TrajectoryDraft, parts: Parts): void {
  if (!draft.countPart(path)) return;
  if (typeof part === 'string') {
    parts.text.add(part, path);
    return;
  }
  if (!isJsonObject(part)) {
    draft.expected(path, 'a part: a string, or an object with text', part);
    return;
  }
  const type = fieldOf(part, 'type');
  const text = fieldOf(part, 'text');
  switch (type) {
    case 'thinking':
    case 'reasoning': {
      const thought = fieldOf(part, 'thinking') ?? text;
      if (typeof thought !== 'string') draft.finding('part_unread', path);
      else parts.thinking.add(thought, [...path, thought === text ? 'text' : 'thinking']);
      return;
    }
    case 'tool_use':
    case 'server_tool_use': {
      const call = draft.call(part, draft.string(part, 'id', path), path);
      if (call !== null) parts.calls.push(call);
      return;
    }
    case 'tool_result': {
      const inner: Parts = { text: new TextBuilder(), thinking: new TextBuilder(), calls: [], results: [] };
      readContent(part, path, draft, inner);
      const call_id = draft.string(part, 'tool_use_id', path);
      parts.results.push({ call_id, name: null, output: inner.text.build(), call: null, path });
      return;
    }
    case 'refusal':
      draft.finding('refusal', path);
      return;
    default:
      if (typeof text === 'string' && (isAbsent(type) || TEXT_PARTS.has(type))) parts.text.add(text, [...path, 'text']);
      else if (TEXT_PARTS.has(type)) draft.expected([...path, 'text'], 'a string', text);
      else draft.finding('part_unread', path);
  }
}

/** Reads calls, nested below `function` (OpenAI, TRL) or flat (verifiers, CaRR), and OpenAI's old `function_call`. */
function addCalls(message: Fields, path: MessagePath, draft: TrajectoryDraft, calls: TrajectoryCall[]): void {
  const add = (value: unknown, at: MessagePath): void => {
    if (!draft.countPart(at)) return;
    if (!isJsonObject(value)) {
      draft.expected(at, 'a tool call: an object', value);
      return;
    }
    const id = draft.firstString(value, ['id', 'tool_call_id', 'call_id'], at);
    const nested = fieldOf(value, 'function');
    const call = isJsonObject(nested) ? draft.call(nested, id, [...at, 'function']) : draft.call(value, id, at);
    if (call !== null) calls.push(call);
  };
  const given = fieldOf(message, 'tool_calls');
  if (Array.isArray(given)) for (const [n, value] of given.entries()) add(value, [...path, 'tool_calls', n]);
  else if (!isAbsent(given)) draft.expected([...path, 'tool_calls'], 'an array', given);
  const old = fieldOf(message, 'function_call');
  if (!isAbsent(old)) add(old, [...path, 'function_call']);
}

/** Reads a tool message: one result, or one for each entry of `content` that has an `output` (LongTraceRL, CaRR). */
function toolResults(message: Fields, path: MessagePath, draft: TrajectoryDraft): TrajectoryResult[] {
  const content = fieldOf(message, 'content');
  const entries = Array.isArray(content) ? content : [];
  const outputs: TrajectoryResult[] = [];
  const rest: Parts = { text: new TextBuilder(), thinking: new TextBuilder(), calls: [], results: [] };
  for (const [n, entry] of entries.entries()) {
    const at = [...path, 'content', n];
    const output = isJsonObject(entry) ? fieldOf(entry, 'output') : undefined;
    if (!isJsonObject(entry) || output === undefined) {
      readPart(entry, at, draft, rest);
      continue;
    }
    if (!draft.countPart(at)) break;
    if (typeof output !== 'string') {
      draft.expected([...at, 'output'], 'a string', output);
      continue;
    }
    outputs.push({
      call_id: draft.firstString(entry, ['tool_call_id', 'call_id'], at),
      name: draft.string(entry, 'name', at),
      output: wholeText(output, [...at, 'output']),
      call: null,
      path: at,
    });
  }
  if (outputs.length > 0 && outputs.length === entries.length) return outputs;
  if (!Array.isArray(content)) readContent(message, path, draft, rest);
  const one: TrajectoryResult = {
    call_id: draft.firstString(message, ['tool_call_id', 'call_id'], path),
    name: draft.string(message, 'name', path),
    output: rest.text.build(),
    call: null,
    path,
  };
  return [...outputs, ...rest.results, one];
}
