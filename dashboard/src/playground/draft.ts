/** A draft: the rollout in the editor, its verification in the browser, and the request that scores it. */
import type { CitationPolicy } from '../../../src/citations/citation-policy.ts';
import { ANSWER_FORMATS } from '../../../src/citations/formats/names.ts';
import { type CitedAnswer, readCitedAnswer } from '../../../src/citations/formats/read-answer.ts';
import type { GrammarName } from '../../../src/citations/grammars.ts';
import { parseResponse, sizeProblems } from '../../../src/citations/parse.ts';
import { sourcesOf as readSources, type SourceInput } from '../../../src/citations/sources.ts';
import type { Source } from '../../../src/citations/types.ts';
import { describeResponse, type Verification } from '../../../src/citations/verify.ts';
import type { CriterionInput } from '../../../src/family/rollout.ts';
import { pathText } from '../../../src/input-problem.ts';
import type { Result } from '../../../src/result.ts';

/** A rollout with the field names of examples and requests. */
export type Draft = {
  readonly question: string;
  readonly response: string;
  /** `null` if the rollout lists its sources in `sources`. */
  readonly tool_output: string | null;
  readonly sources: readonly SourceInput[];
  readonly positive_rubrics: readonly CriterionInput[];
  readonly negative_rubrics: readonly CriterionInput[];
  readonly finish_reason: string;
  /** Inputs of other families (reference, entities, num_turns, …), sent unchanged. */
  readonly others: Readonly<Record<string, unknown>>;
};

export const EMPTY_DRAFT: Draft = {
  question: '',
  response: '',
  tool_output: '',
  sources: [],
  positive_rubrics: [],
  negative_rubrics: [],
  finish_reason: 'stop',
  others: {},
};

const OTHER_FIELDS = [
  'reasoning',
  'rubrics',
  'reference',
  'entities',
  'useful_chunks',
  'tests',
  'num_turns',
  'response_tokens',
] as const;

/** A draft, and what was converted to it if the rollout has an answer as its vendor sent it. */
export type ReadDraft = { readonly draft: Draft; readonly answer: CitedAnswer | null };

/** The draft of a rollout; `null` if the value is none. */
export function draftOf(value: unknown): Draft | null {
  const read = readDraft(value);
  return read.ok ? read.value.draft : null;
}

/**
 * Reads a line of a rollout file, a request to `/v1/score`, or an answer as its vendor sent it, which becomes a response
 * with its sources. The error says what to do.
 */
export function readDraft(value: unknown): Result<ReadDraft, string> {
  const isObject = typeof value === 'object' && value !== null;
  const isRollout = isObject && ('response' in value || 'cited_answer' in value);
  const rollout = isRollout ? value : { cited_answer: value };
  if ('response' in rollout && typeof rollout.response === 'string') {
    return { ok: true, value: { draft: draftOfFields(rollout, rollout.response), answer: null } };
  }
  if (!('cited_answer' in rollout)) return { ok: false, error: 'response: expected a text' };
  const { cited_answer, ...rest } = rollout;
  const fields = new Map<string, unknown>(Object.entries(rest));
  const sources = sourcesOf(fields.get('sources'));
  const tool_output = fields.get('tool_output');
  const named = fields.get('answer_format');
  const format = ANSWER_FORMATS.find((name) => name === named);
  if (named !== undefined && format === undefined) {
    return { ok: false, error: `answer_format: expected one of ${ANSWER_FORMATS.join(', ')}` };
  }
  const origin = typeof tool_output === 'string' ? { tool_output } : sources.length > 0 ? { sources } : null;
  const read = readCitedAnswer(cited_answer, format, origin === null ? null : readSources(origin));
  if (!read.ok) {
    return { ok: false, error: read.error.map(({ path, message }) => `${pathText(path)}: ${message}`).join('; ') };
  }
  const { response, sources: carried } = read.value;
  const draft = draftOfFields({ ...rest, ...(carried === null ? {} : { sources: carried }) }, response);
  return { ok: true, value: { draft, answer: read.value } };
}

function draftOfFields(rollout: object, response: string): Draft {
  const fields = new Map<string, unknown>(Object.entries(rollout));
  const text = (name: string): string | null => {
    const field = fields.get(name);
    return typeof field === 'string' ? field : null;
  };
  const sources = sourcesOf(fields.get('sources'));
  return {
    question: text('question') ?? '',
    response,
    tool_output: text('tool_output') ?? (sources.length > 0 ? null : ''),
    sources,
    positive_rubrics: criteriaOf(fields.get('positive_rubrics')),
    negative_rubrics: criteriaOf(fields.get('negative_rubrics')),
    finish_reason: text('finish_reason') ?? '',
    others: Object.fromEntries(OTHER_FIELDS.flatMap((name) => (fields.has(name) ? [[name, fields.get(name)]] : []))),
  };
}

function sourcesOf(value: unknown): SourceInput[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): SourceInput[] => {
    const { id, text, title, url } = textsOf(entry);
    if (id === undefined || text === undefined) return [];
    return [{ id, text, ...(title === undefined ? {} : { title }), ...(url === undefined ? {} : { url }) }];
  });
}

function criteriaOf(value: unknown): CriterionInput[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): CriterionInput[] => {
    if (typeof entry === 'string') return [{ description: entry }];
    const { title, description } = textsOf(entry);
    if (description === undefined) return [];
    const weight = typeof entry === 'object' && entry !== null && 'weight' in entry ? entry.weight : undefined;
    return [
      {
        description,
        ...(title === undefined ? {} : { title }),
        ...(typeof weight === 'number' ? { weight } : {}),
      },
    ];
  });
}

function textsOf(entry: unknown): Readonly<Partial<Record<'id' | 'text' | 'title' | 'url' | 'description', string>>> {
  if (typeof entry !== 'object' || entry === null) return {};
  return Object.fromEntries(Object.entries(entry).filter(([, member]) => typeof member === 'string'));
}

/** The criteria as lines of the editor, one each. */
export function linesOfCriteria(criteria: readonly CriterionInput[]): string {
  return criteria.map(({ description }) => description).join('\n');
}

/** Parses the editor's lines. A line that equals an earlier criterion keeps its title and weight. */
export function criteriaOfLines(lines: string, before: readonly CriterionInput[]): CriterionInput[] {
  const known = new Map(before.map((criterion) => [criterion.description, criterion]));
  return lines.split('\n').flatMap((line) => (line.trim() === '' ? [] : [known.get(line) ?? { description: line }]));
}

/**
 * The body of `POST /v1/score`. Empty fields are left out; the API reports those that the recipe requires, and refuses
 * a grammar that the recipe does not read.
 */
export function scoreRequest(
  draft: Draft,
  { grammar, citations }: Pick<ParseOptions, 'grammar' | 'citations'>,
  recipe: string,
  judge: string,
): Readonly<Record<string, unknown>> {
  const changes = {
    ...(grammar === 'snippet' ? {} : { grammar }),
    ...(citations === 'allowed' ? {} : { citations }),
  };
  const criteria = (list: readonly CriterionInput[]): unknown[] =>
    list.map((criterion) => (Object.keys(criterion).length === 1 ? criterion.description : criterion));
  return {
    ...(draft.question === '' ? {} : { question: draft.question }),
    response: draft.response,
    ...(draft.tool_output === null ? { sources: draft.sources } : { tool_output: draft.tool_output }),
    ...(draft.positive_rubrics.length === 0 ? {} : { positive_rubrics: criteria(draft.positive_rubrics) }),
    ...(draft.negative_rubrics.length === 0 ? {} : { negative_rubrics: criteria(draft.negative_rubrics) }),
    ...(draft.finish_reason === '' ? {} : { finish_reason: draft.finish_reason }),
    ...draft.others,
    recipe: Object.keys(changes).length === 0 ? recipe : { base: recipe, ...changes },
    ...(judge === '' ? {} : { judge }),
  };
}

export type ParseOptions = {
  readonly grammar: GrammarName;
  readonly mode: 'full' | 'answer_only';
  readonly citations: CitationPolicy;
};

export type DraftVerification =
  | {
      readonly ok: true;
      readonly verification: Verification;
      /** The sources with their texts, in the order of `verification.sources`. */
      readonly sources: readonly Source[];
      readonly milliseconds: number;
    }
  /** The rollout exceeds the size limits of the API. */
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Verifies the draft with the parser and the lexical evidence of `POST /v1/verify?evidence=lexical`. Fast enough to run
 * on every keystroke.
 */
export function verifyDraft(draft: Draft, { grammar, mode, citations }: ParseOptions): DraftVerification {
  const began = performance.now();
  const { question, response, tool_output, sources: given } = draft;
  const sources = readSources(tool_output === null ? { sources: given } : { tool_output });
  const parsed = parseResponse(response, sources, { grammar });
  const problems = sizeProblems(parsed, sources, tool_output === null ? 'sources' : 'tool_output');
  if (problems.length > 0) {
    return { ok: false, problems: problems.map(({ path, message }) => `${path.join('.')}: ${message}`) };
  }
  const verification = describeResponse(response, parsed, sources, { mode, evidence: 'lexical', citations, question });
  return { ok: true, verification, sources: sources.list, milliseconds: performance.now() - began };
}

export type OpenedDraft = { readonly draft: Draft; readonly note: string };

let opened: OpenedDraft | null = null;

/**
 * Hands a rollout to the playground's route `own`. It stays in memory: the text of a rollout must not be in a URL.
 * @returns false if the fields are not a rollout with a response.
 */
export function openDraft(rollout: unknown, note: string): boolean {
  const draft = draftOf(rollout);
  if (draft === null) return false;
  opened = { draft, note };
  return true;
}

/** The last rollout that was handed over. */
export function openedDraft(): OpenedDraft | null {
  return opened;
}
