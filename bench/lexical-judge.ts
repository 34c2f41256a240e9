/**
 * Measures the built-in lexical judge on labelled claims. `--fit` fits its weights; `--speed` compares its time with
 * `JSON.parse` of the same rollout; `--pairs` counts how many claims that are false by one edit it takes as supported.
 *
 *   node bench/lexical-judge.ts --data PATH [--fit], or node bench/lexical-judge.ts --speed, or --pairs
 */
import { existsSync } from 'node:fs';
import { gather } from '../src/lexical/gather-evidence.ts';
import { RELEVANT_COVERAGE } from '../src/lexical/relevance.ts';
import { indexSources } from '../src/lexical/source-index.ts';
import {
  FULL_SUPPORT_MIN,
  SUPPORT_FEATURES,
  SUPPORT_INTERCEPT,
  SUPPORT_WEIGHTS,
  supportVerdict,
} from '../src/lexical/support-model.ts';
import { type LabelledClaim, type Part, partOf, readLabelledClaims } from './lexical-judge/labelled-claims.ts';
import { fitLogistic } from './lexical-judge/logistic-fit.ts';
import { measurePairs } from './lexical-judge/measure-pairs.ts';
import { auc, balancedAccuracy, bestThreshold, calibration, type Scored } from './lexical-judge/metrics.ts';
import { plainCoverage } from './lexical-judge/plain-coverage.ts';
import { measureSpeed } from './lexical-judge/speed.ts';

type Measured = LabelledClaim & {
  readonly part: Part;
  readonly plain: number;
  readonly gathered: ReturnType<typeof gather>;
};
type Score = (row: Measured) => number;

const PARTS: readonly Part[] = ['tuning', 'held-out'];
/** Allowed signs of the weights, in the order of SUPPORT_FEATURES. */
const SIGNS: readonly number[] = [1, 1, -1, -1, -1, -1];
const L2 = 0.0005;

function main(args: readonly string[]): void {
  if (args.includes('--speed')) {
    measureSpeed();
    return;
  }
  if (args.includes('--pairs')) {
    measurePairs();
    return;
  }
  const at = args.indexOf('--data');
  const path = at === -1 ? '' : (args[at + 1] ?? '');
  if (!existsSync(path)) {
    console.error('Pass a file of labelled claims, which is not part of the repository: --data PATH');
    console.error('docs/concepts/lexical-judge.md describes its format.');
    process.exitCode = 1;
    return;
  }
  const rows = readLabelledClaims(path).map(measured);
  const sets = [...new Set(rows.map((row) => row.set))];
  const plainThreshold = bestThreshold(thresholdSets(rows, sets, (row) => row.plain));
  if (args.includes('--fit')) {
    fitModel(rows, sets);
    return;
  }
  report(rows, sets, plainThreshold);
}

function measured(row: LabelledClaim): Measured {
  const gathered = gather(indexSources([{ text: row.evidence }]), row.claim, [0]);
  return { ...row, part: partOf(row), plain: plainCoverage(row.claim, row.evidence), gathered };
}

const ours: Score = (row) => row.gathered.evidence.support;

function select(rows: readonly Measured[], set: string, part: Part | null, score: Score): Scored[] {
  return rows
    .filter((row) => row.set === set && (part === null || row.part === part))
    .map((row) => ({ score: score(row), supported: row.label === 'supported' }));
}

/** The weight of a set: the two SummEdits domains together count as one set. */
function familyShare(set: string): number {
  return set.startsWith('summedits') ? 0.5 : 1;
}

/** Tuning rows by set, repeated so that each set has the weight it has in the fit. */
function thresholdSets(rows: readonly Measured[], sets: readonly string[], score: Score): Scored[][] {
  return sets.flatMap((set) => Array.from({ length: familyShare(set) * 2 }, () => select(rows, set, 'tuning', score)));
}

function fitModel(rows: readonly Measured[], sets: readonly string[]): void {
  const tuning = rows.filter((row) => row.part === 'tuning');
  const families = sets.reduce((sum, set) => sum + familyShare(set), 0);
  const sizes = new Map(sets.map((set) => [set, tuning.filter((row) => row.set === set).length]));
  const examples = tuning.map((row) => ({
    features: SUPPORT_FEATURES.map((name) => row.gathered.features[name]),
    supported: row.label === 'supported',
    weight: familyShare(row.set) / families / (sizes.get(row.set) ?? 1),
  }));
  const model = fitLogistic(examples, SIGNS, L2);
  const probability: Score = (row) => {
    if (row.gathered.evidence.verbatim.length > 0) return ours(row);
    const z = SUPPORT_FEATURES.reduce(
      (sum, name, k) => sum + (model.weights[k] ?? 0) * row.gathered.features[name],
      model.intercept,
    );
    return 1 / (1 + Math.exp(-z));
  };
  console.log(`intercept ${model.intercept.toFixed(2)}`);
  for (const [k, name] of SUPPORT_FEATURES.entries()) console.log(`${name} ${(model.weights[k] ?? 0).toFixed(2)}`);
  console.log(`threshold ${bestThreshold(thresholdSets(rows, sets, probability)).toFixed(3)}`);
  const threeWay = rows
    .filter((row) => row.part === 'tuning' && row.set.startsWith('wice'))
    .map((row) => ({ score: probability(row), supported: row.label !== 'unsupported' }));
  console.log(
    `partial threshold (supported or partial against unsupported, wice) ${bestThreshold([threeWay]).toFixed(3)}`,
  );
}

function report(rows: readonly Measured[], sets: readonly string[], plainThreshold: number): void {
  console.log(
    `weights: ${SUPPORT_INTERCEPT} ${SUPPORT_FEATURES.map((name) => `${name} ${SUPPORT_WEIGHTS[name]}`).join(', ')}`,
  );
  console.log(
    `thresholds (tuning part, one for all sets): plain ${plainThreshold.toFixed(3)}, ours ${FULL_SUPPORT_MIN}\n`,
  );
  console.log('| set | part | n | supported | plain AUC | ours AUC | plain BAcc | ours BAcc |');
  console.log('|---|---|---:|---:|---:|---:|---:|---:|');
  for (const set of sets) {
    for (const part of PARTS) {
      const plain = select(rows, set, part, (row) => row.plain);
      const own = select(rows, set, part, ours);
      const share = Math.round((100 * own.filter((row) => row.supported).length) / own.length);
      const cells = [
        auc(plain),
        auc(own),
        balancedAccuracy(plain, plainThreshold),
        balancedAccuracy(own, FULL_SUPPORT_MIN),
      ].map((x) => x.toFixed(3));
      console.log(`| ${set} | ${part} | ${own.length} | ${share} % | ${cells.join(' | ')} |`);
    }
  }
  reportThreeWay(rows);
  reportCalibration(rows, sets);
  reportRules(rows, sets);
  reportRelevance(rows, sets);
}

function reportThreeWay(rows: readonly Measured[]): void {
  console.log('\nthree-way, wice (both parts): rows by label, verdict full / partial / none');
  for (const label of ['supported', 'partial', 'unsupported'] as const) {
    const counts = { full: 0, partial: 0, none: 0 };
    for (const row of rows) if (row.set.startsWith('wice') && row.label === label) counts[supportVerdict(ours(row))]++;
    console.log(`  ${label.padEnd(12)} ${counts.full} / ${counts.partial} / ${counts.none}`);
  }
}

function reportCalibration(rows: readonly Measured[], sets: readonly string[]): void {
  console.log(
    '\ncalibration, held-out: expected calibration error; per fifth of the scale: n, mean support, share supported',
  );
  for (const set of sets) {
    const { error, bins } = calibration(select(rows, set, 'held-out', ours), 5);
    const cells = bins.map(
      (bin) => `${bin.from.toFixed(1)}: ${bin.n} ${bin.score.toFixed(2)} ${bin.supported.toFixed(2)}`,
    );
    console.log(`  ${set.padEnd(22)} ECE ${error.toFixed(3)}   ${cells.join('   ')}`);
  }
}

function reportRules(rows: readonly Measured[], sets: readonly string[]): void {
  const rules: readonly { name: string; holds: (row: Measured) => boolean; says: boolean }[] = [
    { name: 'verbatim -> supported', holds: (row) => row.gathered.evidence.verbatim.length > 0, says: true },
    {
      name: 'number missing -> not supported',
      holds: (row) => row.gathered.evidence.missing_numbers.length > 0,
      says: false,
    },
    {
      name: 'name missing -> not supported',
      holds: (row) => row.gathered.evidence.missing_names.length > 0,
      says: false,
    },
    {
      name: 'negation mismatch -> not supported',
      holds: (row) => row.gathered.evidence.negation_mismatch,
      says: false,
    },
    { name: 'coverage < 0.3 -> not supported', holds: (row) => row.gathered.evidence.coverage < 0.3, says: false },
    {
      name: 'coverage >= 0.9, no flag -> supported',
      holds: (row) => unflagged(row) && row.gathered.evidence.coverage >= 0.9,
      says: true,
    },
  ];
  console.log('\nrules, both parts: rows the label agrees with / rows the rule applies to');
  for (const rule of rules) {
    const cells = sets.map((set) => {
      const hit = rows.filter((row) => row.set === set && rule.holds(row));
      return `${set} ${hit.filter((row) => (row.label === 'supported') === rule.says).length}/${hit.length}`;
    });
    console.log(`  ${rule.name.padEnd(38)} ${cells.join('   ')}`);
  }
}

function unflagged(row: Measured): boolean {
  const { missing_numbers, missing_names, negation_mismatch } = row.gathered.evidence;
  return missing_numbers.length === 0 && missing_names.length === 0 && !negation_mismatch;
}

/** Proxy labels for relevance: a supported claim's own document is relevant, another document of its set is not. */
function reportRelevance(rows: readonly Measured[], sets: readonly string[]): void {
  console.log(`\nrelevance at coverage ${RELEVANT_COVERAGE}: own document of supported claims / another document`);
  for (const set of sets) {
    const supported = rows.filter((row) => row.set === set && row.label === 'supported');
    let own = 0;
    let other = 0;
    let others = 0;
    for (const [i, row] of supported.entries()) {
      const stranger = supported[(i + (supported.length >> 1)) % supported.length];
      if (row.gathered.evidence.coverage >= RELEVANT_COVERAGE) own++;
      if (stranger === undefined || stranger.evidence === row.evidence) continue;
      others++;
      if (gather(indexSources([{ text: stranger.evidence }]), row.claim, [0]).evidence.coverage >= RELEVANT_COVERAGE)
        other++;
    }
    console.log(`  ${set.padEnd(22)} ${(own / supported.length).toFixed(2)} / ${(other / others).toFixed(2)}`);
  }
}

main(process.argv.slice(2));
