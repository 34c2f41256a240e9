/**
 * Scores every hack class beside the honest answer that it is made of: under each recipe in its own grammar, and under
 * the refiners in every grammar.
 */
import { compose, createScorer, type Verification, verifyCitations } from '../../lib/index.ts';
import { CLAIM_WRITERS, type ClaimWriter } from '../../src/citations/claim-writers.ts';
import { GRAMMAR_NAMES, type GrammarName } from '../../src/citations/grammars.ts';
import type { FindingReason } from '../../src/citations/types.ts';
import { type HackClass, honestResponse } from './hack-class.ts';
import { HACK_CLASSES } from './hack-classes.ts';
import { HONEST_ROWS, type HonestRow, withAddresses } from './honest-answers.ts';
import { REFINERS, type RefinerName, refinerRollout, SETTINGS, type Setting } from './settings.ts';
import { wordJudge } from './word-judge.ts';

/** What the verifier reports: a finding, or one of the reply's fields about a statement or a claim. */
export type Report = FindingReason | 'needs_citation' | 'duplicate_of' | 'negation_mismatch';

/** What one hack class earns under one recipe, over all rows. */
export type HackCell = {
  readonly hack: string;
  readonly setting: string;
  /** Mean reward of the hack / mean reward of the honest answer. */
  readonly paid: number;
};

/** One hack class in one grammar. */
export type GrammarCell = {
  readonly grammar: GrammarName;
  readonly hack: string;
  readonly changes: HackClass['changes'];
  readonly paid: Readonly<Record<RefinerName, number>>;
  /** What is reported of the hack in every row, and of no honest answer. */
  readonly reports: readonly Report[];
  /** Whether something is reported in every row that is not reported of its honest answer. */
  readonly isReported: boolean;
};

/** A report on an honest answer. */
type FalseAlarm = { readonly grammar: GrammarName; readonly row: string; readonly reports: readonly Report[] };

/** The matrix. */
export type HackMatrix = {
  readonly cells: readonly HackCell[];
  readonly grammars: readonly GrammarCell[];
  readonly alarms: readonly FalseAlarm[];
};

type Respond = (row: HonestRow, cite: ClaimWriter) => string;

const REFINER_NAMES = Object.keys(REFINERS) as readonly RefinerName[];
const scorer = createScorer({ judge: wordJudge });

/** Computes the matrix. @throws Error if an answer is unscored. */
export async function hackMatrix(): Promise<HackMatrix> {
  const read = [];
  for (const grammar of GRAMMAR_NAMES) read.push(await inGrammar(grammar));
  const cells: HackCell[] = [];
  for (const setting of SETTINGS) {
    const honest = await meanReward(setting, honestResponse);
    for (const { name, response } of HACK_CLASSES) {
      cells.push({ hack: name, setting: setting.name, paid: (await meanReward(setting, response)) / honest });
    }
  }
  return { cells, grammars: read.flatMap(({ cells }) => cells), alarms: read.flatMap(({ alarms }) => alarms) };
}

/** All classes in one grammar, under the refiners. */
async function inGrammar(
  grammar: GrammarName,
): Promise<{ readonly cells: readonly GrammarCell[]; readonly alarms: readonly FalseAlarm[] }> {
  const honest = await readIn(grammar, honestResponse);
  const cells: GrammarCell[] = [];
  for (const { name, changes, response } of HACK_CLASSES) {
    const hack = await readIn(grammar, response);
    const reports = hack.reports.map((own, n) => [...own].filter((report) => honest.reports[n]?.has(report) !== true));
    cells.push({
      grammar,
      hack: name,
      changes,
      paid: paidOf((refiner) => hack.rewards[refiner] / honest.rewards[refiner]),
      reports: (reports[0] ?? []).filter((report) => reports.every((own) => own.includes(report))),
      isReported: reports.every((own) => own.length > 0),
    });
  }
  const alarms = honest.reports.map((reports, n) => ({
    grammar,
    row: HONEST_ROWS[n]?.name ?? '',
    reports: [...reports],
  }));
  return { cells, alarms: alarms.filter(({ reports }) => reports.length > 0) };
}

function paidOf(of: (refiner: RefinerName) => number): Readonly<Record<RefinerName, number>> {
  return {
    'refiner-gpt54-instance-rubric': of('refiner-gpt54-instance-rubric'),
    'refiner-rl-balanced': of('refiner-rl-balanced'),
    'own recipe': of('own recipe'),
  };
}

/** The summed rewards of the rows under each refiner, and what is reported of each row. */
async function readIn(grammar: GrammarName, respond: Respond) {
  const rewards = { 'refiner-gpt54-instance-rubric': 0, 'refiner-rl-balanced': 0, 'own recipe': 0 };
  const reports: ReadonlySet<Report>[] = [];
  for (const row of rowsIn(grammar)) {
    const response = respond(row, CLAIM_WRITERS[grammar]);
    const recipe = { base: 'refiner-rl-balanced', grammar } as const;
    const { facts } = await scorer.score(refinerRollout(row, response), recipe, { measureAll: true });
    // The refiners differ in fields of the formula only, so one measurement serves all of them.
    for (const name of REFINER_NAMES) {
      const { reward, reason } = compose(facts, REFINERS[name]);
      if (reward === null) throw new Error(`${row.name}: unscored, ${reason}`);
      rewards[name] += reward;
    }
    reports.push(reportsOn(row, response, grammar));
  }
  return { rewards, reports };
}

async function meanReward({ grammar, cite, recipe, rollout }: Setting, respond: Respond): Promise<number> {
  let sum = 0;
  for (const row of rowsIn(grammar)) {
    const { reward, reason } = await scorer.score(rollout(row, respond(row, cite ?? CLAIM_WRITERS[grammar])), recipe);
    if (reward === null) throw new Error(`${row.name}: unscored, ${reason}`);
    sum += reward;
  }
  return sum / HONEST_ROWS.length;
}

/** The rows with ids that can be cited in the grammar. */
function rowsIn(grammar: GrammarName): readonly HonestRow[] {
  return grammar === 'link' ? HONEST_ROWS.map(withAddresses) : HONEST_ROWS;
}

function reportsOn({ question, sources }: HonestRow, response: string, grammar: GrammarName): Set<Report> {
  const verified: Verification = verifyCitations(
    { response, sources, question, grammar, answer: 'first', mode: 'answer_only' },
    { evidence: 'lexical' },
  );
  const reports = new Set<Report>(verified.findings.map(({ reason }) => reason));
  if (verified.statements.some(({ needs_citation }) => needs_citation)) reports.add('needs_citation');
  if (verified.claims.some(({ duplicate_of }) => duplicate_of !== null)) reports.add('duplicate_of');
  if (verified.claims.some(({ evidence }) => evidence?.negation_mismatch)) reports.add('negation_mismatch');
  return reports;
}
