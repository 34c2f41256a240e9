/** Between HTTP and scoring: the platform of a request, and what became of it. */
import type { JudgmentStore } from '../../src/judgments/store.ts';
import type { ScoredRollout } from '../../src/scoring/score-rollouts.ts';
import { configuredBackends } from '../backends/configured.ts';
import { createDeskClient } from '../desk/desk-client.ts';
import type { Environment } from '../environment.ts';
import { createLedger } from '../services/record.ts';
import type { ScoringPlatform, ScoringReply } from '../services/score.ts';
import { issuerOf } from '../storage/issuer-settings.ts';
import type { Context } from './context.ts';
import { RequestError } from './errors.ts';

export type ScoringPlatformOf = (c: Context) => Promise<ScoringPlatform>;

/** @param storeOf the judgment store of an environment. */
export function createScoringPlatform(storeOf: (environment: Environment) => JudgmentStore): ScoringPlatformOf {
  return async (c) => {
    const issuer = await issuerOf(c.env);
    if (!issuer.ok) throw new RequestError({ reason: 'config_invalid', setting: issuer.setting });
    return {
      backends: configuredBackends(c.get('settings'), c.env),
      store: storeOf(c.env),
      desk: createDeskClient(c.env.JUDGE_DESK),
      class: 'live',
      signing: issuer.signing,
      ledger: createLedger(c.env, c.get('settings')),
    };
  };
}

/** The reply of a scoring that came to one, noted for the log. @throws RequestError for one that did not. */
export function succeeded<T extends ScoredRollout | readonly ScoredRollout[]>(c: Context, scored: ScoringReply<T>): T {
  if (scored.timings !== null) Object.assign(c.get('phases'), scored.timings);
  if (!scored.ok) throw new RequestError(scored.failure);
  const members: readonly ScoredRollout[] = 'reply' in scored.reply ? [scored.reply] : scored.reply;
  const judgments = members.flatMap(({ reply }) => reply.judgments);
  c.set('storeProblems', judgments.filter(({ store_problem }) => store_problem !== null).length);
  return scored.reply;
}
