/**
 * Labelled rows: questions to a judge with the right verdict, to measure how good a judge is. A row asks about one
 * criterion, one claim, or whether one statement needs a citation. Also reads two formats of public sets.
 */
import * as z from 'zod';
import { criterionInputSchema, sourceInputSchema, textSchema } from '../family/rollout-schema.ts';
import { type InputProblem, problemsOfIssues } from '../input-problem.ts';
import { MAX_NAME_CHARS, MAX_SOURCES } from '../limits.ts';
import type { Result } from '../result.ts';

/** What a row asks, in the order of the tables. */
export const LABEL_KINDS = ['criterion', 'claim', 'needs_citation'] as const;
export type LabelKind = (typeof LABEL_KINDS)[number];

/**
 * The labels of each kind, from lowest to highest; a level is an index into them. The last one is the "yes" of the
 * two-class figures: a criterion that is met in part and a claim that is supported in part count as "no".
 */
export const LEVELS = {
  criterion: [0, 1, 2],
  claim: ['unsupported', 'partial', 'supported'],
  needs_citation: [false, true],
} as const;

type Label = (typeof LEVELS)[LabelKind][number];

const nameSchema = z.string().min(1).max(MAX_NAME_CHARS);
const longTextSchema = textSchema.min(1);
const idSchema = z.union([nameSchema, z.int()]);

/** People who may have labelled one row. */
const MAX_RATERS = 16;

const ratingSchema = z.strictObject({
  rater: nameSchema,
  label: z.union([z.literal(LEVELS.criterion), z.enum(LEVELS.claim), z.boolean()]),
});

/** The label that one person gave. */
type Rating = Readonly<z.infer<typeof ratingSchema>>;

const commonFields = {
  set: nameSchema.describe('The set that the row belongs to; figures are also given for each set.'),
  id: idSchema.exactOptional(),
  pair: nameSchema.exactOptional().describe('Two rows of a pair differ by one edit that changes the label.'),
  edit: nameSchema.exactOptional().describe('What the edit changes: number, negation, …'),
  adversarial: z.boolean().exactOptional().describe('Whether the row was written to mislead a judge.'),
  question: longTextSchema.exactOptional().describe('Rows with the same question are not independent.'),
  sources: z.array(sourceInputSchema).max(MAX_SOURCES).exactOptional(),
  answer: longTextSchema.exactOptional().describe('The answer with its citation tags.'),
  reason: textSchema.exactOptional().describe('Why the label is right. No judge sees it.'),
  ratings: z.array(ratingSchema).max(MAX_RATERS).exactOptional().describe('What each rater said at first.'),
};

const criterionRow = z.strictObject({
  ...commonFields,
  kind: z.literal('criterion'),
  answer: longTextSchema.describe('The judged answer with its citation tags.'),
  criterion: criterionInputSchema.omit({ weight: true }),
  label: z.literal(LEVELS.criterion).exactOptional(),
});

const claimRow = z.strictObject({
  ...commonFields,
  kind: z.literal('claim'),
  claim: longTextSchema,
  cites: z.array(nameSchema).min(1).describe('Ids of the cited sources.'),
  label: z.enum(LEVELS.claim).exactOptional(),
});

const statementRow = z.strictObject({
  ...commonFields,
  kind: z.literal('needs_citation'),
  statement: longTextSchema,
  label: z.boolean().exactOptional(),
});

/** Claims of public sets: the evidence is the only source. */
const publicClaim = z.strictObject({
  set: nameSchema,
  id: idSchema.exactOptional(),
  claim: longTextSchema,
  evidence: longTextSchema,
  label: z.enum(LEVELS.claim).exactOptional(),
  edit_types: z.array(nameSchema).exactOptional(),
});

const publicStatement = z.strictObject({
  set: nameSchema,
  id: idSchema.exactOptional(),
  question: longTextSchema.exactOptional(),
  statement: longTextSchema,
  needs_citation: z.boolean().exactOptional(),
});

/** The formats of labelled rows. `rows`: our own; `claims` and `statements`: those of public sets. */
export const LABEL_FORMATS = ['rows', 'claims', 'statements'] as const;
export type LabelFormat = (typeof LABEL_FORMATS)[number];

type Source = z.infer<typeof sourceInputSchema>;

/** A question to a judge. `cites`: indexes into the sources of the row. */
type Asked =
  | {
      readonly kind: 'criterion';
      readonly criterion: { readonly title?: string; readonly description: string };
      readonly answer: string;
    }
  | { readonly kind: 'claim'; readonly claim: string; readonly cites: readonly number[] }
  | { readonly kind: 'needs_citation'; readonly statement: string };

/** A row without its label. */
export type LabelQuestion = {
  readonly set: string;
  readonly id: string | null;
  readonly pair: string | null;
  /** Empty = unknown. A public set may name several types for one row. */
  readonly edits: readonly string[];
  readonly adversarial: boolean;
  /** `null` = the set has no questions. */
  readonly question: string | null;
  readonly sources: readonly Source[];
  /** The whole answer that a claim or a statement is part of; `null` = unknown. The judge does not see it. */
  readonly context: string | null;
  readonly reason: string | null;
  readonly ratings: readonly Rating[];
  readonly asked: Asked;
};

/** A row with the right level, an index into `LEVELS`. */
export type LabelledRow = LabelQuestion & { readonly level: number };

type Fields = Readonly<Record<string, unknown>>;
type Read<T> = Result<T, readonly InputProblem[]>;
type ReadRow = { readonly question: LabelQuestion; readonly label: Label | undefined };

/** The format of a row, by its fields; `null` = not a labelled row. */
export function labelFormatOf(fields: Fields): LabelFormat | null {
  const has = (name: string): boolean => Object.hasOwn(fields, name);
  if (has('kind')) return 'rows';
  if (has('statement') || has('needs_citation')) return 'statements';
  return has('claim') || has('evidence') || has('label') ? 'claims' : null;
}

/** Reads a labelled row. Problems name the field and what is expected. */
export function readLabelledRow(fields: Fields, format: LabelFormat): Read<LabelledRow> {
  const read = readRow(fields, format);
  if (!read.ok) return read;
  const { question, label } = read.value;
  const level = label === undefined ? null : levelOf(question.asked.kind, label);
  if (level === null) return oneProblem(format === 'statements' ? 'needs_citation' : 'label', labelsText(question));
  return { ok: true, value: { ...question, level } };
}

/** Reads a row that people shall label. A label that it has already is ignored. */
export function readLabelQuestion(fields: Fields, format: LabelFormat): Read<LabelQuestion> {
  const read = readRow(fields, format);
  return read.ok ? { ok: true, value: read.value.question } : read;
}

/** The level of a label; `null` for a label that the kind does not have. */
export function levelOf(kind: LabelKind, label: Label): number | null {
  const labels: readonly Label[] = LEVELS[kind];
  const level = labels.indexOf(label);
  return level === -1 ? null : level;
}

/** The row as a line of our own format. */
export function labelledRowFields({ asked, ...row }: LabelledRow): Fields {
  const { id, pair, edits, adversarial, question, sources, context, reason, ratings } = row;
  const [edit] = edits;
  const own = ((): Fields => {
    switch (asked.kind) {
      case 'criterion':
        return { criterion: asked.criterion, answer: asked.answer };
      case 'claim':
        return { claim: asked.claim, cites: asked.cites.flatMap((source) => sources[source]?.id ?? []) };
      case 'needs_citation':
        return { statement: asked.statement };
    }
  })();
  return {
    set: row.set,
    ...(id === null ? {} : { id }),
    ...(pair === null ? {} : { pair }),
    ...(edit === undefined ? {} : { edit }),
    kind: asked.kind,
    ...(question === null ? {} : { question }),
    ...(sources.length === 0 ? {} : { sources }),
    ...(context === null ? {} : { answer: context }),
    ...own,
    label: LEVELS[asked.kind][row.level],
    ...(reason === null ? {} : { reason }),
    ...(adversarial ? { adversarial } : {}),
    ...(ratings.length === 0 ? {} : { ratings }),
  };
}

function readRow(fields: Fields, format: LabelFormat): Read<ReadRow> {
  switch (format) {
    case 'rows':
      return readOwnRow(fields);
    case 'claims': {
      const row = publicClaim.safeParse(fields);
      if (!row.success) return refused(row.error, fields);
      const { set, id, claim, evidence, label, edit_types = [] } = row.data;
      const sources = [{ id: 'evidence', text: evidence }];
      const asked = { kind: 'claim', claim, cites: [0] } as const;
      return {
        ok: true,
        value: { question: { ...UNKNOWN, set, id: idText(id), edits: edit_types, sources, asked }, label },
      };
    }
    case 'statements': {
      const row = publicStatement.safeParse(fields);
      if (!row.success) return refused(row.error, fields);
      const { set, id, question = null, statement, needs_citation: label } = row.data;
      const asked = { kind: 'needs_citation', statement } as const;
      return { ok: true, value: { question: { ...UNKNOWN, set, id: idText(id), question, asked }, label } };
    }
  }
}

const UNKNOWN = {
  pair: null,
  edits: [],
  adversarial: false,
  question: null,
  sources: [],
  context: null,
  reason: null,
  ratings: [],
} as const;

function readOwnRow(fields: Fields): Read<ReadRow> {
  switch (fields['kind']) {
    case 'criterion': {
      const row = criterionRow.safeParse(fields);
      if (!row.success) return refused(row.error, fields);
      const { criterion, answer } = row.data;
      return ownRow({ ...row.data, answer: undefined }, { kind: 'criterion', criterion, answer });
    }
    case 'claim': {
      const row = claimRow.safeParse(fields);
      if (!row.success) return refused(row.error, fields);
      const { claim, cites, sources = [] } = row.data;
      const places = new Map(sources.map(({ id: source }, position) => [source, position]));
      const wrong = cites.findIndex((cited) => !places.has(cited));
      if (wrong !== -1) return oneProblem(['cites', wrong], 'expected the id of one of the sources');
      return ownRow(row.data, { kind: 'claim', claim, cites: cites.flatMap((cited) => places.get(cited) ?? []) });
    }
    case 'needs_citation': {
      const row = statementRow.safeParse(fields);
      if (!row.success) return refused(row.error, fields);
      return ownRow(row.data, { kind: 'needs_citation', statement: row.data.statement });
    }
    default:
      return oneProblem('kind', `expected one of ${LABEL_KINDS.map((kind) => `"${kind}"`).join(', ')}`);
  }
}

type OwnFields = z.infer<z.ZodObject<typeof commonFields>>;

function ownRow(
  row: Omit<OwnFields, 'answer'> & { readonly answer?: string | undefined; readonly label?: Label },
  asked: Asked,
): Read<ReadRow> {
  const { set, id, pair = null, edit, adversarial = false, question = null, answer = null, reason = null } = row;
  const { sources = [], ratings = [], label } = row;
  const places = new Map(sources.map((source, position) => [source.id, position]));
  const twice = sources.findIndex((source, position) => places.get(source.id) !== position);
  if (twice !== -1) return oneProblem(['sources', twice, 'id'], 'expected an id that no other source has');
  const edits = edit === undefined ? [] : [edit];
  return {
    ok: true,
    value: {
      question: {
        set,
        id: idText(id),
        pair,
        edits,
        adversarial,
        question,
        sources,
        context: answer,
        reason,
        ratings,
        asked,
      },
      label,
    },
  };
}

function idText(id: string | number | undefined): string | null {
  return id === undefined ? null : String(id);
}

function labelsText({ asked }: LabelQuestion): string {
  return `required: one of ${LEVELS[asked.kind].map((label) => JSON.stringify(label)).join(', ')}`;
}

function oneProblem(path: string | InputProblem['path'], message: string): Read<never> {
  return { ok: false, error: [{ path: typeof path === 'string' ? [path] : path, message }] };
}

function refused(error: z.ZodError, fields: Fields): Read<never> {
  return { ok: false, error: problemsOfIssues(error.issues, fields) };
}
