/**
 * The list of all judgment kinds. A new kind is a folder beside this file and one entry in `KINDS`; requests, verdicts, the
 * record schema and the wire's enum of kinds derive from it.
 */
import * as z from 'zod';
import type { JudgmentKindDefinition } from '../protocol/judgment-kind.ts';
import { citations } from './citations/citations.ts';
import { equivalence } from './equivalence/equivalence.ts';
import { execution } from './execution/execution.ts';
import { outcome } from './outcome/outcome.ts';
import { rubric } from './rubric/rubric.ts';

export const KINDS = [rubric, citations, outcome, execution, equivalence] as const;

type Definition = (typeof KINDS)[number];
type RequestOf<D extends Definition> = D extends JudgmentKindDefinition<infer Request> ? Request : never;
type VerdictsOf<D extends Definition> = D extends JudgmentKindDefinition<infer _, infer Verdicts> ? Verdicts : never;

/** A question to a judge about one rollout. */
export type JudgmentRequest = RequestOf<Definition>;
/** The answer to a request of the same kind. */
export type Verdicts = VerdictsOf<Definition>;
export type JudgmentKind = Definition['kind'];
/** A request that a language model answers. */
export type ReadingRequest = RequestOf<Extract<Definition, { answeredBy: 'reader' }>>;

export const JUDGMENT_KINDS: readonly JudgmentKind[] = KINDS.map(({ kind }) => kind);

const byName = new Map<JudgmentKind, JudgmentKindDefinition<JudgmentRequest, Verdicts>>(
  KINDS.map((definition) => [definition.kind, definition]),
);

/** The definition of a kind. @throws RangeError for an unknown kind. */
export function kindOf(kind: JudgmentKind): JudgmentKindDefinition<JudgmentRequest, Verdicts> {
  const definition = byName.get(kind);
  if (definition === undefined) throw new RangeError(`kindOf: unknown judgment kind ${kind}`);
  return definition;
}

/** Whether the verdicts are of the request's kind and answer it exactly. */
export function answersRequest(request: JudgmentRequest, verdicts: Verdicts): boolean {
  return verdicts.kind === request.kind && kindOf(request.kind).answers(request, verdicts);
}

const [first, ...others] = KINDS;
/** Verdicts of any kind, as a record stores them. */
export const verdictsSchema = z.discriminatedUnion('kind', [
  first.verdictsSchema,
  ...others.map((definition) => definition.verdictsSchema),
]);
