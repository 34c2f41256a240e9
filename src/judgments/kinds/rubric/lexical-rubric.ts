/** Scores criteria by comparing words: the lexical judge's answer to a rubric. Linear in the texts. */
import { evidenceOf } from '../../../citations/lexical-evidence.ts';
import { parseResponse, SHOTGUN_IDS_PER_CLAIM } from '../../../citations/parse.ts';
import { sourcesFromList } from '../../../citations/sources.ts';
import type { ParsedResponse, SourceSet } from '../../../citations/types.ts';
import {
  gatherEvidence,
  indexSources,
  markWords,
  needsCitation,
  scoreCriterion,
  supportVerdict,
  type WordMarks,
} from '../../../lexical/index.ts';
import type { Evidence } from '../../protocol/prompt.ts';
import { STATIC_V3, type StaticCriterion } from './static-criteria.ts';

type Rubric = Evidence & {
  readonly criteria: readonly { readonly title?: string; readonly description: string }[];
  readonly answer: string;
};

type Score = 0 | 1 | 2;

/** Least share of well-cited statements that scores 2, and 1, for Citation Discipline. */
const DISCIPLINED_SHARE = 0.9;
const PARTLY_DISCIPLINED_SHARE = 0.5;
/** Least share of off-query statements that scores 2, and 1, for Off-Query Padding. */
const PADDED_SHARE = 0.4;
const SOMEWHAT_PADDED_SHARE = 0.25;
/** A statement is off the query if question and criteria together contain less than this share of its terms. */
const ON_QUERY_COVERAGE = 0.08;
/**
 * Least share of confabulated claims that scores 2 for Wrong-Entity Confabulation; a smaller share above 0 scores 1.
 */
const CONFABULATED_SHARE = 0.25;

/** The score of each criterion, in order. Static criteria are scored from the citations of the answer. */
export function scoreCriteriaLexically(rubric: Rubric): Score[] {
  const { sources, parsed, words } = readOnce(rubric);
  const statics = new StaticScores(rubric, parsed, sources);
  const question = markWords(rubric.question);
  return rubric.criteria.map((criterion) => {
    const known = STATIC_V3.find((one) => one.title === criterion.title && one.description === criterion.description);
    return known === undefined ? scoreCriterion(criterion, words, question) : statics.score(known);
  });
}

/** An answer as criteria are compared with it. */
type ReadAnswer = {
  readonly answer: string;
  readonly sources: SourceSet;
  readonly parsed: ParsedResponse;
  readonly words: WordMarks;
};

/**
 * The last answer that was read with each list of sources. The calls that share the criteria of a rollout have the same
 * list and come one after another, so a long answer is read once for all of them, and forgotten with its sources.
 */
const lastRead = new WeakMap<Rubric['sources'], ReadAnswer>();

function readOnce({ sources, answer }: Rubric): ReadAnswer {
  const last = lastRead.get(sources);
  if (last?.answer === answer) return last;
  const read = readAnswer(sourcesFromList(sources), answer);
  lastRead.set(sources, read);
  return read;
}

function readAnswer(sources: SourceSet, answer: string): ReadAnswer {
  const parsed = parseResponse(answer, sources, { answer: 'whole' });
  const text = [...parsed.claims.map((claim) => claim.text), ...parsed.statements.map((statement) => statement.text)];
  // Repeated text does not meet a criterion better. An answer without statements may still name what a criterion asks
  // for.
  return { answer, sources, parsed, words: markWords(text.length === 0 ? answer : text.join('\n')) };
}

function isStatic({ description }: { readonly description: string }): boolean {
  return STATIC_V3.some((one) => one.description === description);
}

/** Scores the static criteria from the citations of the answer. */
class StaticScores {
  readonly #rubric: Rubric;
  readonly #parsed: ParsedResponse;
  readonly #sources: SourceSet;

  constructor(rubric: Rubric, parsed: ParsedResponse, sources: SourceSet) {
    this.#rubric = rubric;
    this.#parsed = parsed;
    this.#sources = sources;
  }

  score(criterion: StaticCriterion): Score {
    switch (criterion.title) {
      case 'Citation Discipline':
        return this.#discipline();
      case 'Off-Query Padding':
        return this.#padding();
      case 'Wrong-Entity Confabulation':
        return this.#confabulation();
    }
  }

  /** Scores Citation Discipline: the share of factual statements that are cited, with few ids that all exist. */
  #discipline(): Score {
    const { claims, statements, format } = this.#parsed;
    const disciplined = claims.filter(
      ({ text, ids }) =>
        text !== '' && ids.length <= SHOTGUN_IDS_PER_CLAIM && ids.every(({ source }) => source !== null),
    ).length;
    const total = claims.length + statements.filter(({ text }) => needsCitation(text)).length;
    if (total === 0) return 2;
    const share = disciplined / total;
    if (share >= DISCIPLINED_SHARE && format.full === 1) return 2;
    return share >= PARTLY_DISCIPLINED_SHARE ? 1 : 0;
  }

  /**
   * Scores Off-Query Padding: the share of repeated statements and of those that share few words with the question and
   * criteria.
   */
  #padding(): Score {
    const { question, criteria } = this.#rubric;
    const own = criteria.filter((criterion) => !isStatic(criterion));
    const query = [question, ...own.flatMap(({ title, description }) => [title ?? '', description])].join('\n');
    const index = indexSources([{ text: query }]);
    const texts = [...this.#parsed.claims, ...this.#parsed.statements];
    if (texts.length === 0) return 0;
    const padding = texts.filter(
      (one) =>
        ('duplicate_of' in one && one.duplicate_of !== null) ||
        gatherEvidence(index, one.text, [0]).coverage < ON_QUERY_COVERAGE,
    ).length;
    const share = padding / texts.length;
    return share >= PADDED_SHARE ? 2 : share >= SOMEWHAT_PADDED_SHARE ? 1 : 0;
  }

  /** Scores Wrong-Entity Confabulation: the share of unsupported claims with a name that their cited sources lack. */
  #confabulation(): Score {
    const suspects = this.#parsed.claims.filter((claim) => {
      const evidence = evidenceOf(this.#sources, claim);
      return evidence !== null && evidence.missing_names.length > 0 && supportVerdict(evidence.support) === 'none';
    }).length;
    if (suspects === 0) return 0;
    return suspects / this.#parsed.claims.length >= CONFABULATED_SHARE ? 2 : 1;
  }
}
