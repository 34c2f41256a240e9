/** The assistant turn that is being generated: what its events have said so far. */
import type { GenerationEvent, NativeToolCall } from '../generation/generator.ts';
import type { TokenUsage } from '../judgments/types.ts';
import { hasThinking, turnText, writtenText } from './rendering.ts';

export class OpenTurn {
  text = '';
  thinking = '';
  readonly native: NativeToolCall[] = [];
  /** `null` = it has not ended, or broke off. */
  finish_reason: string | null = null;
  usage: TokenUsage | null = null;
  /** Whether its `max_tokens` is all that is left of the response budget, and not what fits into the context. */
  readonly fills_budget: boolean;

  constructor(fills_budget: boolean) {
    this.fills_budget = fills_budget;
  }

  take(event: GenerationEvent): void {
    switch (event.type) {
      case 'text':
        this.text += event.text;
        return;
      case 'thinking':
        this.thinking += event.text;
        return;
      case 'tool_call':
        this.native.push(event.call);
        return;
      case 'finish':
        this.finish_reason = event.finish_reason;
        return;
      case 'usage':
        this.usage = event.usage;
        return;
    }
  }

  /** All of it as the policy wrote it. */
  get whole(): string {
    return turnText(this);
  }

  get thinks(): boolean {
    return hasThinking(this);
  }

  /** The same without calls that the server took out. */
  get written(): string {
    return writtenText(this);
  }
}
