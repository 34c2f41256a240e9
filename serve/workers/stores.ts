/**
 * The Worker that stands in for KV, R2, D1, queues and cron triggers under `citeward serve`. workerd's own bindings
 * send their operations to these entrypoints as HTTP requests; one Durable Object per namespace, bucket and database
 * stores the data in SQLite on disk.
 */
import { WorkerEntrypoint } from 'cloudflare:workers';
import type { Clock, ClockEnvironment } from './clock.ts';
import type { D1Object } from './d1-object.ts';
import type { KvObject } from './kv-object.ts';
import type { QueueEnvironment } from './queue-object.ts';
import type { R2Object } from './r2-object.ts';

export { Clock } from './clock.ts';
export { D1Object } from './d1-object.ts';
export { KvObject } from './kv-object.ts';
export { QueueObject } from './queue-object.ts';
export { R2Object } from './r2-object.ts';

/** The bindings of this Worker (serve/configuration.ts). */
type StoresEnvironment = ClockEnvironment &
  QueueEnvironment & {
    readonly KV_OBJECTS: DurableObjectNamespace<KvObject>;
    readonly R2_OBJECTS: DurableObjectNamespace<R2Object>;
    readonly D1_OBJECTS: DurableObjectNamespace<D1Object>;
    readonly CLOCKS: DurableObjectNamespace<Clock>;
  };

/** `ctx.props`: the name of the namespace, bucket, database or queue. */
type StoreProps = { readonly name: string };

/** The service behind a `kvNamespace` binding. */
export class KvEntry extends WorkerEntrypoint<StoresEnvironment, StoreProps> {
  override fetch(request: Request): Promise<Response> {
    return this.env.KV_OBJECTS.getByName(this.ctx.props.name).fetch(request);
  }
}

/** The service behind an `r2Bucket` binding. */
export class R2Entry extends WorkerEntrypoint<StoresEnvironment, StoreProps> {
  override fetch(request: Request): Promise<Response> {
    return this.env.R2_OBJECTS.getByName(this.ctx.props.name).fetch(request);
  }
}

/** The service inside a D1 binding. */
export class D1Entry extends WorkerEntrypoint<StoresEnvironment, StoreProps> {
  override fetch(request: Request): Promise<Response> {
    return this.env.D1_OBJECTS.getByName(this.ctx.props.name).fetch(request);
  }
}

/** The service behind a `queue` binding. */
export class QueueEntry extends WorkerEntrypoint<StoresEnvironment, StoreProps> {
  override fetch(request: Request): Promise<Response> {
    return this.env.QUEUE_OBJECTS.getByName(this.ctx.props.name).fetch(request);
  }
}

/** Starts the cron triggers. The Worker calls it once after its start. */
export class ClockEntry extends WorkerEntrypoint<StoresEnvironment> {
  async start(): Promise<void> {
    await Promise.all(this.env.CRONS.map((cron) => this.env.CLOCKS.getByName(cron).start(cron)));
  }
}

export default {};
