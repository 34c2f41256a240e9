/**
 * Reads items of OpenAI's Responses API, as NeMo Gym sends them: calls, results and reasoning are items of their own,
 * and calls of hosted tools contain their result. Source of the fields: openai/openai-node 7b7d6ca7.
 */
import { isJsonObject } from '../json.ts';
import { type Fields, fieldOf, isAbsent, TextBuilder, type TrajectoryDraft } from './draft.ts';
import type { MessagePath, TracedText, TrajectoryCall, Turn } from './trajectory.ts';

type Item = { readonly item: Fields; readonly position: number; readonly path: MessagePath };

const READERS: Readonly<Record<string, (item: Item, draft: TrajectoryDraft) => void>> = {
  reasoning: readReasoning,
  function_call: (item, draft) => addCall(item, draft, draft.call(item.item, callIdOf(item, draft), item.path)),
  function_call_output: (item, draft) => addResult(item, draft, outputText(item, 'output', draft)),
  custom_tool_call: readCustomCall,
  custom_tool_call_output: (item, draft) => addResult(item, draft, outputText(item, 'output', draft)),
  mcp_call: readMcpCall,
  file_search_call: readFileSearch,
  web_search_call: readWebSearch,
  code_interpreter_call: readCodeInterpreter,
};

/** Whether a message is an item of the Responses API other than a message, which the chat reader reads. */
export function isResponsesItem(item: Fields): boolean {
  const type = fieldOf(item, 'type');
  return typeof type === 'string' && type !== 'message' && isAbsent(fieldOf(item, 'role'));
}

/** Reads one item. An item of an unknown type is a finding. */
export function readResponsesItem(item: Fields, position: number, path: MessagePath, draft: TrajectoryDraft): void {
  const type = fieldOf(item, 'type');
  const read = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read === undefined) draft.finding('item_unread', path);
  else read({ item, position, path }, draft);
}

function callIdOf({ item, path }: Item, draft: TrajectoryDraft): string | null {
  return draft.firstString(item, ['call_id', 'id'], path);
}

const NOTHING = { text: null, thinking: null, calls: [], results: [], finish_reason: null } as const;

function addTurn({ item, position, path }: Item, draft: TrajectoryDraft, turn: Partial<Turn>): void {
  const role = turn.role ?? 'assistant';
  const by_policy = draft.byPolicy(item, position, role, path);
  draft.turns.push({ ...NOTHING, ...turn, role, by_policy, message: position, path });
}

function addCall(item: Item, draft: TrajectoryDraft, call: TrajectoryCall | null): void {
  if (call !== null && draft.countPart(item.path)) addTurn(item, draft, { calls: [call] });
}

/** Adds a result as a turn of the tool. @param output `null` after a problem. */
function addResult(item: Item, draft: TrajectoryDraft, output: TracedText | null): void {
  if (output === null || !draft.countPart(item.path)) return;
  const call_id = callIdOf(item, draft);
  const name = draft.string(item.item, 'name', item.path);
  const { position, path } = item;
  const result = { call_id, name, output, call: null, path };
  draft.turns.push({ ...NOTHING, role: 'tool', results: [result], by_policy: false, message: position, path });
}

/** Reads a text or a list of parts; `null` after a problem. */
function outputText({ item, path }: Item, field: string, draft: TrajectoryDraft): TracedText | null {
  const given = fieldOf(item, field);
  const at = [...path, field];
  const text = new TextBuilder();
  if (typeof given === 'string') text.add(given, at);
  else if (Array.isArray(given)) addParts(given, at, draft, text);
  else if (!isAbsent(given)) {
    draft.expected(at, 'a string or an array of parts', given);
    return null;
  }
  return text.build();
}

/** Adds the texts of parts. Parts without text (images, files) are findings. */
function addParts(parts: readonly unknown[], path: MessagePath, draft: TrajectoryDraft, text: TextBuilder): void {
  for (const [n, part] of parts.entries()) {
    const at = [...path, n];
    if (!draft.countPart(at)) return;
    const own = isJsonObject(part) ? fieldOf(part, 'text') : part;
    if (typeof own !== 'string') draft.finding('part_unread', at);
    else {
      if (!text.isEmpty()) text.addOwn('\n');
      text.add(own, isJsonObject(part) ? [...at, 'text'] : at);
    }
  }
}

/** Reads the reasoning itself, or else its summary. Encrypted reasoning has neither. */
function readReasoning(item: Item, draft: TrajectoryDraft): void {
  const thinking = new TextBuilder();
  for (const field of ['content', 'summary']) {
    const parts = fieldOf(item.item, field);
    if (Array.isArray(parts)) addParts(parts, [...item.path, field], draft, thinking);
    if (!thinking.isEmpty()) break;
  }
  if (thinking.isEmpty()) draft.finding('item_unread', item.path);
  else addTurn(item, draft, { thinking: thinking.build() });
}

/** The input of a custom tool is a text of any form. */
function readCustomCall(item: Item, draft: TrajectoryDraft): void {
  const input = draft.string(item.item, 'input', item.path) ?? '';
  const id = callIdOf(item, draft);
  addCall(item, draft, draft.call({ name: fieldOf(item.item, 'name'), arguments: { input } }, id, item.path));
}

/** An MCP call contains its output, or the error in its place. */
function readMcpCall(item: Item, draft: TrajectoryDraft): void {
  addCall(item, draft, draft.call(item.item, callIdOf(item, draft), item.path));
  const field = isAbsent(fieldOf(item.item, 'output')) ? 'error' : 'output';
  const error = fieldOf(item.item, field);
  if (isAbsent(error)) return;
  if (isJsonObject(error)) draft.finding('part_unread', [...item.path, field]);
  else addResult(item, draft, outputText(item, field, draft));
}

function readFileSearch(item: Item, draft: TrajectoryDraft): void {
  const queries = fieldOf(item.item, 'queries');
  const query = Array.isArray(queries) ? queries.filter((one) => typeof one === 'string').join('\n') : '';
  addCall(item, draft, draft.call({ name: 'file_search', arguments: { query } }, callIdOf(item, draft), item.path));
  const results = fieldOf(item.item, 'results');
  if (!Array.isArray(results)) return;
  const text = new TextBuilder();
  addParts(results, [...item.path, 'results'], draft, text);
  addResult(item, draft, text.build());
}

/** The item has the query, but not what the search found. */
function readWebSearch(item: Item, draft: TrajectoryDraft): void {
  const action = fieldOf(item.item, 'action');
  const given = isJsonObject(action) ? action : {};
  addCall(item, draft, draft.call({ name: 'web_search', arguments: given }, callIdOf(item, draft), item.path));
}

function readCodeInterpreter(item: Item, draft: TrajectoryDraft): void {
  const code = draft.string(item.item, 'code', item.path) ?? '';
  const call = draft.call({ name: 'code_interpreter', arguments: { code } }, callIdOf(item, draft), item.path);
  addCall(item, draft, call);
  const outputs = fieldOf(item.item, 'outputs');
  if (!Array.isArray(outputs)) return;
  const text = new TextBuilder();
  for (const [n, output] of outputs.entries()) {
    const at = [...item.path, 'outputs', n];
    if (!draft.countPart(at)) return;
    const logs = isJsonObject(output) ? fieldOf(output, 'logs') : undefined;
    if (typeof logs === 'string') text.add(logs, [...at, 'logs']);
    else draft.finding('part_unread', at);
  }
  addResult(item, draft, text.build());
}
