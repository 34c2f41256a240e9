/**
 * The main module of Citeward under `citeward serve`: the Worker of functions/ with the two things that the platform
 * does around it, the static files of the dashboard and the start of the cron triggers, and without the platform's limit
 * of connections.
 */
import type { Environment } from '../../functions/environment.ts';
import citeward from '../../functions/index.ts';
import { JudgeDesk as PlatformDesk } from '../../functions/judge-desk.ts';
import type { ObjectMethods } from './objects-entry.ts';

export * from '../../functions/index.ts';
export { ObjectsEntry } from './objects-entry.ts';

type ServeEnvironment = Environment & {
  /** The cron triggers, which may be in another process. */
  readonly SERVE_CLOCK: Pick<ObjectMethods, 'start'>;
  /** Paths of the dashboard's files. */
  readonly SERVE_ASSET_PATHS: Readonly<Record<string, true>>;
};

/** Calls of a desk that wait for response headers. workerd itself has no limit; a process often has 1,024 sockets. */
const CALLS_WITHOUT_HEADERS = 256;

/** A desk without the limit of the platform, which lets an object have six connections. */
export class JudgeDesk extends PlatformDesk {
  constructor(state: DurableObjectState, environment: Environment) {
    super(state, environment, { callsWithoutHeaders: CALLS_WITHOUT_HEADERS });
  }
}

let isClockStarted = false;

export default {
  ...citeward,
  fetch(request: Request<unknown, IncomingRequestCfProperties>, environment: ServeEnvironment, context) {
    if (!isClockStarted) {
      isClockStarted = true;
      context.waitUntil(startClock(environment));
    }
    // The header Host may have any form, and the platform refuses such requests.
    if (!URL.canParse(request.url)) return new Response('Bad Request', { status: 400 });
    // The platform serves a file before it asks the Worker.
    if (isAsset(request, environment.SERVE_ASSET_PATHS)) return environment.ASSETS.fetch(request);
    return citeward.fetch(request, environment, context);
  },
  /** Ends a tunnel that CONNECT asked for: workerd has accepted it before it asks, and logs a bug if nothing does. */
  async connect(socket) {
    await socket.close();
  },
} satisfies ExportedHandler<ServeEnvironment>;

async function startClock({ SERVE_CLOCK }: ServeEnvironment): Promise<void> {
  try {
    await SERVE_CLOCK.start();
  } catch (error) {
    // The next request tries again.
    isClockStarted = false;
    throw error;
  }
}

function isAsset({ method, url }: Request, paths: ServeEnvironment['SERVE_ASSET_PATHS']): boolean {
  return (method === 'GET' || method === 'HEAD') && paths[new URL(url).pathname] === true;
}
