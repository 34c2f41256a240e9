/** Writes an answer of dr-tulu: a transcript with one search, what the search found, and the answer. */
import { CLAIM_WRITERS } from '../../citations/claim-writers.ts';
import type { AnswerForm } from '../../family/answer-form.ts';
import type { Rollout } from '../../family/rollout.ts';
import type { DrTuluRecipe } from './recipe.ts';
import type { CallForm } from './terms/transcript.ts';

export const drTuluAnswerForm: AnswerForm<DrTuluRecipe> = {
  citing: () => ({ write: CLAIM_WRITERS.cite, idOf: ({ id }) => id }),
  // The sources stand in the transcript alone, where both compat modes read them.
  answered({ tool_output, sources, ...row }, answer, { call_form }) {
    const found = tool_output ?? (sources ?? []).map(snippet).join('\n');
    const search = SEARCH[call_form](row.question ?? '');
    return {
      ...row,
      response: `${search}\n<tool_output>${found}</tool_output>\n<answer>${answer}</answer>`,
    };
  },
};

const SEARCH: Readonly<Record<CallForm, (query: string) => string>> = {
  search: (query) => `<search>${query}</search>`,
  unified: (query) => `<tool name="google_search">${query}</tool>`,
  v20250824: (query) => `<call_tool name="google_search">${query}</call_tool>`,
};

function snippet({ id, text }: NonNullable<Rollout['sources']>[number]): string {
  return `<snippet id="${id}">${text}</snippet>`;
}
