/** Figures as people read them. What is not defined is a dash, never a number. */
import { durationText } from '../output/progress.ts';
import type { Cost } from './cost.ts';

const NONE = '-';

/** `12.4%` */
export function percentText(share: number | null): string {
  return share === null ? NONE : `${(100 * share).toFixed(1)}%`;
}

/** `0.83` */
export function kappaText(kappa: number | null): string {
  return kappa === null ? NONE : withoutNegativeZero(kappa.toFixed(2));
}

/** `+0.05`, `-0.30`, `0.00` */
export function differenceText(difference: number | null): string {
  if (difference === null) return NONE;
  const text = withoutNegativeZero(difference.toFixed(2));
  return text.startsWith('-') || text === '0.00' ? text : `+${text}`;
}

/** `12,345`; `12,345+` where some calls did not say what they used. */
export function tokensText({ tokens, calls_without_usage }: Pick<Cost, 'tokens' | 'calls_without_usage'>): string {
  if (tokens === null) return NONE;
  const total = (tokens.prompt_tokens + tokens.completion_tokens).toLocaleString('en-US');
  return calls_without_usage > 0 ? `${total}+` : total;
}

/** `0.4 ms`, `0.42 s` */
export function latencyText(ms: number | null): string {
  if (ms === null) return NONE;
  return ms < 100 ? `${ms.toFixed(1)} ms` : durationText(ms / 1000);
}

/** `1 call`, `1,710 calls` */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

function withoutNegativeZero(text: string): string {
  return text === '-0.00' ? '0.00' : text;
}
