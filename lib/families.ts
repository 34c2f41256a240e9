/**
 * The interface of a recipe family: a plan in stages, facts, and a pure `compose`. The families of a build are those of its
 * registry (src/families/registry.ts): `createScorer` takes no others yet.
 */
export type { BaseFacts, Observed } from '../src/family/facts.ts';
export type {
  Family,
  FamilyTypes,
  GroupVote,
  GroupVotes,
  Measured,
  PlanOptions,
  VoteRange,
} from '../src/family/family.ts';
export type { BaseScore, Component } from '../src/family/score.ts';
export { ask, done, type Stage, together } from '../src/family/stages.ts';
