/**
 * How a judge is asked, beside what it is asked: thinking, tries and temperature. A request carries it, and it enters
 * the judgment's key through the judge's identity, only where it differs from the usual way.
 */
import type { OwnTemplate } from './template.ts';

/**
 * `off`: the model does not think before it replies. `model_default`: it thinks as its template or server decides.
 * A budget: it thinks, for so many tokens at most.
 */
export type Thinking = 'off' | 'model_default' | { readonly budget_tokens: number };

/** What a backend may be able to do about thinking. */
export type ThinkingMode = 'off' | 'model_default' | 'budget';

/** The options of a judge, and the words of its prompt. An absent one has its usual value. */
export type Asking = {
  /** Usually off. */
  readonly thinking?: Thinking;
  /** Calls until a reply can be read, at least 1. Usually 2, or as many as a kind with free-text replies says. */
  readonly tries?: number;
  /** Usually 0. Above 0 each replicate samples with seeds of its own. */
  readonly temperature?: number;
  /** Of the kinds `rubric` and `outcome`: the name of a template, or a template of one's own. Usually `citeward-1`. */
  readonly template?: string | OwnTemplate;
  /** Of the kind `rubric`: the judge quotes the answer for each score above 0. Usually not. */
  readonly evidence?: 'quote';
  /** Of the kind `citations`: the judge also says which claims the cited sources contradict. Usually not. */
  readonly contradiction?: true;
};

/** The template of every kind that has no other. */
export const USUAL_TEMPLATE = 'citeward-1';

/** Reply tokens for thinking that has no budget. A model that thinks longer gives no verdict (`judge_reply_cut`). */
const MODEL_DEFAULT_THINKING_TOKENS = 8_192;

export function thinkingMode(thinking: Thinking): ThinkingMode {
  return typeof thinking === 'string' ? thinking : 'budget';
}

/** The tokens of a reply that are kept for thinking. */
export function thinkingTokens({ thinking = 'off' }: Asking = {}): number {
  switch (thinking) {
    case 'off':
      return 0;
    case 'model_default':
      return MODEL_DEFAULT_THINKING_TOKENS;
    default:
      return thinking.budget_tokens;
  }
}

/** Its text is the caller's, and occurs in no problem. */
const OWN_TEMPLATE = "a template of the recipe's own";

/** The options that are not usual, by name. `tries` is never among them: any judge may be asked again. */
export function unusualOptions({
  thinking = 'off',
  temperature = 0,
  template = USUAL_TEMPLATE,
  evidence,
  contradiction,
}: Asking): readonly string[] {
  return [
    ...(template === USUAL_TEMPLATE ? [] : [typeof template === 'string' ? `template ${template}` : OWN_TEMPLATE]),
    ...(evidence === undefined ? [] : [`evidence ${evidence}`]),
    ...(contradiction === undefined ? [] : ['contradiction']),
    ...(thinking === 'off' ? [] : [`thinking ${JSON.stringify(thinking)}`]),
    ...(temperature === 0 ? [] : [`temperature ${temperature}`]),
  ];
}

/** Whether two askings are one: an absent option has its usual value. */
export function isSameAsking(one: Asking = {}, other: Asking = {}): boolean {
  return one.tries === other.tries && unusualOptions(one).join() === unusualOptions(other).join();
}

const CLOSED = '</think>';

/**
 * The reply after its thinking, which some servers leave in the text. A JSON reply follows the first `</think>` before an
 * object or a fenced block; free text follows the last one. Otherwise the whole text is the reply.
 */
export function afterThinking(text: string, reply: 'json' | 'free text'): string {
  const last = text.lastIndexOf(CLOSED);
  if (last === -1) return text;
  if (reply === 'free text') return text.slice(last + CLOSED.length);
  if (text.trimStart().startsWith('{')) return text;
  for (let at = text.indexOf(CLOSED); at !== -1; at = text.indexOf(CLOSED, at + 1)) {
    let next = at + CLOSED.length;
    while (next < text.length && text.charAt(next).trim() === '') next++;
    if (text.startsWith('{', next) || text.startsWith('```', next)) return text.slice(next);
  }
  return text;
}
