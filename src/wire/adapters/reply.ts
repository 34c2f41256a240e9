/**
 * The parts of a reward as flat numbers by name, for trainers' logs. The names are the same for every scored sample of a
 * named recipe: OpenRLHF reads those of a batch's first sample from all others and breaks where one is missing.
 */

import * as z from 'zod';
import { digestJson } from '../../digest.ts';
import type { Component } from '../../family/score.ts';
import { sha256Schema } from '../../judgments/judgment-schema.ts';
import type { ScoreResponse } from '../score.ts';

/**
 * A scored part is its value; one with nothing to score is what the recipe counts it as. A part that could not be
 * determined, and so weighs nothing in a scored reward, is left out.
 */
export function componentNumbers(reply: ScoreResponse): Record<string, number> {
  return Object.fromEntries(
    Object.entries<Component>(reply.components).flatMap(([name, component]) => {
      // Judged only where it weighs something: without an answer it is 0, with one it is unknown.
      if (isIdle(reply, name, component)) return [];
      const number = numberOf(component);
      return number === null ? [] : [[name, number]];
    }),
  );
}

function isIdle({ family }: ScoreResponse, name: string, { weight }: Component): boolean {
  switch (family) {
    case 'refiner':
    case 'dr-tulu':
      return weight === 0 && (name === 'rubric' || name === 'citation');
    case 'long-trace':
    case 'tool-call':
      return false;
  }
}

function numberOf(component: Component): number | null {
  switch (component.status) {
    case 'scored':
      return component.value;
    case 'not_applicable':
      // 0, or all of it (REWARDS.md section 3, citation_not_applicable).
      return component.contribution === 0 ? 0 : 1;
    case 'unscored':
      return null;
  }
}

const groupingSchema = z
  .enum(['inferred', 'given'])
  .describe('inferred: SHA-256 of the canonical JSON of prompt and request. given: ids of the trainer.');

const attemptSchema = z.int().min(0).describe('From 0; other content at the same place is a new attempt.');
const statusSchema = z
  .enum(['recorded', 'unchanged'])
  .describe('unchanged: the same content stands there already, with no less observed.');

export const runReportSchema = z.strictObject({
  id: z.string(),
  group: sha256Schema,
  sample: sha256Schema,
  grouping: groupingSchema,
  attempt: attemptSchema,
  status: statusSchema,
});

export type RunReport = z.infer<typeof runReportSchema>;

/** A sample's place in a run. */
export type InferredRun = Pick<RunReport, 'id' | 'group' | 'sample' | 'grouping'>;

/** The same for several samples, in their order. */
export const runReportsSchema = z.strictObject({
  id: z.string(),
  group: z.array(sha256Schema),
  sample: z.array(sha256Schema),
  grouping: groupingSchema,
  attempt: z.array(attemptSchema),
  status: z.array(statusSchema),
});

/** @param prompt the part that all samples of a group share. */
export async function inferredRun(id: string, prompt: unknown, request: unknown): Promise<InferredRun> {
  const [group, sample] = await Promise.all([digestJson(prompt), digestJson(request)]);
  return { id, group, sample, grouping: 'inferred' };
}
