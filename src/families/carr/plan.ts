/**
 * Plans the judgments of a carr rollout in two stages. The first asks for the outcome and for the names that the answer
 * gives to the labels. The second asks whether the cited pages support the criteria with these names in place.
 */
import { type SourceInput, sourcesFromList, sourcesOf } from '../../citations/sources.ts';
import { readAnswerText } from '../../family/answer-text.ts';
import { countProblems, countsOf } from '../../family/counts.ts';
import { citedAnswerProblems, missingFields, originOf } from '../../family/requirements.ts';
import type { Rollout } from '../../family/rollout.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { EntitiesRequest } from '../../judgments/kinds/entities/entities.ts';
import { ANSWER_LABEL, fill, labelsOf, labelsOfAll } from '../../judgments/kinds/entities/labels.ts';
import type { EntitiesTextRequest } from '../../judgments/kinds/free-text/entities-text.ts';
import type { OutcomeTextRequest } from '../../judgments/kinds/free-text/outcome-text.ts';
import type { StatementsTextRequest } from '../../judgments/kinds/free-text/statements-text.ts';
import type { OutcomeRequest } from '../../judgments/kinds/outcome/outcome.ts';
import { outcomeAsking } from '../../judgments/kinds/outcome/outcome-templates.ts';
import type { StatementsRequest } from '../../judgments/kinds/statements/statements.ts';
import type { JudgedSource } from '../../judgments/protocol/prompt.ts';
import type { AnswerText } from '../../lexical/index.ts';
import type { Result } from '../../result.ts';
import { hasContent } from '../../text/characters.ts';
import { pageKey } from '../../text/url.ts';
import { trajectoryOf } from '../../trajectory/rollout-messages.ts';
import { citedAddresses } from './addresses.ts';
import { isPunished, readsCriteria, readsOutcome } from './compose.ts';
import { evidenceText, citedAddresses as exactAddresses, MAX_CITED_PAGES } from './exact/evidence.ts';
import { exactLabels, fillExactly, labelsInOrder } from './exact/labels.ts';
import { CarrError, carrMessages, type SeenPage, seenPages } from './exact/pages.ts';
import { withoutReferences } from './exact/rewards.ts';
import type { CarrFacts } from './facts.ts';
import { pagesOf } from './pages.ts';
import type { CarrRecipe } from './recipe.ts';
import type { CarrReply } from './reply.ts';

/** A criterion with names in place of its labels; `null` = the answer does not name all of them. */
type Statement = string | null;

export type CarrPlan = {
  /** The facts that need no judge. */
  readonly observed: Omit<CarrFacts, 'outcome' | 'named' | 'supported'>;
  readonly criteria: readonly string[];
  readonly citations: CarrReply['citations'];
  /** Reads the answer with its question and sources; `null` = there is none. */
  readonly answerText: (() => AnswerText) | null;
  /** `no_answer`: the outcome is 0. `not_needed`: the outcome cannot change the reward. */
  readonly outcome: OutcomeRequest | OutcomeTextRequest | 'no_answer' | 'not_needed';
  /** `no_answer`: nothing is named. `not_needed`: the criteria have no weight. */
  readonly entities: EntitiesRequest | EntitiesTextRequest | 'no_answer' | 'not_needed';
  /** The second stage, for the names of the first. */
  statements(names: ReadonlyMap<string, string | null>): {
    readonly filled: readonly Statement[];
    /** `null` = no criterion is filled, or no cited page was seen: none is supported. */
    readonly request: StatementsRequest | StatementsTextRequest | null;
  };
};

/** @param measureAll judge outcome and criteria even if the recipe does not read them. */
export function planCarr(
  rollout: Rollout,
  recipe: CarrRecipe,
  measureAll: boolean,
): Result<CarrPlan, readonly InputProblem[]> {
  const scoresCriteria = readsCriteria(recipe) || (measureAll && rollout.entity_rubrics !== undefined);
  const needed = [
    ...(['question', 'reference'] as const),
    ...(scoresCriteria ? (['entity_rubrics'] as const) : []),
    ...(recipe.punish_ill_formed ? (['finish_reason'] as const) : []),
  ];
  const problems = [
    ...missingFields(rollout, needed, 'carr'),
    ...citedAnswerProblems(rollout, 'carr'),
    ...countProblems(rollout, recipe),
  ];
  const { question, reference } = rollout;
  if (problems.length > 0 || question === undefined || reference === undefined) return { ok: false, error: problems };
  const criteria = scoresCriteria ? (rollout.entity_rubrics ?? []) : [];
  const answer = afterThinking(rollout.response);
  const read =
    recipe.compat === 'exact'
      ? readExactly(rollout, question, answer ?? '', criteria)
      : readCorrectly(rollout, question, answer ?? '', criteria);
  if (!read.ok) return read;
  const { labels, pages, citations, statements, judged, sources } = read.value;
  const observed = {
    v: 1,
    family: 'carr',
    compat: recipe.compat,
    has_answer: answer !== null,
    finish_reason: rollout.finish_reason ?? null,
    criteria: labels,
    pages,
    ...countsOf(rollout, recipe),
  } as const;
  const wanted = measureAll || !isPunished(observed, recipe);
  const all = [...new Set(labels.flat())];
  return {
    ok: true,
    value: {
      observed,
      criteria,
      citations,
      answerText:
        answer === null ? null : () => readAnswerText(answer, question, sourcesFromList(pagesIn(sources())), 'link'),
      outcome:
        answer === null
          ? 'no_answer'
          : wanted && (measureAll || readsOutcome(recipe))
            ? recipe.compat === 'exact'
              ? { kind: 'outcome_text', question, reference, answer: judged }
              : { kind: 'outcome', question, reference, answer: judged, ...outcomeAsking(recipe) }
            : 'not_needed',
      entities:
        answer === null || all.length === 0
          ? 'no_answer'
          : wanted && scoresCriteria
            ? {
                kind: recipe.compat === 'exact' ? 'entities_text' : 'entities',
                question,
                criteria,
                labels: recipe.compat === 'exact' ? exactLabels(criteria.join('\n')) : labelsOfAll(criteria),
                answer: judged,
              }
            : 'not_needed',
      statements,
    },
  };
}

/** The sources with one for each address, which a link cites once; it has the texts of all. */
function pagesIn(sources: readonly SourceInput[]): SourceInput[] {
  const pages = Map.groupBy(sources, ({ id, url }) => pageKey(url ?? id));
  return [...pages.values()].flatMap((same) =>
    same.slice(0, 1).map((page) => ({ ...page, text: same.map(({ text }) => text).join('\n') })),
  );
}

/** The text after the thinking; `null` = there is none, or the thinking is never closed. */
function afterThinking(response: string): string | null {
  const close = response.lastIndexOf('</think>');
  if (close === -1 && response.includes('<think>')) return null;
  const answer = close === -1 ? response : response.slice(close + '</think>'.length).trim();
  return hasContent(answer, 0, answer.length) ? answer : null;
}

type Reading = Pick<CarrPlan, 'citations' | 'statements'> & {
  readonly labels: readonly (readonly string[])[];
  readonly pages: number;
  /** The text that the judge sees. */
  readonly judged: string;
  /** What the answer can cite. */
  readonly sources: () => readonly SourceInput[];
};

function readCorrectly(
  rollout: Rollout,
  question: string,
  answer: string,
  criteria: readonly string[],
): Result<Reading, readonly InputProblem[]> {
  const labels = criteria.map(labelsOf);
  const useless = uselessCriteria(labels);
  if (useless.length > 0) return { ok: false, error: useless };
  const found = sourcesFor(rollout);
  if (!found.ok && criteria.length > 0) return found;
  const sources = found.ok ? found.value : [];
  const bySource = new Map<string, JudgedSource>();
  for (const { id, url, title, text } of sources) {
    const page = { id: url ?? id, text, ...(title === undefined ? {} : { title }) };
    for (const name of url === undefined ? [id] : [url, id]) {
      const key = pageKey(name);
      if (!bySource.has(key)) bySource.set(key, page);
    }
  }
  const cited = citedAddresses(answer);
  const seen = [...new Set(cited.flatMap((address) => bySource.get(pageKey(address)) ?? []))];
  const pages = seen.slice(0, MAX_CITED_PAGES);
  const unseen = cited.filter((address) => !bySource.has(pageKey(address)));
  return {
    ok: true,
    value: {
      labels,
      pages: pages.length,
      citations: { cited: cited.length, pages: pages.length, unseen: unseen.slice(0, MAX_CITED_PAGES) },
      judged: answer,
      sources: () => sources,
      statements(names) {
        const known = new Map([...names].flatMap(([label, name]) => (name === null ? [] : [[label, name] as const])));
        const filled = criteria.map(
          (criterion, n): Statement =>
            labels[n]?.every((label) => known.has(label)) === true ? fill(criterion, known) : null,
        );
        const statements = filled.filter((one) => one !== null);
        const isAsked = statements.length > 0 && pages.length > 0;
        return { filled, request: isAsked ? { kind: 'statements', question, sources: pages, statements } : null };
      },
    },
  };
}

/** The sources of the request, else the pages of its messages; other tools' results are read as by other families. */
function sourcesFor(rollout: Rollout): Result<readonly SourceInput[], readonly InputProblem[]> {
  const trajectory = trajectoryOf(rollout);
  if (trajectory !== null && rollout.sources === undefined && rollout.tool_output === undefined) {
    const pages = pagesOf(trajectory);
    if (pages.length > 0) return { ok: true, value: pages };
  }
  const origin = originOf(rollout, 'carr');
  return origin.ok ? { ok: true, value: sourcesOf(origin.value).list } : origin;
}

/** Criteria that could never count, however good the answer is. */
function uselessCriteria(labels: readonly (readonly string[])[]): InputProblem[] {
  const bare = labels.flatMap((own, n): InputProblem[] => {
    if (own.length > 0) return [];
    const message = 'names no label; write <E0> for the answer and <E1>, <E2>, … for other entities';
    return [{ path: ['entity_rubrics', n], message }];
  });
  if (bare.length > 0 || labels.length === 0 || labels.flat().includes(ANSWER_LABEL)) return bare;
  return [{ path: ['entity_rubrics'], message: 'no criterion names <E0>, the answer, so none could ever count' }];
}

function readExactly(
  rollout: Rollout,
  question: string,
  answer: string,
  criteria: readonly string[],
): Result<Reading, readonly InputProblem[]> {
  const pages = exactPages(rollout);
  if (!pages.ok) return pages;
  const judged = withoutReferences(answer);
  const cited = exactAddresses(judged);
  const seen = cited.filter((address) => pages.value.has(address));
  const evidence = evidenceText(judged, pages.value);
  const count = Math.min(seen.length, MAX_CITED_PAGES);
  return {
    ok: true,
    value: {
      labels: criteria.map(labelsInOrder),
      pages: count,
      citations: {
        cited: cited.length,
        pages: count,
        unseen: cited.filter((address) => !pages.value.has(address)).slice(0, MAX_CITED_PAGES),
      },
      judged,
      sources: () =>
        [...pages.value].map(([url, { title, contents, snippets }]) => ({
          ...{ id: url, url, title },
          text: [...contents, ...snippets].join('\n'),
        })),
      statements(names) {
        const filled = criteria.map((criterion): Statement => {
          const { all_filled, filled_rubric } = fillExactly(criterion, names);
          return all_filled ? filled_rubric : null;
        });
        const statements = filled.filter((one) => one !== null);
        const sources = [{ id: 'pages', text: evidence }];
        const isAsked = statements.length > 0 && evidence !== '';
        return { filled, request: isAsked ? { kind: 'statements_text', question, sources, statements } : null };
      },
    },
  };
}

/** The pages of the messages; without messages, each source is a page that was opened. */
function exactPages(rollout: Rollout): Result<ReadonlyMap<string, SeenPage>, readonly InputProblem[]> {
  const { messages } = rollout;
  if (messages === undefined) {
    const origin = originOf(rollout, 'carr');
    if (!origin.ok) return rollout.entity_rubrics === undefined ? { ok: true, value: new Map() } : origin;
    const pages = sourcesOf(origin.value).list.map(({ id, url, title, text }): [string, SeenPage] => [
      url ?? id,
      { title: title ?? '', published_time: '', snippets: [], contents: [text], finds: [] },
    ]);
    return { ok: true, value: new Map(pages) };
  }
  const sourceIds = rollout.trajectory?.source_ids ?? 'tagged';
  if (sourceIds !== 'tagged') {
    const message = 'expected tagged: carr in compat mode "exact" reads pages from the browser tools';
    return { ok: false, error: [{ path: ['trajectory', 'source_ids'], message }] };
  }
  if (typeof messages === 'string') {
    const message = 'expected a list of messages: carr in compat mode "exact" reads no transcript that is one text';
    return { ok: false, error: [{ path: ['messages'], message }] };
  }
  try {
    return { ok: true, value: seenPages(carrMessages(messages)) };
  } catch (error) {
    if (error instanceof CarrError) return { ok: false, error: [{ path: ['messages'], message: error.message }] };
    throw error;
  }
}
