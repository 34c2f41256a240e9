/**
 * The loop of the tool agent as a state machine. `step` names the next action (generate a turn, run code, stop); the
 * caller performs it and reports the result. The loop itself performs no I/O, so the Worker, tests and scripts share
 * it.
 *
 * It follows `tool_agent_loop.py` of verl in Gen-Verse/Open-AgentRL 1fe5dbd2. A generated turn ends the trajectory if
 * the response budget is spent, if it was the last allowed turn, or if it calls no tool. Otherwise its first call runs,
 * and the result follows as a user turn if it fits into the budget. One departure: a call that cannot run is shown to
 * the policy with its reason (`bad_calls`); the training loop drops malformed calls.
 */

import type {
  GenerationEnd,
  GenerationEvent,
  GenerationFailure,
  GenerationMessage,
  GenerationRequest,
} from '../generation/generator.ts';
import type { JudgeFailure, TokenUsage } from '../judgments/protocol/failure.ts';
import type { RunCode } from '../judgments/sandbox/run-code.ts';
import type { Failed } from '../result.ts';
import { neutraliseControlTokens } from '../text/untrusted.ts';
import { codeRun, preparedCode, type ToolOutput } from './code-interpreter.ts';
import { agentPrompt, agentPromptTokens, type GeneratorTraits } from './prompt.ts';
import type { StopCondition } from './stop-conditions.ts';
import { TokenLedger, toolTokens } from './token-ledger.ts';
import { NOT_RUN_TEXT, problemText, type ReadCall, readTurnCalls } from './tool-calls.ts';
import { truncateToolOutput } from './truncate.ts';
import { answeredTurn, betweenTurns, OpenTurn } from './turn.ts';
import type {
  AgentCall,
  AgentSettings,
  AssistantMessage,
  ToolMessage,
  ToolOutcome,
  TrajectoryMessage,
} from './types.ts';

/** Maximum number of further calls of one turn that get an answer. */
const MAX_REPORTED_CALLS = 16;

export type AgentStep =
  | { readonly kind: 'generate'; readonly turn: number; readonly request: GenerationRequest }
  | { readonly kind: 'run'; readonly turn: number; readonly call: AgentCall; readonly run: RunCode }
  | ({ readonly kind: 'stopped' } & Stopped);

/** How the trajectory ended, with the failure if one of our systems caused it. */
export type Stopped =
  | { readonly stop: 'generator_failed'; readonly failure: GenerationFailure }
  | { readonly stop: 'sandbox_failed'; readonly failure: JudgeFailure }
  | { readonly stop: Exclude<StopCondition, FailedStop>; readonly failure: null };

type FailedStop = 'generator_failed' | 'sandbox_failed';

export type CodeOutcome = { readonly ok: true; readonly output: ToolOutput } | Failed<JudgeFailure>;

export class AgentLoop {
  /**
   * The conversation that starts the first turn. It includes tool descriptions if the server has no field for them.
   */
  readonly prompt: readonly GenerationMessage[];
  readonly #settings: AgentSettings;
  readonly #generator: GeneratorTraits;
  readonly #described: GenerationRequest['tools'];
  readonly #ledger: TokenLedger;
  readonly #messages: (Omit<AssistantMessage, 'tokens'> | ToolMessage)[] = [];
  /** Turns and tool results after the prompt, in the form that the generator receives. */
  readonly #history: GenerationMessage[] = [];
  #open = new OpenTurn(true);
  #calls: readonly ReadCall[] = [];
  #assistantTurns = 0;
  #userTurns = 0;
  #response = '';
  #step: AgentStep;

  constructor(settings: AgentSettings, generator: GeneratorTraits) {
    const { messages, tools } = agentPrompt(settings, generator);
    this.prompt = messages;
    this.#described = tools;
    this.#settings = settings;
    this.#generator = generator;
    this.#ledger = new TokenLedger(agentPromptTokens(settings, generator));
    this.#step = this.#nextTurn();
  }

  /** The next action. */
  get step(): AgentStep {
    return this.#step;
  }

  /** The trajectory so far. Token counts of earlier turns become exact when the server counts later turns. */
  get messages(): TrajectoryMessage[] {
    return this.#messages.map((message) =>
      message.role === 'tool' ? message : { ...message, tokens: this.#ledger.of(message.turn) },
    );
  }

  /** The response as one text, in the form that the reward code of Open-AgentRL reads (turn.ts). */
  get response(): string {
    return this.#response;
  }

  /**
   * User turns plus assistant turns plus 1, counted as in the training loop: 2 without a tool call, 4 with one round.
   */
  get numTurns(): number {
    return this.#userTurns + this.#assistantTurns + 1;
  }

  get responseTokens(): number {
    return this.#ledger.response;
  }

  get tokensCounted(): 'server' | 'estimated' {
    return this.#ledger.counted;
  }

  /** Token usage summed over all calls of the server; `null` = the server reported none. */
  get usage(): TokenUsage | null {
    return this.#ledger.usage;
  }

  /** Takes an event of the turn that is being generated. */
  take(event: GenerationEvent): void {
    if (this.#step.kind !== 'generate') throw new Error(`AgentLoop: an event during the step ${this.#step.kind}`);
    this.#open.take(event);
  }

  /** Ends the turn that is being generated. The text of an interrupted turn is kept. */
  generated(end: GenerationEnd): void {
    if (this.#step.kind !== 'generate') throw new Error(`AgentLoop: generated() during the step ${this.#step.kind}`);
    if (!end.ok) {
      this.#breakOff({ stop: 'generator_failed', failure: end.error });
      return;
    }
    if (this.#open.finish_reason === null) throw new Error('AgentLoop: a turn ended without a finish reason');
    this.#close(this.#open.finish_reason);
    this.#step = this.#afterTurn();
  }

  /** Reports the result of the code run. */
  ran(outcome: CodeOutcome): void {
    if (this.#step.kind !== 'run') throw new Error(`AgentLoop: ran() during the step ${this.#step.kind}`);
    if (outcome.ok) this.#step = this.#answer(this.#step.call, outcome.output.outcome, outcome.output.text);
    else this.#breakOff({ stop: 'sandbox_failed', failure: outcome.failure });
  }

  /** Stops the trajectory from outside: the caller left, or the deadline passed. */
  stop(stop: 'caller_gone' | 'deadline'): void {
    this.#breakOff({ stop, failure: null });
  }

  /** Stops now. The text of a turn in progress is kept, without a finish reason. */
  #breakOff(stopped: Stopped): void {
    if (this.#step.kind === 'stopped') throw new Error('AgentLoop: already stopped');
    if (this.#step.kind === 'generate' && this.#open.whole !== '') this.#close(null);
    this.#step = { kind: 'stopped', ...stopped };
  }

  #close(finish_reason: string | null): void {
    const { text, thinking, native, usage } = this.#open;
    const turn = ++this.#assistantTurns;
    this.#calls = readTurnCalls({ text, native }, this.#settings);
    const tool_calls = this.#calls.map(({ call }) => call);
    this.#messages.push({ role: 'assistant', turn, content: text, thinking, finish_reason, tool_calls });
    this.#response += this.#open.whole;
    this.#ledger.addTurn(this.#open.whole, usage, this.#open.thinks);
  }

  /**
   * Makes the checks in the training loop's order. One difference: a turn without a call is a final answer even if it
   * is the last allowed turn.
   */
  #afterTurn(): AgentStep {
    const { max_turns, max_response_tokens, bad_calls } = this.#settings;
    if (this.#open.finish_reason === 'length') return stopped(this.#open.fills_budget ? 'response_budget' : 'length');
    const [first] = this.#calls;
    if (first === undefined) return stopped('no_tool_call');
    if (this.#ledger.response >= max_response_tokens) return stopped('response_budget');
    if (this.#assistantTurns >= max_turns) return stopped('max_turns');
    const { call, code } = first;
    if (code !== null) return this.#runOf(call, code);
    if (bad_calls === 'as_training' || call.problem === null) return stopped('bad_call');
    return this.#answer(call, 'bad_call', problemText(call.problem));
  }

  #runOf(call: AgentCall, code: string): AgentStep {
    const prepared = preparedCode(code, this.#settings.print_last_line);
    return { kind: 'run', turn: this.#assistantTurns, call, run: codeRun(prepared, this.#settings) };
  }

  /** Turns the first call's result, and notes about further calls, into a user turn if the budget has room for it. */
  #answer(call: AgentCall, outcome: ToolOutcome, output: string): AgentStep {
    const { max_tool_response_chars, truncate, max_response_tokens } = this.#settings;
    const given =
      outcome === 'bad_call'
        ? { text: output, raw_chars: output.length, truncated: false }
        : truncateToolOutput(output, max_tool_response_chars, truncate);
    const { raw_chars, truncated } = given;
    // A control token of the chat template in a program's output would end the user turn.
    const text = neutraliseControlTokens(given.text);
    const further = this.#reported();
    const contents = [text, ...further.map(() => NOT_RUN_TEXT)];
    const shown = this.#ledger.response + toolTokens(contents) < max_response_tokens;
    const turn = this.#assistantTurns;
    this.#messages.push({
      ...{ role: 'tool', turn, content: text, call_id: call.id, outcome, raw_chars, truncated, shown },
    });
    for (const { id } of further) this.#messages.push(notRun(turn, id, shown));
    if (!shown) return stopped('response_budget');
    this.#remember([call, ...further], contents);
    return this.#nextTurn();
  }

  #reported(): readonly AgentCall[] {
    if (this.#settings.further_calls === 'ignore') return [];
    return this.#calls.slice(1, 1 + MAX_REPORTED_CALLS).map(({ call }) => call);
  }

  #remember(answered: readonly AgentCall[], contents: readonly string[]): void {
    this.#history.push(...answeredTurn(this.#open, answered, contents));
    this.#response += betweenTurns(contents);
    this.#ledger.addToolOutput(contents);
    this.#userTurns++;
  }

  #nextTurn(): AgentStep {
    const { max_response_tokens, sampling, thinking } = this.#settings;
    const { context_tokens } = this.#generator;
    const left = max_response_tokens - this.#ledger.response;
    const room = context_tokens === null ? left : context_tokens - this.#ledger.context;
    if (room < 1) return stopped('context_full');
    this.#open = new OpenTurn(left <= room);
    return {
      kind: 'generate',
      turn: this.#assistantTurns + 1,
      request: {
        messages: [...this.prompt, ...this.#history],
        n: 1,
        sampling,
        max_tokens: Math.min(left, room),
        thinking,
        tools: this.#described,
        subject: null,
      },
    };
  }
}

function stopped(stop: Exclude<StopCondition, FailedStop>): AgentStep {
  return { kind: 'stopped', stop, failure: null };
}

function notRun(turn: number, call_id: string | null, shown: boolean): ToolMessage {
  const content = NOT_RUN_TEXT;
  const outcome = 'not_run';
  return { role: 'tool', turn, content, call_id, outcome, raw_chars: content.length, truncated: false, shown };
}
