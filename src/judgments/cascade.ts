/**
 * A cascade of judges: each tier decides the claims of whose support it is sure, and the last judge, usually a language
 * model, decides the others. A tier is unsure of a claim whose probability is inside its band. What no probability
 * decides (a rubric) goes to the last judge, as if it had been asked alone.
 *
 *     lexical [0.02, 0.98) --unsure--> classifier [0.2, 0.8) --unsure--> language model
 *
 * Asked for contradictions too, a tier that cannot tell them decides only claims above its band: below it a claim is
 * either contradicted or not in the source, which a later tier says.
 *
 * Each tier's judgment is stored as its own, so other bands ask only about what no tier was asked before. The cascade's
 * judgment says for each claim which tier decided it; its identity has all tiers and their bands.
 */

import { digestJson } from '../digest.ts';
import { gatherEvidence, indexSources, LEXICAL_JUDGE_MODEL } from '../lexical/index.ts';
import type { Failed } from '../result.ts';
import type { Judge, JudgeCallOptions } from './judge.ts';
import { classifiableKind, type JudgmentRequest, type Verdicts } from './kinds/registry.ts';
import { type Asking, unusualOptions } from './protocol/asking.ts';
import type { JudgeFailure } from './protocol/failure.ts';
import type { DecidedPart } from './protocol/judgment-kind.ts';

/**
 * A tier that gives probabilities. It decides claims below `band[0]`, which are not supported, and from `band[1]` on,
 * which are.
 */
export type CascadeTier = { readonly judge: Judge; readonly band: readonly [number, number] };

/** Changes when the same probabilities and bands give other verdicts. */
const VERSION = 'citeward-cascade-1';

/** @param tiers at least one. @param last decides what they leave. */
export function createCascade(name: string, tiers: readonly CascadeTier[], last: Judge): Judge {
  const model = [...tiers.map(({ judge, band }) => `${judge.model} [${band.join(', ')}]`), last.model].join(' > ');
  const contexts = [...tiers.map(({ judge }) => judge), last].flatMap(({ context_tokens }) => context_tokens ?? []);
  const isDecidedHere = (kind: JudgmentRequest['kind']): boolean => classifiableKind(kind) !== null;
  return {
    name,
    model,
    forKind: (kind) => (isDecidedHere(kind) ? null : last),
    identityFor(kind, asking) {
      if (!isDecidedHere(kind)) return last.identityFor(kind, asking);
      const identities = [
        ...tiers.map(({ judge, band }) => ({ ...judge.identityFor(kind, askingOf(judge, asking)), band })),
        last.identityFor(kind, asking),
      ];
      return { model, template: `${VERSION} ${digestJson(identities)}`, sampling: null };
    },
    unsupported: (asking) => last.unsupported?.(asking) ?? unusualOptions(asking),
    context_tokens: contexts.length === 0 ? null : Math.min(...contexts),
    async judge(request, options) {
      const kind = classifiableKind(request.kind);
      if (kind === null) throw new Error(`createCascade: ${request.kind} requests are for the last judge`);
      const { claims, entries, scores, merged } = kind.byProbability;
      const claimCount = claims(request).length;
      const parts: DecidedPart<Verdicts>[] = [];
      let open = Array.from({ length: entries(request) }, (_, position) => position);
      for (const [tier, { judge, band }] of [...tiers, { judge: last, band: null }].entries()) {
        if (open.length === 0) break;
        const question = kind.entries.only(band === null ? request : askedOfTier(request, judge), open);
        const answer = await asked(judge, question, options);
        if (!answer.ok) return answer;
        const { verdicts, judged } = answer;
        const found = verdicts === null ? [] : scores(verdicts);
        const limits = band === null ? null : sureLimits(judge, band, request.asking);
        const decided = judged.flatMap((at, n) => {
          const position = open[at] ?? 0;
          return limits === null || position >= claimCount || isSure(found[n], limits) ? [position] : [];
        });
        if (verdicts !== null) parts.push({ tier, decided, verdicts });
        open = open.filter((position) => !decided.includes(position));
      }
      return { ok: true, verdicts: merged(request, parts), usage: null };
    },
  };
}

/** How a tier is asked, which reads no prompt: for contradictions, if it can tell them. */
function askingOf(tier: Judge, { contradiction }: Asking = {}): Asking | undefined {
  if (contradiction === undefined || tier.unsupported?.({ contradiction }).length !== 0) return undefined;
  return { contradiction };
}

function askedOfTier({ asking, ...plain }: JudgmentRequest, tier: Judge): JudgmentRequest {
  const ofTier = askingOf(tier, asking);
  return ofTier === undefined ? plain : { ...plain, asking: ofTier };
}

/** The band, from 0 on for a tier that cannot tell contradicted from not in the source, if that is asked. */
function sureLimits(tier: Judge, [low, high]: CascadeTier['band'], asking: Asking = {}): CascadeTier['band'] {
  return asking.contradiction !== undefined && askingOf(tier, asking) === undefined ? [0, high] : [low, high];
}

/** Whether a probability is outside the band. */
function isSure(score: number | undefined, [low, high]: CascadeTier['band']): boolean {
  return score !== undefined && (score < low || score >= high);
}

/** `judged`: the positions of the question's entries that the judge could read. `verdicts`: `null` = it could read none. */
type Answered =
  | { readonly ok: true; readonly verdicts: Verdicts | null; readonly judged: readonly number[] }
  | Failed<JudgeFailure>;

/** Asks a judge of the cascade through the caller, who stores its judgment. */
async function asked(judge: Judge, request: JudgmentRequest, { ask, ...options }: JudgeCallOptions): Promise<Answered> {
  if (ask === undefined) throw new Error('createCascade: the caller asks its judges, with the option ask');
  const outcome = await ask(judge, request, options);
  if (!outcome.ok) return outcome.judged === undefined ? outcome : { ok: true, verdicts: null, judged: [] };
  const all = Array.from({ length: classifiableKind(request.kind)?.byProbability.entries(request) ?? 0 }, (_, n) => n);
  return { ok: true, verdicts: outcome.verdicts, judged: outcome.judged ?? all };
}

/** The lexical judge as a tier: the probability that its comparison of words gives. @param band of the tier. */
export function lexicalTier(band: CascadeTier['band']): CascadeTier {
  const identity = {
    model: LEXICAL_JUDGE_MODEL,
    template: `${LEXICAL_JUDGE_MODEL} threshold=${band[1]}`,
    sampling: null,
  };
  const judge: Judge = {
    name: 'lexical',
    model: LEXICAL_JUDGE_MODEL,
    identityFor: () => identity,
    context_tokens: null,
    async judge(request) {
      const kind = classifiableKind(request.kind);
      if (kind === null || !('sources' in request)) throw new Error(`lexicalTier: not for ${request.kind} requests`);
      const index = indexSources(request.sources);
      const supports = kind.byProbability.claims(request).map(({ text, sources }) => {
        const { support, sources: found } = gatherEvidence(index, text, sources);
        const relevant = new Set(found.filter((one) => one.relevant).map(({ source }) => source));
        return { score: support, by_source: sources.map((source) => (relevant.has(source) ? 1 : 0)) };
      });
      return { ok: true, verdicts: kind.byProbability.verdicts(request, supports, band[1]), usage: null };
    },
  };
  return { judge, band };
}
