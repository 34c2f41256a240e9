/**
 * Counts the tokens of a trajectory: prompt, assistant turns, and tool output with the chat template's words around it.
 * The sum over turns and tool output is the response length that verl measures in training.
 *
 * If the server counts tokens, a turn has `completion_tokens`, and the tool output before it is the growth of
 * `prompt_tokens`. Otherwise the ledger estimates from the text, always from above, so an estimate never overruns a
 * budget.
 */

import type { TokenUsage } from '../judgments/protocol/failure.ts';
import { estimateTokens } from '../judgments/protocol/token-estimate.ts';
import { betweenTurns } from './turn.ts';
import type { TurnTokens } from './types.ts';

/** Allowance for the chat template's special tokens around one message. */
const TOKENS_PER_MESSAGE = 8;

/** Upper estimate of the tokens of a prompt. @param parts the messages, and everything else the server renders. */
export function estimatePrompt(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + estimateTokens(part) + TOKENS_PER_MESSAGE, TOKENS_PER_MESSAGE);
}

type Counted = { tokens: number; counted: TurnTokens['counted'] };

const NONE: Counted = { tokens: 0, counted: 'server' };

type Turn = { assistant: Counted; tools: Counted; readonly usage: TokenUsage | null; readonly thinks: boolean };

export class TokenLedger {
  readonly #turns: Turn[] = [];
  #prompt: number;
  #usage: TokenUsage | null = null;

  /** @param prompt estimated prompt tokens; the first server count replaces it. */
  constructor(prompt: number) {
    this.#prompt = prompt;
  }

  /** Tokens of the response so far. */
  get response(): number {
    return this.#turns.reduce((sum, { assistant, tools }) => sum + assistant.tokens + tools.tokens, 0);
  }

  /** Tokens of prompt and response together: the context of the next turn. */
  get context(): number {
    return this.#prompt + this.response;
  }

  /** `server` if the server counted every part of the response. */
  get counted(): TurnTokens['counted'] {
    const all = this.#turns.every(
      ({ assistant, tools }) => assistant.counted === 'server' && tools.counted === 'server',
    );
    return all ? 'server' : 'estimated';
  }

  /** Sum of the server's counts over all calls; `null` = no count yet. */
  get usage(): TokenUsage | null {
    return this.#usage;
  }

  /**
   * Records a finished turn.
   * @param usage the server's count for this call; `null` = none.
   * @param thinks whether the turn contains thinking.
   */
  addTurn(text: string, usage: TokenUsage | null, thinks = false): void {
    if (usage !== null) this.#usage = added(this.#usage, usage);
    const said = usage !== null && (usage.completion_tokens > 0 || text === '') ? usage : null;
    if (said !== null) this.#correct(said);
    const assistant: Counted =
      said === null
        ? { tokens: estimateTokens(text), counted: 'estimated' }
        : { tokens: said.completion_tokens, counted: 'server' };
    this.#turns.push({ assistant, tools: NONE, usage: said, thinks });
  }

  /** Records the tool results that follow the last turn. */
  addToolOutput(contents: readonly string[]): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined) throw new Error('TokenLedger: tool output before the first turn');
    turn.tools = { tokens: toolTokens(contents), counted: 'estimated' };
  }

  /** Token counts of one turn. @param turn number of the turn, from 1. */
  of(turn: number): TurnTokens {
    const found = this.#turns[turn - 1];
    if (found === undefined) throw new Error('TokenLedger: no such turn');
    const { assistant, tools } = found;
    const counted = assistant.counted === 'server' && tools.counted === 'server' ? 'server' : 'estimated';
    return { assistant: assistant.tokens, tool_output: tools.tokens, counted };
  }

  /** Derives the exact length of the previous turn's tool output from the growth of the prompt. */
  #correct({ prompt_tokens }: TokenUsage): void {
    const last = this.#turns.at(-1);
    if (last === undefined) this.#prompt = prompt_tokens;
    else if (last.usage !== null && !last.thinks) {
      // After thinking the difference is wrong: a template that drops earlier thinking shortens the prompt.
      const grown = prompt_tokens - last.usage.prompt_tokens - last.usage.completion_tokens;
      if (grown > 0) last.tools = { tokens: grown, counted: 'server' };
    }
  }
}

function added(sum: TokenUsage | null, { prompt_tokens, completion_tokens }: TokenUsage): TokenUsage {
  return {
    prompt_tokens: (sum?.prompt_tokens ?? 0) + prompt_tokens,
    completion_tokens: (sum?.completion_tokens ?? 0) + completion_tokens,
  };
}

/** Upper estimate of the tokens that tool results add to the response. */
export function toolTokens(contents: readonly string[]): number {
  return estimateTokens(betweenTurns(contents)) + 2 * TOKENS_PER_MESSAGE;
}
