/**
 * Reads chat messages: OpenAI's, and the variants that trainers made of them. Sources, each read in code:
 * - TRL (huggingface/trl f2cd5771): arguments are objects, neither calls nor results have ids, and the content of a
 *   tool message is Python's `str(result)`.
 * - verifiers (PrimeIntellect-ai/verifiers a60a606e): calls are flat, `sampled: false` marks context.
 * - LongTraceRL (THU-KEG/LongTraceRL 415b6433) and CaRR (THUDM/CaRR c97e7e89): `reasoning_content`; calls have
 *   `tool_call_id`, and the content of a tool message is a list of `{tool_call_id, output}`.
 */
import {
  type Fields,
  fieldOf,
  isAbsent,
  isRecord,
  isTooLong,
  TextBuilder,
  type TrajectoryDraft,
  wholeText,
} from './draft.ts';
import type { MessagePath, TracedText, TrajectoryCall, TrajectoryResult, TurnRole } from './trajectory.ts';

const ROLES: Readonly<Record<string, TurnRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
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
  const common = {
    role,
    message: position,
    path,
    by_policy: draft.byPolicy(message, position, role, path),
    finish_reason: draft.firstString(message, ['finish_reason', 'stop_reason'], path),
  };
  if (role === 'tool') {
    draft.turns.push({ ...common, text: null, thinking: null, calls: [], results: toolResults(message, path, draft) });
    return;
  }
  if (!isAbsent(fieldOf(message, 'truncated_content'))) {
    draft.finding('content_truncated', [...path, 'truncated_content']);
  }
  if (draft.string(message, 'refusal', path) !== null) draft.finding('refusal', [...path, 'refusal']);
  const thinking = new TextBuilder();
  for (const name of ['reasoning_content', 'reasoning', 'thinking']) {
    const text = draft.string(message, name, path);
    if (text === null) continue;
    if (isTooLong(text)) draft.tooLong([...path, name]);
    thinking.add(text, [...path, name]);
    break;
  }
  const text = contentText(message, path, draft, thinking);
  const thought = thinking.build();
  draft.turns.push({
    ...common,
    text,
    thinking: thought.pieces.length === 0 ? null : thought,
    calls: toolCalls(message, path, draft),
    results: [],
  });
}

/** Names of the parts whose `text` is the visible text. */
const TEXT_PARTS: ReadonlySet<unknown> = new Set(['text', 'output_text', 'input_text', undefined, null]);

/**
 * Reads the content of a message: a text, or parts. Texts of parts are joined without a separator, as chat templates
 * join them. Parts of thinking go to `thinking`; parts without text (images, files) are findings.
 */
function contentText(
  message: Fields,
  path: MessagePath,
  draft: TrajectoryDraft,
  thinking: TextBuilder,
): TracedText | null {
  const content = fieldOf(message, 'content');
  const at = [...path, 'content'];
  if (isAbsent(content)) return null;
  if (typeof content === 'string') {
    if (isTooLong(content)) draft.tooLong(at);
    return wholeText(content, at);
  }
  if (!Array.isArray(content)) {
    draft.expected(at, 'a string or an array of parts', content);
    return null;
  }
  const text = new TextBuilder();
  for (const [position, part] of content.entries()) readPart(part, [...at, position], draft, text, thinking);
  return text.build();
}

function readPart(
  part: unknown,
  path: MessagePath,
  draft: TrajectoryDraft,
  text: TextBuilder,
  thinking: TextBuilder,
): void {
  if (!draft.countPart(path)) return;
  if (typeof part === 'string') {
    text.add(part, path);
    return;
  }
  if (!isRecord(part)) {
    draft.expected(path, 'a part: a string, or an object with text', part);
    return;
  }
  const type = fieldOf(part, 'type');
  const own = fieldOf(part, 'text');
  const thought = fieldOf(part, 'thinking');
  if (TEXT_PARTS.has(type) && typeof own === 'string') text.add(own, [...path, 'text']);
  else if (type === 'thinking' && typeof thought === 'string') thinking.add(thought, [...path, 'thinking']);
  else if (type === 'reasoning' && typeof own === 'string') thinking.add(own, [...path, 'text']);
  else if (type === 'refusal') draft.finding('refusal', path);
  else if (TEXT_PARTS.has(type) && type !== undefined && type !== null)
    draft.expected([...path, 'text'], 'a string', own);
  else draft.finding('part_unread', path);
}

/** Reads calls, nested below `function` (OpenAI, TRL) or flat (verifiers, CaRR), and OpenAI's old `function_call`. */
function toolCalls(message: Fields, path: MessagePath, draft: TrajectoryDraft): TrajectoryCall[] {
  const calls: TrajectoryCall[] = [];
  const add = (value: unknown, at: MessagePath): void => {
    if (!draft.countPart(at)) return;
    if (!isRecord(value)) {
      draft.expected(at, 'a tool call: an object', value);
      return;
    }
    const id = draft.firstString(value, ['id', 'tool_call_id', 'call_id'], at);
    const nested = fieldOf(value, 'function');
    const call = isRecord(nested) ? draft.call(nested, id, [...at, 'function']) : draft.call(value, id, at);
    if (call !== null) calls.push(call);
  };
  const given = fieldOf(message, 'tool_calls');
  if (Array.isArray(given)) for (const [n, value] of given.entries()) add(value, [...path, 'tool_calls', n]);
  else if (!isAbsent(given)) draft.expected([...path, 'tool_calls'], 'an array', given);
  const old = fieldOf(message, 'function_call');
  if (!isAbsent(old)) add(old, [...path, 'function_call']);
  return calls;
}

/** Reads a tool message: one result, or one for each entry of `content` that has an `output` (LongTraceRL, CaRR). */
function toolResults(message: Fields, path: MessagePath, draft: TrajectoryDraft): TrajectoryResult[] {
  const content = fieldOf(message, 'content');
  const entries = Array.isArray(content) ? content.entries() : [];
  const outputs: TrajectoryResult[] = [];
  const rest = new TextBuilder();
  let others = 0;
  for (const [n, entry] of entries) {
    const at = [...path, 'content', n];
    const output = isRecord(entry) ? fieldOf(entry, 'output') : undefined;
    if (!isRecord(entry) || output === undefined) {
      others++;
      readPart(entry, at, draft, rest, rest);
      continue;
    }
    if (!draft.countPart(at)) break;
    const text = typeof output === 'string' ? output : null;
    if (text === null) draft.expected([...at, 'output'], 'a string', output);
    outputs.push({
      call_id: draft.firstString(entry, ['tool_call_id', 'call_id'], at),
      name: draft.string(entry, 'name', at),
      output: wholeText(text ?? '', [...at, 'output']),
      call: null,
      path: at,
    });
  }
  if (outputs.length > 0 && others === 0) return outputs;
  const whole = Array.isArray(content) ? rest.build() : contentText(message, path, draft, rest);
  const one: TrajectoryResult = {
    call_id: draft.firstString(message, ['tool_call_id', 'call_id'], path),
    name: draft.string(message, 'name', path),
    output: whole ?? { text: '', pieces: [] },
    call: null,
    path,
  };
  return [...outputs, one];
}
