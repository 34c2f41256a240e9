/** The handlers of the Worker: HTTP requests, the job queue and the hourly trigger. */

import { DEFAULT_PROJECT } from '../src/wire/api-keys.ts';
import { type AppOptions, createApp } from './app.ts';
import { consumeJobs } from './batches/consume-queue.ts';
import { sendCounts } from './desk/send-counts.ts';
import type { Environment } from './environment.ts';
import { createPlatformFactory, type PlatformParts } from './platform.ts';
import { AuditTable } from './projects/audit-table.ts';
import { NO_BUDGETS, type Payer } from './projects/budgets.ts';
import { KeyTable } from './projects/key-table.ts';
import { ProjectTable } from './projects/project-table.ts';

/** Replaceable parts of the Worker, for tests; each has a production default. */
type WorkerOptions = Partial<PlatformParts> & AppOptions;

/** The clearing of runs belongs to no project. */
const EVERYONE: Payer = { project: DEFAULT_PROJECT, budgets: NO_BUDGETS };

/** Creates the handlers that an isolate shares between all its requests. */
export function createWorker(options: WorkerOptions = {}) {
  const platforms = createPlatformFactory(options);
  const app = createApp(platforms, options);
  return {
    async fetch(request, environment, context) {
      const reply = await app.fetch(request, environment, context);
      const sending = sendCounts(environment);
      if (sending !== null) context.waitUntil(sending);
      return reply;
    },
    async queue(batch, environment) {
      await consumeJobs(batch, environment, platforms);
      await sendCounts(environment);
    },
    async scheduled(_, environment) {
      const settings = platforms.settingsOf(environment);
      const now = Date.now();
      const clearing = [
        new KeyTable(environment.DB).clear(now),
        new AuditTable(environment.DB).clear(now),
        new ProjectTable(environment.DB).clear(now),
      ];
      // Malformed settings do not say how long runs are kept, so no run is deleted. The ledger clears all projects.
      if (settings.ok) {
        clearing.push(platforms.createStores(environment, settings.value, { payer: EVERYONE }).ledger.clear(now));
      }
      await Promise.all(clearing);
    },
  } satisfies ExportedHandler<Environment>;
}
