/**
 * Reads calls and results that are written in texts, as the Hermes format has them: `<tool_call>{…}</tool_call>` in a
 * policy turn, and `<tool_response>…</tool_response>` in the tool or user turn after it (Qwen's chat template).
 */
import { withoutCode } from '../citations/code.ts';
import { readToolCalls } from '../tools/hermes.ts';
import { sliceText, TextBuilder, type TrajectoryDraft } from './draft.ts';
import type { TracedText, TrajectoryCall, TrajectoryResult, Turn } from './trajectory.ts';

const CALL = '<tool_call>';
const RESPONSE_OPEN = '<tool_response>';
const RESPONSE_CLOSE = '</tool_response>';

/** Whether calls are written in the texts: a policy turn has one, and no turn has calls of its own. */
export function hasWrittenCalls(turns: readonly Turn[]): boolean {
  return (
    turns.every(({ calls }) => calls.length === 0) &&
    turns.some(({ by_policy, text }) => by_policy && text !== null && readToolCalls(text.text).calls.length > 0)
  );
}

/**
 * The beginnings of calls in the syntaxes of other models: Llama, Mistral, DeepSeek, Kimi, MiniMax, Granite and Phi,
 * gpt-oss, Seed, InternLM, Gemma, and functions without their element.
 */
const OTHER_CALL =
  /<\|python_tag\|>|\[TOOL_CALLS\]|<｜(?:tool▁calls▁begin|DSML)｜|<\|tool_calls?(?:_section_begin)?\|>|<(?:minimax:|seed:)tool_call>|<(?:tool|function)_calls>|<function=|<\|action_start\|>|<start_function_call>|to=functions\./;

/**
 * A finding for each policy turn whose text has a call that is in another syntax, or whose element is not closed. Code
 * and thinking call nothing. A turn with a call in a field of its own may have the text of it as well.
 *
 * @param areWritten whether the calls that were read are written in the texts.
 */
export function findUnreadCalls(turns: readonly Turn[], areWritten: boolean, draft: TrajectoryDraft): void {
  for (const { by_policy, text, calls, path } of turns) {
    if (!by_policy || text === null || (calls.length > 0 && !areWritten)) continue;
    if (!hasUnreadCall(text.text)) continue;
    const spoken = withoutThinking(text.text);
    if (hasUnreadCall(withoutCode(spoken, { start: 0, end: spoken.length }).text)) draft.finding('call_unread', path);
  }
}

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';

/** A text without its thinking, the first of which may lack its opening tag, and the last its end. */
function withoutThinking(text: string): string {
  const parts = text.split(THINK_CLOSE);
  const begins = parts.length === 1 || parts[0]?.includes(THINK_OPEN) === true;
  return parts.map((part, n) => (n > 0 || begins ? part.split(THINK_OPEN, 1)[0] : '')).join('\n');
}

function hasUnreadCall(text: string): boolean {
  return text.includes(CALL) || OTHER_CALL.test(text);
}

/** Moves written calls and results out of the texts. */
export function readWrittenCalls(turns: readonly Turn[], draft: TrajectoryDraft): Turn[] {
  return turns.map((turn) => {
    const { text } = turn;
    if (text === null) return turn;
    if (turn.role === 'assistant') return text.text.includes(CALL) ? withCalls(turn, text, draft) : turn;
    return text.text.includes(RESPONSE_OPEN) ? withResults(turn, text) : turn;
  });
}

function withCalls(turn: Turn, text: TracedText, draft: TrajectoryDraft): Turn {
  const outside = new TextBuilder();
  const calls: TrajectoryCall[] = [];
  let from = 0;
  for (const call of readToolCalls(text.text).calls) {
    const { start, end } = call.span;
    outside.addText(sliceText(text, from, start));
    from = end;
    if (!call.ok) draft.finding('arguments_malformed', turn.path);
    else {
      const { name, arguments: given } = call;
      calls.push({ id: null, name, arguments: given, arguments_text: JSON.stringify(given), path: turn.path });
    }
  }
  outside.addText(sliceText(text, from, text.text.length));
  return { ...turn, text: outside.isBlank() && calls.length > 0 ? null : outside.build(), calls };
}

function withResults(turn: Turn, text: TracedText): Turn {
  const outside = new TextBuilder();
  const results: TrajectoryResult[] = [];
  let from = 0;
  for (let open = text.text.indexOf(RESPONSE_OPEN); open !== -1; open = text.text.indexOf(RESPONSE_OPEN, from)) {
    const start = open + RESPONSE_OPEN.length;
    const close = text.text.indexOf(RESPONSE_CLOSE, start);
    const end = close === -1 ? text.text.length : close;
    outside.addText(sliceText(text, from, open));
    results.push({ call_id: null, name: null, output: sliceText(text, start, end), call: null, path: turn.path });
    from = close === -1 ? end : end + RESPONSE_CLOSE.length;
  }
  outside.addText(sliceText(text, from, text.text.length));
  return { ...turn, text: outside.isBlank() ? null : outside.build(), results: [...turn.results, ...results] };
}
