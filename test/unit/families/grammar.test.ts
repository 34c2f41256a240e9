import { describe, expect, it } from 'vitest';
import { honestResponse } from '../../../bench/hacks/hack-class.ts';
import { HACK_CLASSES } from '../../../bench/hacks/hack-classes.ts';
import { HONEST_ROWS, type HonestRow, withAddresses } from '../../../bench/hacks/honest-answers.ts';
import { createScorer, lexicalJudge, type RecipeInput, verifyCitations } from '../../../lib/index.ts';
import { CLAIM_WRITERS } from '../../../src/citations/claim-writers.ts';
import { GRAMMAR_NAMES, type GrammarName } from '../../../src/citations/grammars.ts';
import { REFINER_RECIPES, refinerComposer } from '../../../src/families/refiner/composer.ts';

/** Of the 39 classes, honest answers included. */
const MOST_CLASSES = 30;

describe('an answer earns the same in every grammar', () => {
  const scorer = createScorer({ judge: lexicalJudge });
  const score = async (row: HonestRow, response: string, recipe: RecipeInput) => {
    const scored = await scorer.score(
      {
        question: row.question,
        response,
        sources: row.sources,
        positive_rubrics: row.positive.map((description) => ({ description })),
        negative_rubrics: row.negative.map((description) => ({ description })),
      },
      recipe,
    );
    return { reward: scored.reward, keys: scored.judgments.map(({ key }) => key) };
  };

  it.each(GRAMMAR_NAMES)('%s', async (grammar) => {
    const differ: string[] = [];
    const compared = new Set<string>();
    for (const plain of HONEST_ROWS) {
      const row = grammar === 'link' ? withAddresses(plain) : plain;
      for (const { name, response } of [{ name: 'honest', response: honestResponse }, ...HACK_CLASSES]) {
        const [inSnippets, written] = [response(row, CLAIM_WRITERS.snippet), response(row, CLAIM_WRITERS[grammar])];
        // An unclosed mark stays in the text that judges read, and so does a repeated id in a snippet tag.
        if (name === 'unclosed_citation' || name === 'spray_repeated') continue;
        // Some classes cannot be written in every grammar, such as one marker for several sentences.
        if (claimsOf(row, inSnippets, 'snippet') !== claimsOf(row, written, grammar)) continue;
        compared.add(name);
        const expected = await score(row, inSnippets, 'refiner-rl-balanced');
        const actual = await score(row, written, { base: 'refiner-rl-balanced', grammar });
        if (actual.reward !== expected.reward) differ.push(`${name} ${actual.reward} ${expected.reward}`);
        else if (String(actual.keys) !== String(expected.keys)) differ.push(`${name} keys`);
      }
    }
    expect(differ).toEqual([]);
    expect(compared).toContain('honest');
    expect(compared.size).toBeGreaterThanOrEqual(MOST_CLASSES);
  });
});

/** The claims with their ids, as text. */
function claimsOf({ sources }: HonestRow, response: string, grammar: GrammarName): string {
  const { claims } = verifyCitations({ response, sources, grammar, answer: 'first' }, { evidence: 'none' });
  return JSON.stringify(claims.map(({ text, ids }) => [text, ids.map(({ id }) => id)]));
}

describe('the grammar of a recipe', () => {
  const scorer = createScorer({ judge: lexicalJudge });
  const rollout = {
    question: 'When did it open?',
    sources: [{ id: 'S1', text: 'The bridge opened in 1937.' }],
    positive_rubrics: [{ description: 'States that the bridge opened in 1937' }],
  };

  it('default snippet tags: markers cite nothing', async () => {
    const response = '<answer>The bridge opened in 1937 [S1].</answer>';
    const plain = await scorer.score({ ...rollout, response }, 'refiner-rl-balanced');
    const read = await scorer.score({ ...rollout, response }, { base: 'refiner-rl-balanced', grammar: 'bracket' });
    expect([plain.components.citation.value, read.components.citation.value]).toEqual([0, 1]);
  });

  it('an unknown one is refused by the name of the field', async () => {
    const response = '<answer>It opened in 1937 [S1].</answer>';
    const recipe = { base: 'refiner-rl-balanced', grammar: 'brackets' } as const;
    await expect(scorer.score({ ...rollout, response }, recipe)).rejects.toThrow(/grammar/);
  });

  it.each(['carr-exact', 'longtrace-rl', 'dr-tulu', 'grpo-tcr'] as const)(
    '%s reads one: the field is refused',
    async (base) => {
      const response = '<answer>It opened in 1937 [S1].</answer>';
      const score = (fields: Readonly<Record<string, unknown>>) =>
        scorer.score({ ...rollout, response }, { base, ...fields });
      await expect(score({ grammar: 'bracket' })).rejects.toThrow('grammar');
      await expect(score({ citations: 'required' })).rejects.toThrow('citations');
    },
  );

  it('a replay needs the same grammar; snippet is the same as none', () => {
    const plain = REFINER_RECIPES['refiner-rl-balanced'];
    const gaps = (grammar: GrammarName) => refinerComposer.gaps(plain, { ...plain, grammar }, ['grammar']);
    expect(gaps('snippet')).toEqual([]);
    expect(gaps('bracket').map(({ name }) => name)).toEqual(['recipe.grammar']);
  });

  it("a vendor's answer is read as it was converted", async () => {
    const cited_answer = [
      {
        type: 'text',
        text: 'The bridge opened in 1937.',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://a.example/',
            title: 'A',
            cited_text: 'The bridge opened in 1937.',
          },
        ],
      },
    ];
    const { question, positive_rubrics } = rollout;
    const row = { question, positive_rubrics, cited_answer };
    const plain = await scorer.score(row, 'refiner-rl-balanced');
    const read = await scorer.score(row, { base: 'refiner-rl-balanced', grammar: 'bracket' });
    expect(read.reward).toBe(plain.reward);
    expect(read.claims).toHaveLength(1);
  });
});
