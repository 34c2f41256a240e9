/** Wiring only: what this isolate shares, and the Worker's entry points. */
import { MAX_RECENT_JUDGMENT_CHARS, MAX_RECENT_JUDGMENTS } from '../src/limits.ts';
import type { Environment } from './environment.ts';
import { createApp } from './http/app.ts';
import { createKvJudgmentStore } from './storage/judgments.ts';
import { createRecentJudgments } from './storage/recent-judgments.ts';

const recent = createRecentJudgments({ entries: MAX_RECENT_JUDGMENTS, chars: MAX_RECENT_JUDGMENT_CHARS });
const app = createApp({ judgmentStoreOf: (environment) => createKvJudgmentStore(environment.JUDGMENTS, recent) });

export { JudgeDesk } from './objects/judge-desk.ts';

export default {
  fetch: (request, environment, context) => app.fetch(request, environment, context),
} satisfies ExportedHandler<Environment>;
