/** The handlers of the Worker: HTTP requests, the job queue and the hourly trigger. */

import { DEFAULT_PROJECT } from '../src/wire/api-keys.ts';
import { type AppOptions, createApp } from './app.ts';
import { consumeJobs } from './batches/consume-queue.ts';
import type { Environment } from './environment.ts';
import { createPlatformFactory, type PlatformParts } from './platform.ts';

/** Replaceable parts of the Worker, for tests; each has a production default. */
type WorkerOptions = Partial<PlatformParts> & AppOptions;

/** Creates the handlers that an isolate shares between all its requests. */
export function createWorker(options: WorkerOptions = {}) {
  const platforms = createPlatformFactory(options);
  const app = createApp(platforms, options);
  return {
    fetch: (request, environment, context) => app.fetch(request, environment, context),
    queue: (batch, environment) => consumeJobs(batch, environment, platforms),
    async scheduled(_, environment) {
      const settings = platforms.settingsOf(environment);
      // Malformed settings do not say how long runs are kept, so nothing is deleted.
      // Clears the runs of all projects.
      if (settings.ok)
        await platforms.createStores(environment, settings.value, DEFAULT_PROJECT).ledger.clear(Date.now());
    },
  } satisfies ExportedHandler<Environment>;
}
