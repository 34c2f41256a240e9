/** Wiring only: what this isolate shares, and the Worker's entry points. */

import { consumeJobs } from './batches/consume-queue.ts';
import { createSettingsReader, type Environment, reportProblem } from './environment.ts';
import { createApp } from './http/app.ts';
import { clearExpiredRuns } from './ledger/clear-runs.ts';
import { createKvJudgmentStore } from './storage/judgments.ts';
import { createRecentJudgments, MAX_RECENT_JUDGMENT_CHARS, MAX_RECENT_JUDGMENTS } from './storage/recent-judgments.ts';

const recent = createRecentJudgments({ entries: MAX_RECENT_JUDGMENTS, chars: MAX_RECENT_JUDGMENT_CHARS });
const storeOf = (environment: Environment) => createKvJudgmentStore(environment.JUDGMENTS, recent);
const settingsOf = createSettingsReader(reportProblem);
const app = createApp({ judgmentStoreOf: storeOf });

export { Batch } from './batches/batch.ts';
export { JudgeDesk } from './desk/judge-desk.ts';
export { Deliveries } from './webhooks/deliveries.ts';

export default {
  fetch: (request, environment, context) => app.fetch(request, environment, context),
  queue: (batch, environment) => consumeJobs(batch, environment, { settingsOf, storeOf }),
  scheduled: (_, environment) => clearExpiredRuns(environment, settingsOf, Date.now()),
} satisfies ExportedHandler<Environment>;
