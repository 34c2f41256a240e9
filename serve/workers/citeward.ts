/**
 * The main module of Citeward under `citeward serve`: the Worker of functions/ with the two things that the platform
 * does around it, the static files of the dashboard and the start of the cron triggers.
 */
import type { Environment } from '../../functions/environment.ts';
import citeward from '../../functions/index.ts';
import type { ClockEntry } from './stores.ts';

export * from '../../functions/index.ts';

type ServeEnvironment = Environment & {
  readonly SERVE_CLOCK: Service<typeof ClockEntry>;
  /** Paths of the dashboard's files. */
  readonly SERVE_ASSET_PATHS: Readonly<Record<string, true>>;
};

let isClockStarted = false;

export default {
  ...citeward,
  fetch(request: Request<unknown, IncomingRequestCfProperties>, environment: ServeEnvironment, context) {
    if (!isClockStarted) {
      isClockStarted = true;
      context.waitUntil(environment.SERVE_CLOCK.start());
    }
    // The platform serves a file before it asks the Worker.
    if (isAsset(request, environment.SERVE_ASSET_PATHS)) return environment.ASSETS.fetch(request);
    return citeward.fetch(request, environment, context);
  },
} satisfies ExportedHandler<ServeEnvironment>;

function isAsset({ method, url }: Request, paths: ServeEnvironment['SERVE_ASSET_PATHS']): boolean {
  return (method === 'GET' || method === 'HEAD') && paths[new URL(url).pathname] === true;
}
