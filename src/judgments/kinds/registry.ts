/**
 * The definitions of all judgment kinds. A new kind needs a folder beside this file, an entry in `KINDS` and a name in
 * `names.ts`; request and verdict types, the record schema and the wire's enum derive from these.
 */
import * as z from 'zod';
import { digestJson } from '../../digest.ts';
import { createRecentlyUsed } from '../../recently-used.ts';
import type { Asking } from '../protocol/asking.ts';
import type { JudgmentKindDefinition, ReadingKind } from '../protocol/judgment-kind.ts';
import { citations } from './citations/citations.ts';
import { comparison } from './comparison/comparison.ts';
import { entities } from './entities/entities.ts';
import { equivalence } from './equivalence/equivalence.ts';
import { execution } from './execution/execution.ts';
import { entitiesText } from './free-text/entities-text.ts';
import { outcomeText } from './free-text/outcome-text.ts';
import { statementsText } from './free-text/statements-text.ts';
import { grader } from './grader/grader.ts';
import { JUDGMENT_KINDS, type JudgmentKind } from './names.ts';
import { outcome } from './outcome/outcome.ts';
import { rubric } from './rubric/rubric.ts';
import { rubrics } from './rubrics/rubrics.ts';
import { statements } from './statements/statements.ts';

const KINDS = {
  rubric,
  citations,
  outcome,
  execution,
  equivalence,
  entities,
  statements,
  comparison,
  grader,
  rubrics,
  outcome_text: outcomeText,
  entities_text: entitiesText,
  statements_text: statementsText,
} satisfies {
  readonly [Kind in JudgmentKind]: { readonly kind: Kind };
};

type Definition = (typeof KINDS)[JudgmentKind];
type RequestOf<D extends Definition> = D extends JudgmentKindDefinition<infer Request> ? Request : never;
type VerdictsOf<D extends Definition> = D extends JudgmentKindDefinition<infer _, infer Verdicts> ? Verdicts : never;

/** A question to a judge about one rollout. */
export type JudgmentRequest = RequestOf<Definition> & HowAsked;
/** A request that a language model answers. */
export type ReadingRequest = RequestOf<Extract<Definition, { answeredBy: 'reader' }>> & HowAsked;
/** How the judge is asked; absent = in the usual way. Not an input of the key, but part of the judge's identity. */
type HowAsked = { readonly asking?: Asking };
/** The answer to a request of the same kind. */
export type Verdicts = VerdictsOf<Definition>;

/** The definition of a kind, typed for that kind's requests and verdicts only. */
export function kindOf(kind: JudgmentKind): JudgmentKindDefinition<JudgmentRequest, Verdicts> {
  return KINDS[kind];
}

type AnyReadingKind = ReadingKind<JudgmentRequest, Verdicts>;
type ClassifiableKind = AnyReadingKind & Required<Pick<AnyReadingKind, 'byProbability' | 'entries'>>;

/** The definition of a kind that a judge with probabilities can answer; `null` = it cannot. */
export function classifiableKind(kind: JudgmentKind): ClassifiableKind | null {
  const definition = kindOf(kind);
  if (definition.answeredBy !== 'reader') return null;
  const { byProbability, entries } = definition;
  return byProbability === undefined || entries === undefined ? null : { ...definition, byProbability, entries };
}

const templates = createRecentlyUsed<string>({ entries: 64, size: 1024 * 1024 });

/**
 * Identifies what a kind asks and how its reply is read; part of every key of this kind, and of no other.
 * SHA-256 (hex) of the RFC 8785 JSON of its `templateSource()`.
 */
export function templateOf(kind: JudgmentKind, { template, evidence, contradiction }: Asking = {}): string {
  const name = JSON.stringify([kind, template, evidence, contradiction]);
  const known = templates.get(name);
  if (known !== undefined) return known;
  const words = {
    ...(template === undefined ? {} : { template }),
    ...(evidence === undefined ? {} : { evidence }),
    ...(contradiction === undefined ? {} : { contradiction }),
  };
  const digest = digestJson(kindOf(kind).templateSource(words));
  templates.add(name, digest, name.length);
  return digest;
}

/** Whether the verdicts are of the request's kind and answer every entry of the request. */
export function answersRequest(request: JudgmentRequest, verdicts: Verdicts): boolean {
  return verdicts.kind === request.kind && kindOf(request.kind).answers(request, verdicts);
}

/**
 * Verdicts on all entries of a request, of which the judge saw those at `positions`; the others count against the
 * policy. `null` if the verdicts do not answer what the judge saw.
 * @param verdicts `null` = the judge saw none.
 */
export function completedVerdicts(
  request: JudgmentRequest,
  positions: readonly number[],
  verdicts: Verdicts | null,
): Verdicts | null {
  const definition = kindOf(request.kind);
  if (definition.answeredBy !== 'reader' || definition.entries === undefined) return null;
  const { only, completed } = definition.entries;
  if (verdicts !== null && !answersRequest(only(request, positions), verdicts)) return null;
  return completed(request, positions, verdicts);
}

const [first, ...others] = JUDGMENT_KINDS;
/** The schema of stored verdicts of any kind. */
export const verdictsSchema = z.discriminatedUnion('kind', [
  KINDS[first].verdictsSchema,
  ...others.map((kind) => KINDS[kind].verdictsSchema),
]);
