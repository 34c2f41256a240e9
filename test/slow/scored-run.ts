/** A long run that was really scored: every rollout has another text, and the lexical judge judged it. */

import type { ResolvedRecipe } from '../../src/families/resolve.ts';
import type { Rollout } from '../../src/family/rollout.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import type { ObtainOptions } from '../../src/judgments/obtain.ts';
import { createMemoryJudgmentStore } from '../../src/judgments/store.ts';
import { contentDigests } from '../../src/runs/content-digest.ts';
import { recordedScore } from '../../src/runs/recorded-score.ts';
import { writeRunLine } from '../../src/runs/run-file.ts';
import { type ScoredRollout, scoreGroup } from '../../src/scoring/score-rollouts.ts';

export const GROUP = 8;
const SENTENCES = [
  'The Aare is 288 kilometres long.',
  'It is the longest river that lies entirely within Switzerland.',
  'The Aare rises at the Aare Glaciers in the Bernese Alps.',
  'It joins the Rhine near Koblenz.',
  'The lake of Thun lies on its way.',
  'Bern stands in one of its bends.',
];
const FALSE_SENTENCES = ['The Aare is 912 kilometres long.', 'It ends in Italy.', 'Nobody has ever swum in it.'];

/** The rollouts of one group: which sentences they cite, and how well, follows from their number. */
export function rolloutsOf(group: number): Rollout[] {
  const sources = SENTENCES.map((text, n) => ({ id: `S${n}`, text: `${text} Report ${group}.` }));
  return Array.from({ length: GROUP }, (_, sample) => {
    const number = group * GROUP + sample;
    const claims = SENTENCES.flatMap((sentence, n) => {
      if ((number >> n) % 3 === 0) return [];
      const text = number % 5 === n ? (FALSE_SENTENCES[n % 3] ?? sentence) : sentence;
      const cited = number % 7 === n ? `S${n + 10}` : `S${(number + n) % 4 === 0 ? (n + 1) % 6 : n}`;
      return [`<snippet id=${cited}>${text}</snippet>`];
    });
    const answer = `${claims.join(' ')} Rollout ${number} says so, and that is the whole of what it has to say.`;
    return {
      question: `How long is the Aare, and where does it rise? (${group})`,
      sources,
      response: number % 41 === 0 ? 'I would rather not say.' : `<answer>${answer}</answer>`,
      positive_rubrics: [
        { description: 'States that the Aare is 288 km long' },
        { description: 'Names the Bernese Alps' },
      ],
      negative_rubrics: [{ description: 'Claims that the Aare ends in Italy' }],
      finish_reason: 'stop',
    };
  });
}

/** Scoring in this process, with every judgment kept. */
export class KeptJudgments {
  readonly #store = createMemoryJudgmentStore();

  /**
   * @param mode `only`: a missing judgment is a failure, and no judge is called.
   */
  async score(
    rollouts: readonly Rollout[],
    recipe: ResolvedRecipe,
    mode: 'use' | 'only',
  ): Promise<readonly ScoredRollout[]> {
    const options: ObtainOptions = {
      judge: { ok: true, judge: LEXICAL_JUDGE },
      store: this.#store,
      mode,
      replicate: 0,
      deadline_ms: 60_000,
      now: () => '2026-11-22T00:00:00.000Z',
      elapsed: () => performance.now(),
    };
    const scored = await scoreGroup({ rollouts, recipe, plan: { measureAll: true } }, options);
    if (scored.status !== 'done') throw new Error(`the rollouts were not scored: ${scored.status}`);
    return scored.members;
  }
}

/** The lines of the file of a run that is scored while it is read. @param perStep groups of a step. */
export async function* runLines(
  run: string,
  shape: { readonly steps: number; readonly perStep: number },
  recipe: ResolvedRecipe,
  judgments: KeptJudgments,
): AsyncGenerator<string> {
  yield writeRunLine({ kind: 'run', id: run, family: recipe.recipe.family, created_at: '2026-11-22T00:00:00.000Z' });
  yield writeRunLine({ kind: 'recipe', digest: recipe.digest, name: recipe.name, recipe: { ...recipe.recipe } });
  let rollouts = 0;
  for (let number = 0; number < shape.steps * shape.perStep; number++) {
    const group = rolloutsOf(number);
    const scored = await judgments.score(group, recipe, 'use');
    const contents = contentDigests(group, { recipe: recipe.digest, judge: undefined, replicate: 0 });
    for (const [sample, member] of scored.entries()) {
      const { stored, statistics } = recordedScore(member, false);
      rollouts++;
      yield writeRunLine({
        kind: 'rollout',
        rollout: {
          ...stored,
          run,
          step: Math.floor(number / shape.perStep),
          group: groupName(number),
          sample: String(sample),
          attempt: 0,
          grouping: 'given',
          content: contents[sample] ?? '',
          recipe: recipe.digest,
          recorded_at: '2026-11-22T00:00:00.000Z',
          components: statistics.components,
          cached: statistics.cached,
        },
      });
    }
  }
  yield writeRunLine({ kind: 'end', rollouts });
}

/** In the order of the ledger, that of the names. */
export function groupName(number: number): string {
  return `g${String(number).padStart(6, '0')}`;
}
