/**
 * Reads the tool calls of one assistant turn, from its text or as the server parsed them, and explains unusable calls.
 */

import type { NativeToolCall } from '../generation/generator.ts';
import { parsedJson } from '../json.ts';
import { type MalformedCall, readToolCalls, readToolCallsAsVerl, type ToolCall } from '../tools/hermes.ts';
import { AGENT_TOOLS, type AgentCall, type AgentSettings, type AgentTool, type CallProblem } from './types.ts';

/** A call and the code it runs; `null` = the call cannot run, and `problem` says why. */
export type ReadCall = { readonly call: AgentCall; readonly code: string | null };

type TurnText = { readonly text: string; readonly native: readonly NativeToolCall[] };

/**
 * The calls of a turn, in order. Calls in the text count only if the server parsed none, because a server that parses
 * calls leaves only unreadable ones in the text. With `bad_calls: "as_training"` malformed calls are left out, as in
 * verl.
 */
export function readTurnCalls(
  { text, native }: TurnText,
  { tools, bad_calls }: Pick<AgentSettings, 'tools' | 'bad_calls'>,
): ReadCall[] {
  if (tools.length === 0) return [];
  if (native.length > 0) {
    const calls = native.map((call) => readNative(call, tools));
    return bad_calls === 'show' ? calls : calls.filter(({ call }) => !isUnreadable(call.problem));
  }
  if (bad_calls === 'show') return readToolCalls(text).calls.map((call) => readText(call, tools));
  return readToolCallsAsVerl(text).calls.map((call) => readNative({ id: null, ...call }, tools));
}

/** Calls that verl's parser drops silently. */
function isUnreadable(problem: CallProblem | null): boolean {
  return problem === 'not_json' || problem === 'no_name';
}

function readText(call: ToolCall | MalformedCall, tools: readonly AgentTool[]): ReadCall {
  if (!call.ok) return bad({ id: null, name: null, arguments: null }, call.reason);
  return examined({ id: null, name: call.name, arguments: JSON.stringify(call.arguments) }, call.arguments, tools);
}

function readNative(
  call: { readonly id: string | null; readonly name: string; readonly arguments: string },
  tools: readonly AgentTool[],
): ReadCall {
  const { id, name } = call;
  const read = { id, name, arguments: call.arguments };
  if (name === '') return bad({ ...read, name: null }, 'no_name');
  const given = parsedJson(call.arguments);
  if (given === undefined) return bad(read, 'not_json');
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return bad(read, 'arguments_not_object');
  return examined(read, given, tools);
}

function examined(call: Omit<AgentCall, 'problem'>, given: object, tools: readonly AgentTool[]): ReadCall {
  if (!tools.some((tool) => tool === call.name)) return bad(call, 'unknown_tool');
  const code = 'code' in given ? given.code : undefined;
  return typeof code === 'string' ? { call: { ...call, problem: null }, code } : bad(call, 'code_missing');
}

function bad(call: Omit<AgentCall, 'problem'>, problem: CallProblem): ReadCall {
  return { call: { ...call, problem }, code: null };
}

const SHAPE = 'one JSON object with a "name" and an object of "arguments"';

const PROBLEM_TEXTS: Readonly<Record<CallProblem, string>> = {
  not_json: `the call is not valid JSON. Write ${SHAPE}, line breaks inside strings as \\n.`,
  no_name: `the call names no function. Write ${SHAPE}.`,
  arguments_not_object: `"arguments" is missing or is no object. Write ${SHAPE}.`,
  unknown_tool: `there is no function of that name. There is: ${AGENT_TOOLS.join(', ')}.`,
  code_missing: 'the arguments have no text "code". Give the Python code in "code".',
};

/** The message that the policy sees for a call that did not run. */
export function problemText(problem: CallProblem): string {
  return `Error: nothing was run: ${PROBLEM_TEXTS[problem]}`;
}

/** The message that the policy sees for each further call of a turn. */
export const NOT_RUN_TEXT =
  'Error: nothing was run: only the first call of a turn is. Call again in a turn of its own.';
