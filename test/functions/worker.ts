/**
 * Entry module of the Worker under test: the production handlers and Durable Objects, with parts that a test file can
 * replace. A replacement ends with its file (own-worker.ts).
 */

import type { Environment } from '../../functions/environment.ts';
import * as production from '../../functions/index.ts';
import type { RecordCall } from '../../functions/ledger/ledger-messages.ts';
import type { RunLedgerOptions } from '../../functions/ledger/run-ledger.ts';
import type { PlatformParts } from '../../functions/platform.ts';
import type { DeliveriesOptions } from '../../functions/webhooks/deliveries.ts';
import { createWorker } from '../../functions/worker.ts';
import { configuredBackends } from '../../service/backends/configured.ts';

type Place = 'handlers' | 'JudgeDesk' | 'Batch' | 'Deliveries' | 'RunLedger';

type TestParts = Pick<PlatformParts, 'backendsOf'> &
  Partial<Pick<PlatformParts, 'makeRubrics'>> & {
    readonly adapterRetryWindowMs?: number;
    /** When the ledgers of runs seal records. */
    readonly ledger?: Partial<RunLedgerOptions>;
    /** Whether a ledger seals what is due before it answers a recording. */
    readonly sealsAtOnce?: boolean;
    /** Reads of R2 in one step of a batch's finaliser. */
    readonly finalStepReads?: number;
    readonly webhookLimits?: Pick<DeliveriesOptions, 'maxPendingJobs' | 'deliveryTimeoutMs'>;
    /** The bindings and variables that the handlers, or the objects of a class, get in place of their own. */
    readonly environmentOf: (environment: Environment, place: Place) => Environment;
    /** The state that the objects of a class get in place of their own. */
    readonly stateOf: (state: DurableObjectState, place: Place) => DurableObjectState;
  };

const OWN_PARTS: TestParts = {
  backendsOf: configuredBackends,
  environmentOf: (environment) => environment,
  stateOf: (state) => state,
};

let parts = OWN_PARTS;

/** Replaces parts of the Worker. Call it before the file's first request. */
export function replaceParts(replaced: Partial<TestParts>): void {
  parts = { ...parts, ...replaced };
}

/** Gives the Worker its own parts back. Objects keep theirs until they are reset. */
export function restoreParts(): void {
  parts = OWN_PARTS;
  made = null;
}

const backendsOf: PlatformParts['backendsOf'] = (settings, environment) => parts.backendsOf(settings, environment);

let made: ReturnType<typeof createWorker> | null = null;

function worker(): ReturnType<typeof createWorker> {
  const { adapterRetryWindowMs, makeRubrics } = parts;
  made ??= createWorker({
    backendsOf,
    ...(makeRubrics === undefined ? {} : { makeRubrics }),
    ...(adapterRetryWindowMs === undefined ? {} : { adapterRetryWindowMs }),
  });
  return made;
}

export default {
  fetch: (request, environment, context) =>
    worker().fetch(request, parts.environmentOf(environment, 'handlers'), context),
  queue: (batch, environment) => worker().queue(batch, parts.environmentOf(environment, 'handlers')),
  scheduled: (controller, environment) => worker().scheduled(controller, parts.environmentOf(environment, 'handlers')),
} satisfies ExportedHandler<Environment>;

export class JudgeDesk extends production.JudgeDesk {
  constructor(state: DurableObjectState, environment: Environment) {
    super(parts.stateOf(state, 'JudgeDesk'), parts.environmentOf(environment, 'JudgeDesk'), {
      backendsOf,
      // An eviction waits for the report.
      budgetReportMs: 100,
    });
  }
}

export class Batch extends production.Batch {
  constructor(state: DurableObjectState, environment: Environment) {
    super(parts.stateOf(state, 'Batch'), parts.environmentOf(environment, 'Batch'), parts.finalStepReads);
  }
}

export class Deliveries extends production.Deliveries {
  constructor(state: DurableObjectState, environment: Environment) {
    super(parts.stateOf(state, 'Deliveries'), parts.environmentOf(environment, 'Deliveries'), {
      ...parts.webhookLimits,
      backendsOf,
    });
  }
}

export class RunLedger extends production.RunLedger {
  #alarms: Promise<void> = Promise.resolve();

  constructor(state: DurableObjectState, environment: Environment) {
    super(parts.stateOf(state, 'RunLedger'), parts.environmentOf(environment, 'RunLedger'), parts.ledger);
  }

  override async record(call: RecordCall) {
    const answer = await super.record(call);
    if (parts.sealsAtOnce === true && answer.ok) await this.alarm();
    return answer;
  }

  /** As on the platform, where an object has one alarm at a time. */
  override alarm(): Promise<void> {
    this.#alarms = this.#alarms.catch(() => undefined).then(() => super.alarm());
    return this.#alarms;
  }
}
