/**
 * Runs inside the copy with the fifth family: scores its rows alone and as a group, replays the recorded facts, and
 * prepares the dashboard's replay. Prints one JSON object.
 */

import { composeFields } from '../../dashboard/src/recipe/recipe-fields.ts';
import { LivePass } from '../../dashboard/src/replay/live-pass.ts';
import { composeGroup, RECIPES } from '../../src/families/composers.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { factsSchema } from '../../src/families/schemas.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import type { ObtainOptions } from '../../src/judgments/obtain.ts';
import { createMemoryJudgmentStore } from '../../src/judgments/store.ts';
import { recordedScore } from '../../src/runs/recorded-score.ts';
import { prepareGroup, replayGroup } from '../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../src/runs/row.ts';
import { scoreGroup, scoreRollout } from '../../src/scoring/score-rollouts.ts';
import { requestedRollout, scoreRequestSchema, scoreResponseSchema } from '../../src/wire/score.ts';
import { ROWS } from './fifth-family.ts';

const RECIPE = RECIPES['two-step'];
const DIGEST = 'a'.repeat(64);

const options = (mode: 'use' | 'only', store = createMemoryJudgmentStore()): ObtainOptions => ({
  judge: { ok: true, judge: LEXICAL_JUDGE },
  store,
  mode,
  replicate: 0,
  deadline_ms: 1_000,
  now: () => '2026-01-01T00:00:00.000Z',
  elapsed: () => performance.now(),
});

const rollouts = ROWS.map((row) => requestedRollout(scoreRequestSchema.parse(row)));
const resolved = await resolveRecipe('two-step');
if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
const recipe = resolved.value;

const alone = await Promise.all(rollouts.map((rollout) => scoreRollout({ rollout, recipe }, options('use'))));
const group = await scoreGroup({ rollouts, recipe }, options('use'));
if (group.status !== 'done') throw new Error(JSON.stringify(group));
for (const { reply } of group.members) scoreResponseSchema.parse(JSON.parse(JSON.stringify(reply)));

// Mode only: first the key of the first stage is missing, then, with that one stored, the key of the second.
const store = createMemoryJudgmentStore();
const [right] = rollouts;
if (right === undefined) throw new Error('no rows');
const first = await scoreRollout({ rollout: right, recipe }, options('only', store));
const [outcome] = group.members[0]?.obtained ?? [];
if (outcome?.outcome.ok === true) await store.put(outcome.outcome.judgment);
const second = await scoreRollout({ rollout: right, recipe }, options('only', store));

// The deadline spans both stages: the second one gets what the first has left.
let clock = 0;
const deadlines: number[] = [];
const slow: ObtainOptions = {
  ...options('use'),
  elapsed: () => clock,
  judge: {
    ok: true,
    judge: {
      ...LEXICAL_JUDGE,
      judge(request, limits) {
        deadlines.push(limits.deadline_ms);
        clock += 400;
        return LEXICAL_JUDGE.judge(request, limits);
      },
    },
  },
};
await scoreRollout({ rollout: right, recipe }, slow);

// The judge fails for the criteria of the first member: no other reward may change, unless it names that member.
const half: ObtainOptions = {
  ...options('use'),
  judge: {
    ok: true,
    judge: {
      ...LEXICAL_JUDGE,
      judge(request, limits) {
        if (request.kind !== 'rubric' || request.answer !== right.response) return LEXICAL_JUDGE.judge(request, limits);
        const failure = { reason: 'judge_unreachable', detail: 'down', retryable: true } as const;
        return Promise.resolve({ ok: false, failure });
      },
    },
  },
};
const lost = await scoreGroup({ rollouts, recipe }, half);
if (lost.status !== 'done') throw new Error(JSON.stringify(lost));
for (const { reply } of lost.members) scoreResponseSchema.parse(JSON.parse(JSON.stringify(reply)));

const recorded = group.members.map((member) => recordedScore(member, false));
const rows = recorded.map(
  ({ stored }, position): LedgerRow => ({
    ...stored,
    facts: factsSchema.parse(JSON.parse(JSON.stringify(stored.facts))),
    run: 'run',
    step: 0,
    group: 'g',
    sample: `s${position}`,
    attempt: 0,
    grouping: 'given',
    content: DIGEST,
    recipe: DIGEST,
    recorded_at: '2026-01-01T00:00:00.000Z',
  }),
);
const other = { ...RECIPE, weight: 0.2 };
const replayed = replayGroup(rows, RECIPE, other);

// Recorded without the criteria, a right answer has no reward under a recipe that asks about them.
const outcomeOnly = { ...RECIPE, ask_criteria: false };
const shorter = await resolveRecipe(outcomeOnly);
if (!shorter.ok) throw new Error(JSON.stringify(shorter.error));
const short = await scoreGroup({ rollouts, recipe: shorter.value }, options('use'));
if (short.status !== 'done') throw new Error(JSON.stringify(short));
const shortRows = rows.map((row, position) => ({ ...row, facts: short.members[position]?.facts ?? row.facts }));
const asksMore = replayGroup(shortRows, outcomeOnly, RECIPE);

const before = new Map([[DIGEST, RECIPE]]);
const pass = new LivePass(
  { prepared: [prepareGroup(rows, before)], after: new Map([[DIGEST, other]]) },
  rows.length,
  before,
  'mean',
);
while (pass.step());

console.log(
  JSON.stringify({
    alone: alone.map((one) => (one.status === 'done' ? one.reply : one)),
    group: group.members.map(({ reply }) => reply),
    lost: lost.members.map(({ reply, failure }) => ({ ...reply, failure: failure?.reason ?? null })),
    missing: [first, second].map((one) => (one.status === 'missing' ? one.judgments.map(({ kind }) => kind) : one)),
    deadlines,
    recorded: recorded.map(({ statistics, report }) => ({ statistics, report })),
    replayed: replayed.samples.map((sample) => ({
      recorded: sample.recorded,
      before: sample.before.reward,
      after: sample.after.reward,
    })),
    composed: composeGroup(
      rows.map(({ facts }) => facts),
      other,
    ).map(({ reward }) => reward),
    gaps: asksMore.samples.map(({ gaps }) => gaps),
    controls: composeFields(RECIPE).map(({ name, kind }) => `${name}: ${kind}`),
    live: [...pass.figures.rewards],
  }),
);
