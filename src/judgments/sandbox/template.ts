/**
 * The digest of everything that decides what the sandbox is asked and how its reply is read; part of every key, as
 * src/judgments/template.ts is for models. A constant, since identities are needed before anything can be awaited; a test
 * computes it anew and prints the new value when the texts have changed.
 */
import { digestJson } from '../key.ts';
import type { SandboxRequest } from '../types.ts';
import { equivalenceRun } from './equivalence.ts';
import { testRun } from './execution.ts';

/** Of the rules by which a reply becomes an outcome (execution.ts, equivalence.ts): counted up when they change. */
const READING_VERSION = 1;

/** SHA-256 (hex) of the current harnesses. */
export const SANDBOX_TEMPLATE_DIGEST = 'cd767e979acc06f7f5cabbe3e1039f85f74186f4de2041954f94a0b3e44a2c31';

/** Computes the digest from the runs that are asked for: harness texts, limits and the shape of their tasks. */
export function computeSandboxTemplateDigest(): Promise<string> {
  const execution = {
    kind: 'execution',
    language: 'python',
    program: 'p',
    tests: [],
    time_limit_s: 1,
    memory_limit_mb: 1,
  } as const satisfies SandboxRequest;
  return digestJson({
    reading: READING_VERSION,
    stdout: testRun(execution, { stdin: 'i', stdout: 'o' }, 'nonce'),
    assert: testRun(execution, { assert: 'a' }, 'nonce'),
    equivalence: equivalenceRun({ kind: 'equivalence', answer: 'a', reference: 'r' }, 'nonce'),
  });
}
