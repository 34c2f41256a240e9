/**
 * The setting BACKENDS: which model backends a deployment has, which of them judge and which generate, which stand in for
 * each other, and who answers where a request names nobody. JSON, checked in full and across its parts; a problem names
 * the place and what was expected, never the value, as keys stand in it. docs/backends.md describes it for operators.
 */

import { pathText } from '../../src/input-problem.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { serverUrlProblem } from './base-url.ts';
import type { BackendConfig, BackendsConfig, GeneratorConfig, JudgeConfig, SandboxConfig } from './config.ts';
import { EXTRACTIVE_NAME } from './extractive.ts';
import { checkGenerator, checkJudge } from './settings-backends.ts';
import { backendsSchema, problemsOf, type Written } from './settings-schema.ts';
import { checkServer, type Report, type Surroundings } from './settings-server.ts';

export type { Surroundings } from './settings-server.ts';

const DEFAULT_SANDBOX = 'sandbox';
/** Names that are always taken. */
const BUILT_IN: readonly string[] = [LEXICAL_JUDGE.name, EXTRACTIVE_NAME];

const NO_BACKENDS: BackendsConfig = {
  sandbox: null,
  judges: [],
  default_judge: null,
  generators: [],
  default_generator: null,
};

export type BackendsResult =
  | { readonly ok: true; readonly config: BackendsConfig }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the setting. Pure. An empty one is no model backend. */
export function readBackends(text: string | undefined, surroundings: Surroundings): BackendsResult {
  if (text === undefined || text === '') return { ok: true, config: NO_BACKENDS };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problems: ['expected JSON'] };
    throw error;
  }
  const parsed = backendsSchema.safeParse(value);
  if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error, value) };
  const problems: string[] = [];
  if (parsed.data.backends.length === 0 && parsed.data.sandbox === undefined) {
    problems.push('backends: expected at least 1 entries, or a sandbox');
  }
  const judging: BackendConfig[] = [];
  const generators: GeneratorConfig[] = [];
  parsed.data.backends.forEach((written, position) => {
    const report: Report = (field, message) => problems.push(`backends[${position}].${field}: ${message}`);
    if (written.role === 'generate') generators.push(checkGenerator(written, surroundings, report));
    else judging.push(checkJudge(written, surroundings, report));
  });
  const reportAt: Report = (path, message) => problems.push(`${path}: ${message}`);
  const judges = judgesOf(parsed.data, judging, reportAt);
  const default_generator = defaultGenerator(parsed.data, generators, reportAt);
  const sandbox = sandboxOf(parsed.data, surroundings, (field, message) =>
    problems.push(`sandbox.${field}: ${message}`),
  );
  return problems.length > 0
    ? { ok: false, problems }
    : {
        ok: true,
        config: { judges, default_judge: parsed.data.default_judge, generators, default_generator, sandbox },
      };
}

function sandboxOf({ sandbox, backends, routes }: Written, around: Surroundings, report: Report): SandboxConfig | null {
  if (sandbox === undefined) return null;
  const { name = DEFAULT_SANDBOX, runtime, slots } = sandbox;
  const taken = [...BUILT_IN, ...backends.map((backend) => backend.name), ...Object.keys(routes ?? {})];
  if (taken.includes(name)) report('name', 'the name is taken');
  return { name, runtime, slots, ...checkServer(sandbox, serverUrlProblem, around, report) };
}

function missingMember({ backends }: Written, member: string): string {
  const generates = backends.some(({ name, role }) => name === member && role === 'generate');
  return generates ? 'expected the name of a backend that judges' : 'expected the name of a backend';
}

function defaultGenerator(
  { default_generator = null }: Written,
  generators: readonly GeneratorConfig[],
  report: Report,
): string | null {
  if (default_generator !== null && !generators.some(({ name }) => name === default_generator)) {
    report('default_generator', 'expected the name of a backend with "role": "generate"');
  }
  return default_generator;
}

/** Every backend that judges is one judge, or a part of one: its slots are counted in one place. */
function judgesOf(written: Written, backends: readonly BackendConfig[], report: Report): JudgeConfig[] {
  const names = new Set<string>(BUILT_IN);
  const claim = (name: string, path: string): void => {
    if (names.has(name)) report(path, 'the name is taken');
    names.add(name);
  };
  written.backends.forEach(({ name }, position) => {
    claim(name, `backends[${position}].name`);
  });
  const routed = new Set<string>();
  const judges: JudgeConfig[] = [];
  for (const [name, members] of Object.entries(written.routes ?? {})) {
    const path = pathText(['routes', name]);
    claim(name, path);
    const found = members.flatMap((member, position) => {
      const backend = backends.find((one) => one.name === member);
      if (backend === undefined) report(`${path}[${position}]`, missingMember(written, member));
      if (routed.has(member)) report(`${path}[${position}]`, 'the backend already stands behind a judge');
      routed.add(member);
      return backend ?? [];
    });
    const [first, ...rest] = found;
    if (first === undefined) continue;
    if (found.some(({ identity }) => identity === null || identity !== first.identity)) {
      report(path, 'expected backends that all declare the same identity');
    }
    judges.push({ name, routes: [first, ...rest] });
  }
  for (const backend of backends) if (!routed.has(backend.name)) judges.push({ name: backend.name, routes: [backend] });
  const { default_judge } = written;
  if (default_judge !== null && !judges.some(({ name }) => name === default_judge)) {
    const generates = written.backends.some(({ name, role }) => name === default_judge && role === 'generate');
    report(
      'default_judge',
      generates
        ? 'expected the name of a backend that judges'
        : 'expected the name of a route, or of a backend that stands in none',
    );
  }
  return judges;
}
