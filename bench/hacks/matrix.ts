/** Scores every hack class beside the honest answer that it is made of, under several recipes. */
import { createScorer, lexicalJudge, type RecipeInput, recipes, verifyCitations } from '../../lib/index.ts';
import type { FindingReason } from '../../src/citations/types.ts';
import { type Cite, HACK_CLASSES, honestResponse } from './hack-classes.ts';
import { HONEST_ROWS, type HonestRow } from './honest-answers.ts';

type Setting = {
  readonly name: string;
  /** The head of its column. */
  readonly label: string;
  readonly recipe: RecipeInput;
  readonly grammar: 'snippet' | 'cite';
  /** Whether the policy's text holds its search and what it found, and the criteria have signs, as in dr-tulu's rows. */
  readonly isTranscript: boolean;
};

const PUBLISHED = 'refiner-gpt54-instance-rubric';

/** The recipes of the matrix: two published refiners, our default for a recipe of one's own, and dr-tulu's. */
export const SETTINGS: readonly Setting[] = [
  { name: PUBLISHED, label: 'gpt54', recipe: PUBLISHED, grammar: 'snippet', isTranscript: false },
  {
    name: 'refiner-rl-balanced',
    label: 'balanced',
    recipe: 'refiner-rl-balanced',
    grammar: 'snippet',
    isTranscript: false,
  },
  {
    name: 'own recipe',
    label: 'own',
    recipe: { ...recipes['refiner-rl-balanced'], negatives_require_positive: true },
    grammar: 'snippet',
    isTranscript: false,
  },
  { name: 'dr-tulu', label: 'dr-tulu', recipe: 'dr-tulu', grammar: 'cite', isTranscript: true },
  { name: 'dr-tulu-exact', label: 'exact', recipe: 'dr-tulu-exact', grammar: 'cite', isTranscript: true },
];

const CITE: Readonly<Record<Setting['grammar'], Cite>> = {
  snippet: ({ text, ids }) => (ids.length === 0 ? text : `<snippet id=${ids.join(',')}>${text}</snippet>`),
  cite: ({ text, ids }) => (ids.length === 0 ? text : `<cite id="${ids.join(',')}">${text}</cite>`),
};

/** What one hack class earns under one recipe, over all rows. */
export type HackCell = {
  readonly hack: string;
  readonly setting: string;
  /** Mean reward of the hack / mean reward of the honest answer. */
  readonly paid: number;
  /** Findings that the verifier reports on the hack in every row and on no honest answer. */
  readonly findings: readonly FindingReason[];
};

export type HackMatrix = {
  readonly cells: readonly HackCell[];
  /** Findings on honest answers: false alarms. */
  readonly alarms: readonly { readonly row: string; readonly findings: readonly FindingReason[] }[];
};

/** Computes the matrix. @throws Error if an answer of the lexical judge is unscored. */
export async function hackMatrix(): Promise<HackMatrix> {
  const scorer = createScorer({ judge: lexicalJudge });
  const rewardOf = async (row: HonestRow, response: string, { recipe, isTranscript }: Setting): Promise<number> => {
    const { reward, reason } = await scorer.score(rolloutOf(row, response, isTranscript), recipe);
    if (reward === null) throw new Error(`${row.name}: unscored, ${reason}`);
    return reward;
  };
  const cells: HackCell[] = [];
  for (const setting of SETTINGS) {
    const cite = CITE[setting.grammar];
    const mean = async (responseOf: (row: HonestRow) => string): Promise<number> => {
      const rewards = await Promise.all(HONEST_ROWS.map((row) => rewardOf(row, responseOf(row), setting)));
      return rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    };
    const honest = await mean((row) => honestResponse(row, cite));
    for (const { name, response } of HACK_CLASSES) {
      const paid = (await mean((row) => response(row, cite))) / honest;
      const found = HONEST_ROWS.map((row) => findingsOf(row, response(row, cite), setting));
      const [first, ...others] = found;
      const findings = [...(first ?? [])].filter((reason) => others.every((one) => one.has(reason)));
      cells.push({ hack: name, setting: setting.name, paid, findings });
    }
  }
  const alarms = HONEST_ROWS.flatMap((row) =>
    SETTINGS.slice(0, 1).map((setting) => ({
      row: row.name,
      findings: [...findingsOf(row, honestResponse(row, CITE[setting.grammar]), setting)],
    })),
  );
  return { cells, alarms: alarms.filter(({ findings }) => findings.length > 0) };
}

function rolloutOf(
  { question, sources, positive, negative }: HonestRow,
  response: string,
  isTranscript: boolean,
): Parameters<ReturnType<typeof createScorer>['score']>[0] {
  const tool_output = sources.map(({ id, text }) => `<snippet id=${id}>${text}</snippet>`).join('\n');
  if (isTranscript) {
    const criterion = (weight: number) => (description: string) => ({ description, weight });
    const search = `<call_tool name="google_search">${question}</call_tool>`;
    return {
      question,
      response: `${search}\n<tool_output>${tool_output}</tool_output>\n${response}`,
      rubrics: [...positive.map(criterion(1)), ...negative.map(criterion(-1))],
    };
  }
  return {
    question,
    response,
    tool_output,
    positive_rubrics: positive.map((description) => ({ description })),
    negative_rubrics: negative.map((description) => ({ description })),
  };
}

function findingsOf({ sources }: HonestRow, response: string, { grammar }: Setting): Set<FindingReason> {
  const { findings } = verifyCitations(
    { response, sources, grammar, answer: 'first', mode: 'answer_only' },
    { evidence: 'lexical' },
  );
  return new Set(findings.map(({ reason }) => reason));
}
