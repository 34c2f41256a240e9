/** The rollout on the desk: what the editor changes, what is verified here, and the request that scores it. */
import type { SourceInput } from '../../../src/citations/sources.ts';
import type { CriterionInput } from '../../../src/family/rollout.ts';

/** A rollout as examples and requests have it; criteria are texts or texts with title and weight. */
export type Draft = {
  readonly question: string;
  readonly response: string;
  /** `null` where the sources came one by one. */
  readonly tool_output: string | null;
  readonly sources: readonly SourceInput[];
  readonly positive_rubrics: readonly CriterionInput[];
  readonly negative_rubrics: readonly CriterionInput[];
  readonly finish_reason: string;
  /** What other families read (reference, entities, num_turns, …): sent as it came. */
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

/** A draft of pasted JSON: a line of a rollout file, or a request to `/v1/score`. `null` = it is neither. */
export function draftOf(value: unknown): Draft | null {
  if (typeof value !== 'object' || value === null || !('response' in value)) return null;
  const fields = new Map<string, unknown>(Object.entries(value));
  const text = (name: string): string | null => {
    const field = fields.get(name);
    return typeof field === 'string' ? field : null;
  };
  const response = text('response');
  if (response === null) return null;
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

/** Criteria as lines of the editor. */
export function linesOf(criteria: readonly CriterionInput[]): string {
  return criteria.map(({ description }) => description).join('\n');
}

/** The lines back as criteria. A line that was there before keeps the title and the weight that it came with. */
export function criteriaOfLines(lines: string, before: readonly CriterionInput[]): CriterionInput[] {
  const known = new Map(before.map((criterion) => [criterion.description, criterion]));
  return lines.split('\n').flatMap((line) => (line.trim() === '' ? [] : [known.get(line) ?? { description: line }]));
}

/** The body of `POST /v1/score`. Empty fields are left out: the API says which of them the recipe needs. */
export function scoreRequest(draft: Draft, recipe: string, judge: string): Readonly<Record<string, unknown>> {
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
    recipe,
    ...(judge === '' ? {} : { judge }),
  };
}

/** The request for a shell. The body is quoted as a whole, and no key is ever in it. */
export function curlOf(origin: string, body: unknown, withKey: boolean): string {
  return [
    `curl -s ${origin}/v1/score \\`,
    ...(withKey ? ['  -H "authorization: Bearer $CITEWARD_KEY" \\'] : []),
    "  -H 'content-type: application/json' --data-binary @- <<'REQUEST'",
    // Lines of JSON begin with a brace, a quote or spaces: none can be the word that ends it.
    JSON.stringify(body, null, 2),
    'REQUEST',
  ].join('\n');
}
