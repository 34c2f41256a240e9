/**
 * Runs all checks, ordered so that a failure explains the later ones. If the backend answers a check with an error, the
 * check fails with that error; if the backend is unreachable, the run ends after the first check.
 */
import { randomBytes } from 'node:crypto';
import { failureText } from './chat.ts';
import * as replies from './checks/choices-and-errors.ts';
import * as judging from './checks/judging.ts';
import * as latency from './checks/latency.ts';
import * as parameters from './checks/parameters.ts';
import * as prefix from './checks/prefix-cache.ts';
import * as repeatability from './checks/repeatability.ts';
import * as service from './checks/service.ts';
import * as streaming from './checks/streaming.ts';
import type { Target } from './connection.ts';
import { type Finding, fail, type Requirement } from './finding.ts';
import { readMetrics } from './metrics.ts';
import type { Probe } from './probe.ts';

export type CheckOptions = {
  readonly target: Target;
  /** `null` = the first served model. */
  readonly model: string | null;
  readonly min_context_tokens: number;
  /** Where the engine's Prometheus page is, if not at /metrics of the backend. */
  readonly metrics_url: string | null;
  /** After this long no further check is started. */
  readonly limit_ms: number;
  /** Called with each finding as it is made. */
  readonly onFinding?: (finding: Finding) => void;
};

export type CheckReport = {
  readonly ok: boolean;
  readonly model: string | null;
  readonly findings: readonly Finding[];
};

type Step = {
  readonly requirements: readonly [Requirement, ...Requirement[]];
  run(probe: Probe): Promise<Finding | readonly Finding[]>;
};

const STEPS: readonly Step[] = [
  { requirements: [service.KEY], run: service.checkKey },
  { requirements: [service.CLOSED_PATHS], run: service.checkClosedPaths },
  { requirements: [parameters.PARAMETERS], run: parameters.checkParameters },
  { requirements: [judging.SCHEMA, judging.ORDER], run: judging.checkSchemas },
  { requirements: [judging.CONSTRAINED], run: judging.checkConstrained },
  { requirements: [judging.THINKING], run: judging.checkThinkingOff },
  { requirements: [streaming.STREAM], run: streaming.checkStream },
  { requirements: [streaming.DROP], run: streaming.checkDroppedStream },
  { requirements: [replies.USAGE, replies.ECHO], run: replies.checkUsage },
  { requirements: [repeatability.SEED, repeatability.SEED_UNDER_LOAD], run: repeatability.checkSeeds },
  { requirements: [prefix.PREFIX], run: prefix.checkPrefixCache },
  { requirements: [replies.CHOICES], run: replies.checkChoices },
  { requirements: [replies.UNKNOWN_MODEL], run: replies.checkUnknownModel },
  { requirements: [replies.BAD_REQUEST], run: replies.checkBadRequest },
  { requirements: [latency.LATENCY], run: latency.checkLatency },
];

/** Checks a backend against every requirement. No behaviour of the backend makes it reject. */
export async function runChecks(options: CheckOptions): Promise<CheckReport> {
  const findings: Finding[] = [];
  const record = (...made: readonly Finding[]): void => {
    for (const finding of made) {
      findings.push(finding);
      options.onFinding?.(finding);
    }
  };
  const report = (model: string | null): CheckReport => ({
    ok: findings.every(({ outcome }) => outcome !== 'fail'),
    model,
    findings,
  });
  const deadline = performance.now() + options.limit_ms;

  record(await attempt(service.HEALTH, () => service.checkHealth(options.target)));
  if (findings[0]?.outcome === 'fail') return report(null);
  const served = await attemptModel(options);
  record(served.finding);
  if (!served.ok) return report(null);
  record(service.checkContext(served.model, options.min_context_tokens));

  const probe: Probe = {
    target: options.target,
    model: served.model.id,
    min_context_tokens: options.min_context_tokens,
    nonce: randomBytes(6).toString('hex'),
    metrics: () => readMetrics(options.target, options.metrics_url),
  };
  for (const step of STEPS) {
    if (performance.now() > deadline) {
      const seconds = Math.round(options.limit_ms / 1000);
      record(...step.requirements.map((one) => fail(one, `not checked: ${seconds} s were over`, 'Raise --limit.')));
      continue;
    }
    try {
      record(...[await step.run(probe)].flat());
    } catch (error) {
      const saw = failureText(error);
      record(...step.requirements.map((requirement) => fail(requirement, saw)));
    }
  }
  return report(served.model.id);
}

async function attempt(requirement: Requirement, check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    return fail(requirement, failureText(error));
  }
}

async function attemptModel({ target, model }: CheckOptions): Promise<service.ServedModels> {
  try {
    return await service.checkModel(target, model);
  } catch (error) {
    return { ok: false, finding: fail(service.MODEL, failureText(error)) };
  }
}
