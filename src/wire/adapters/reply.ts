/**
 * The parts that replies to trainers share: JSON whose numbers Python reads as floats, components as flat numbers for
 * logs, and the place in a run.
 */
import * as z from 'zod';
import { familyOf } from '../../families/registry.ts';
import type { Component } from '../../family/score.ts';
import { placeIdSchema, stepSchema } from '../../runs/row.ts';
import type { ScoredRollout } from '../../scoring/score-rollouts.ts';

/** The part of a score that replies to trainers read. The full reply is left out, so it is not built. */
export type TrainedScore = Pick<ScoredRollout, 'score' | 'contributions' | 'recipe'>;

/**
 * Flattens components to numbers by name, for trainers' logs. A scored component gives its value; a component with
 * nothing to score gives the value that the recipe counts for it; an undetermined component, which has no weight in a
 * scored reward, is left out. For one named recipe the names are equal for all scored samples: OpenRLHF takes the names
 * of a batch's first sample and fails if another sample lacks one.
 */
function componentNumbers({ score }: TrainedScore): Record<string, number> {
  const { skippedAtZero } = familyOf(score).reply;
  return Object.fromEntries(
    Object.entries<Component>(score.components).flatMap(([name, component]) => {
      if (component.weight === 0 && skippedAtZero.includes(name)) return [];
      const number = numberOf(component);
      return number === null ? [] : [[name, number]];
    }),
  );
}

/** The contributions of a reward. @throws Error if the reward is unscored, which no adapter replies with. */
export function contributionNumbers({ contributions }: TrainedScore): Record<string, number> {
  if (contributions === null) throw new Error('contributionNumbers: an unscored reward');
  return contributions;
}

/**
 * The components as flat numbers for logs: the value of each under its name, and its contribution to the reward under
 * `NAME_contribution`.
 */
export function loggedNumbers(member: TrainedScore): Record<string, number> {
  const contributions = Object.entries(contributionNumbers(member));
  return {
    ...componentNumbers(member),
    ...Object.fromEntries(contributions.map(([name, value]) => [`${name}_contribution`, value])),
  };
}

function numberOf(component: Component): number | null {
  switch (component.status) {
    case 'scored':
      return component.value;
    case 'not_applicable':
      // Nothing to cite or to judge: the recipe counts it as 0 or as 1 (`citation_not_applicable`).
      return component.contribution === 0 ? 0 : 1;
    case 'unscored':
      return null;
  }
}

/** A number, or lists and objects of numbers. */
type Numbers = number | null | readonly Numbers[] | { readonly [name: string]: Numbers };

/** A reply to a trainer. The names of the two parts are distinct. */
export type TrainerReply = {
  /** The members that a trainer computes with. */
  readonly floats: Readonly<Record<string, Numbers>>;
  /** The members that are written as they are. */
  readonly others?: Readonly<Record<string, unknown>>;
};

/**
 * Writes a reply as JSON in which every number of `floats` has a decimal point or an exponent. Python reads `0` as an
 * int, and `torch.tensor([0])` is then an integer tensor, of which no standard deviation exists.
 */
export function trainerJson({ floats, others = {} }: TrainerReply): string {
  const members = Object.entries(floats).map(([name, value]) => memberText(name, floatText(value)));
  const rest = Object.entries(others).flatMap(([name, value]) => {
    const text = echoText(value);
    return text === undefined ? [] : [memberText(name, text)];
  });
  return `{${[...members, ...rest].join(',')}}`;
}

/**
 * The JSON of a value of the request. A number beyond the range of a double, which JSON.parse reads as infinite and
 * JSON.stringify writes as null, stays such a number. `undefined` for a value that is no JSON.
 */
function echoText(value: unknown): string | undefined {
  return holdsInfinity(value) ? textWithInfinities(value) : JSON.stringify(value);
}

function textWithInfinities(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return value < 0 ? '-1e999' : '1e999';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(textWithInfinities).join(',')}]`;
  const members = Object.entries(value).map(([name, member]) => memberText(name, textWithInfinities(member)));
  return `{${members.join(',')}}`;
}

function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? value.some(holdsInfinity) : Object.values(value).some(holdsInfinity);
}

function memberText(name: string, value: string): string {
  return `${JSON.stringify(name)}:${value}`;
}

/** Writes numbers as JSON, each with a decimal point or an exponent. @throws RangeError on a non-finite number. */
export function floatText(value: Numbers): string {
  if (value === null) return 'null';
  if (typeof value === 'object') {
    if (isList(value)) return `[${value.map(floatText).join(',')}]`;
    return trainerJson({ floats: value });
  }
  if (!Number.isFinite(value)) throw new RangeError('floatText: a non-finite number in a reply');
  const text = JSON.stringify(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function isList(value: Exclude<Numbers, number | null>): value is readonly Numbers[] {
  return Array.isArray(value);
}

const groupingSchema = z
  .enum(['inferred', 'given'])
  .describe('given: ids of the trainer or the label. inferred: a digest of the prompt, and the number of its visit.');

const attemptSchema = z.int().min(0).describe('From 0; other content at the same place is a new attempt.');
const statusSchema = z
  .enum(['recorded', 'unchanged'])
  .describe('unchanged: the ledger already has the same content, observed at least as completely.');

export const runReportSchema = z.strictObject({
  id: z.string().describe('NAME, or NAME-eval for evaluation.'),
  step: stepSchema.nullable().describe('null = the trainer sends none.'),
  group: placeIdSchema,
  sample: placeIdSchema,
  grouping: groupingSchema,
  attempt: attemptSchema,
  status: statusSchema,
});

export type RunReport = z.infer<typeof runReportSchema>;

/** The records of several samples, as lists in their order. */
export const runReportsSchema = z.strictObject({
  id: z.string(),
  step: z.array(stepSchema.nullable()),
  group: z.array(placeIdSchema),
  sample: z.array(placeIdSchema),
  grouping: groupingSchema,
  attempt: z.array(attemptSchema),
  status: z.array(statusSchema),
});
