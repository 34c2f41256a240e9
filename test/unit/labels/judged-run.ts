/** Runs whose labels are known, judged by a judge whose errors are known. */
import { RECIPES } from '../../../src/families/composers.ts';
import type { RefinerFacts } from '../../../src/families/refiner/facts.ts';
import { refiner } from '../../../src/families/refiner/family.ts';
import type { MeasuredKind } from '../../../src/family/verdict-levels.ts';
import { drawnIndex, type MeasuredError } from '../../../src/labels/judge-error.ts';
import { labelFigures } from '../../../src/labels/label-figures.ts';
import type { LabelKind } from '../../../src/labels/labelled-row.ts';
import { type JudgeError, type RunRisk, runRisk } from '../../../src/labels/run-risk.ts';
import { prepareGroup, replayPrepared } from '../../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';

const RECIPE = { ...RECIPES['refiner-guarded'], judge_static: false, padding_lowers_citation: false };
export const RECIPES_OF_RUN = new Map([['r', RECIPE]]);

/** Rows: labels; columns: how often the judge gives each verdict. */
const CONFUSION: Readonly<Record<LabelKind, readonly (readonly number[])[]>> = {
  criterion: [
    [0.8, 0.12, 0.08],
    [0.2, 0.6, 0.2],
    [0.05, 0.1, 0.85],
  ],
  claim: [
    [0.75, 0.15, 0.1],
    [0.2, 0.6, 0.2],
    [0.05, 0.1, 0.85],
  ],
  needs_citation: [
    [0.9, 0.1],
    [0.1, 0.9],
  ],
};
const KIND_OF: Readonly<Record<MeasuredKind, LabelKind>> = {
  positive: 'criterion',
  negative: 'criterion',
  static: 'criterion',
  support: 'claim',
  needs_citation: 'needs_citation',
};

type Random = () => number;

/** Facts whose verdicts are right. */
function labels(random: Random): RefinerFacts {
  const level = (shares: readonly number[]): number => drawnIndex(shares, random);
  const criterion = (polarity: 'positive' | 'negative', shares: readonly number[]) =>
    ({ origin: 'instance', polarity, weight: 1, score: level(shares) }) as const;
  const support = () => [0, 0.5, 1][level([0.3, 0.2, 0.5])] ?? 0;
  const claim = () => {
    const own = support();
    return { cited: true, support: own, relevant: [own > 0] } as const;
  };
  return {
    ...{ v: 1, family: 'refiner', has_answer: true, format: { answer_only: 1, full: 1 }, finish_reason: 'stop' },
    ...{ cites: true, findings: {} },
    rubric: {
      status: 'scored',
      observed: [
        criterion('positive', [0.3, 0.2, 0.5]),
        criterion('positive', [0.5, 0.2, 0.3]),
        criterion('negative', [0.7, 0.1, 0.2]),
      ],
    },
    citation: {
      status: 'scored',
      observed: [claim(), claim(), { cited: false, needs_citation: random() < 0.3 }],
    },
  };
}

function judged(facts: RefinerFacts, random: Random): RefinerFacts {
  return refiner.facts.revised(facts, (kind, level) => drawnIndex(CONFUSION[KIND_OF[kind]][level] ?? [], random));
}

function checked(kind: LabelKind, rowsOfLevel: number, random: Random): MeasuredError {
  const rows = CONFUSION[kind].flatMap((verdicts, level) =>
    Array.from({ length: rowsOfLevel }, (_, cluster) => ({
      ...{ kind, set: 's', edits: [], pair: null, adversarial: false, cluster, level },
      verdict: drawnIndex(verdicts, random),
    })),
  );
  return labelFigures(kind, rows, 0);
}

/** What a check of the judge on labelled rows finds. @param rowsOfLevel rows with each label. */
export function checkOf(rowsOfLevel: number, random: Random): JudgeError {
  return {
    criterion: checked('criterion', rowsOfLevel, random),
    claim: checked('claim', rowsOfLevel, random),
    needs_citation: checked('needs_citation', rowsOfLevel, random),
  };
}

function rowOf(facts: RefinerFacts, group: number, sample: number): LedgerRow {
  return {
    ...{ v: 1, run: 'run', step: 3, group: `g${group}`, sample: `s${sample}`, attempt: 0, grouping: 'given' },
    ...{ content: 'c', recipe: 'r', facts, judgments: [], reward: null, reason: null, recorded_at: '' },
  };
}

export async function riskOf(
  groups: readonly (readonly LedgerRow[])[],
  error: JudgeError,
  draws = 100,
): Promise<RunRisk> {
  const all = async function* () {
    yield* groups;
  };
  const risk = await runRisk(all, RECIPES_OF_RUN, error, { draws, seed: 1 });
  if ('reason' in risk) throw new Error(`no risk: ${risk.reason}`);
  return risk;
}

/** The rows with the judge's verdicts, and what the judge did: shares of changed signs, and of supported claims. */
export function simulated(random: Random, groups: number, samples: number) {
  const rows: LedgerRow[][] = [];
  let [changed, flipped, yes, statements] = [0, 0, 0, 0];
  for (let group = 0; group < groups; group++) {
    const right = Array.from({ length: samples }, () => labels(random));
    const own = right.map((facts, sample) => rowOf(judged(facts, random), group, sample));
    rows.push(own);
    const measured = right.map((facts) => ({ facts }));
    for (const { sign } of replayPrepared(prepareGroup(own, RECIPES_OF_RUN), RECIPES_OF_RUN, measured).samples) {
      if (sign === 'flipped') flipped++;
      if (sign !== 'kept') changed++;
    }
    for (const { citation } of right) {
      if (citation.status === 'unscored') continue;
      for (const one of citation.observed) {
        if (one.cited) {
          statements++;
          if (one.support === 1) yes++;
        }
      }
    }
  }
  const rollouts = groups * samples;
  return { rows, flipped: flipped / rollouts, changed: changed / rollouts, supported: yes / statements };
}
