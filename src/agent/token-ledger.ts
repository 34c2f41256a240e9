/**
 * Tokens of a trajectory: of its prompt, of each assistant turn, and of what the tools answered, the template's words around
 * it included, as they all stand in the response that training measures.
 *
 * Where the server counts, a turn is what it says (`completion_tokens`), and the tool output before it is how much more its
 * prompt has become. Where it does not, or does not yet, the length of the text gives an estimate from above, so that a
 * budget is never overrun by a count that was too low.
 */
import { estimateTokens } from '../judgments/protocol/budget.ts';
import type { TokenUsage } from '../judgments/types.ts';
import { betweenTurns } from './turn.ts';
import type { TurnTokens } from './types.ts';

/** Special tokens of the chat template around one message. */
const TOKENS_PER_MESSAGE = 8;

/**
 * Upper estimate of the tokens of a text: estimateTokens, but a digit is a token of its own, as Qwen's tokenizer cuts
 * numbers. Programs and what they print are full of them.
 */
export function estimateTurnTokens(text: string): number {
  let digits = 0;
  let rest = '';
  for (const unit of text) {
    if (unit >= '0' && unit <= '9') digits++;
    else rest += unit;
  }
  return estimateTokens(rest) + digits;
}

/** Upper estimate of the tokens of a prompt. @param parts its messages, and what else the server renders into it. */
export function estimatePrompt(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + estimateTurnTokens(part) + TOKENS_PER_MESSAGE, TOKENS_PER_MESSAGE);
}

type Counted = { tokens: number; counted: TurnTokens['counted'] };

const NONE: Counted = { tokens: 0, counted: 'server' };

type Turn = { assistant: Counted; tools: Counted; readonly usage: TokenUsage | null; readonly thinks: boolean };

export class TokenLedger {
  readonly #turns: Turn[] = [];
  #prompt: number;
  #usage: TokenUsage | null = null;

  /** @param prompt an estimate, until the server says it. */
  constructor(prompt: number) {
    this.#prompt = prompt;
  }

  /** Tokens of the response so far. */
  get response(): number {
    return this.#turns.reduce((sum, { assistant, tools }) => sum + assistant.tokens + tools.tokens, 0);
  }

  /** Of prompt and response: what the next turn finds in its context. */
  get context(): number {
    return this.#prompt + this.response;
  }

  /** `server` = every part of the response is as the server counted it. */
  get counted(): TurnTokens['counted'] {
    const all = this.#turns.every(
      ({ assistant, tools }) => assistant.counted === 'server' && tools.counted === 'server',
    );
    return all ? 'server' : 'estimated';
  }

  /** All that the server counted, summed over its calls; `null` = nothing. */
  get usage(): TokenUsage | null {
    return this.#usage;
  }

  /**
   * A turn has ended.
   * @param usage of its call; `null` = the server did not say.
   * @param thinks whether the turn holds thinking.
   */
  addTurn(text: string, usage: TokenUsage | null, thinks = false): void {
    if (usage !== null) this.#usage = added(this.#usage, usage);
    const said = usage !== null && (usage.completion_tokens > 0 || text === '') ? usage : null;
    if (said !== null) this.#correct(said);
    const assistant: Counted =
      said === null
        ? { tokens: estimateTurnTokens(text), counted: 'estimated' }
        : { tokens: said.completion_tokens, counted: 'server' };
    this.#turns.push({ assistant, tools: NONE, usage: said, thinks });
  }

  /** What the tools answered to the last turn. */
  addToolOutput(contents: readonly string[]): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined) throw new Error('TokenLedger: tool output before the first turn');
    turn.tools = { tokens: toolTokens(contents), counted: 'estimated' };
  }

  /** @param turn from 1. */
  of(turn: number): TurnTokens {
    const found = this.#turns[turn - 1];
    if (found === undefined) throw new Error('TokenLedger: no such turn');
    const { assistant, tools } = found;
    const counted = assistant.counted === 'server' && tools.counted === 'server' ? 'server' : 'estimated';
    return { assistant: assistant.tokens, tool_output: tools.tokens, counted };
  }

  /** The prompt of this call says how long the one before it and what followed were. */
  #correct({ prompt_tokens }: TokenUsage): void {
    const last = this.#turns.at(-1);
    if (last === undefined) this.#prompt = prompt_tokens;
    else if (last.usage !== null && !last.thinks) {
      // Not so after thinking: a template that leaves it out makes the prompt shorter than what was written.
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

/** Upper estimate of what a tool's answer adds to the response. */
export function toolTokens(contents: readonly string[]): number {
  return estimateTurnTokens(betweenTurns(contents)) + 2 * TOKENS_PER_MESSAGE;
}
