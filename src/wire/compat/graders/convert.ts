/**
 * Converts OpenAI's grader objects to a recipe and criteria, for training runs that need groups, replay and audits. Each
 * grader becomes a criterion of a rubric, and the formula of a multi grader becomes the weights. What a rubric cannot
 * express is refused by its field; what it expresses otherwise is a note. Graders run unchanged under `/compat`.
 */
import type { InputProblem } from '../../../input-problem.ts';
import { MAX_CRITERION_CHARS, MAX_CRITERION_WEIGHT } from '../../../limits.ts';
import type { Result } from '../../../result.ts';
import { type PreparedGrader, type PreparedSingle, templateValues } from './prepare.ts';
import { FILLED_TOO_LONG, TemplateFiller, type TemplatePart } from './template.ts';
import { type WeightedSum, weightedSum } from './weighted-sum.ts';

type Problems = readonly InputProblem[];
type Part = TemplatePart;

/** A criterion whose text is filled from the item of each sample. */
type CriterionTemplate = {
  readonly title: string;
  readonly polarity: 'positive' | 'negative';
  readonly weight: number;
  readonly parts: readonly Part[];
};

/** What a grader object becomes. */
export type ConvertedGrader = {
  /** Fields of a recipe beside `base`. Its largest reward is that of the grader. */
  readonly recipe: Readonly<Record<string, unknown>> & { readonly base: string };
  /** The name that the graders give their model; `null` = none of them asks one. */
  readonly model: string | null;
  readonly criteria: readonly CriterionTemplate[];
  /** What the recipe does otherwise than the grader. */
  readonly notes: readonly string[];
};

const BASE = 'refiner-gpt54-instance-only';
/** Sums of decimal weights miss 0 by rounding. */
const ROUNDING = 1e-9;
/** The weights 0.6, 0.3 and 0.1 are 1 together. */
const DIGITS = 15;

/** Converts a grader object, or names each field that no recipe can express. */
export function convertGrader(prepared: PreparedGrader): Result<ConvertedGrader, Problems> {
  const [first] = prepared.graders;
  if (first === undefined) throw new Error('convertGrader: a grader without graders');
  const path = prepared.formula === null ? first.path : ['grader', 'calculate_output'];
  const formula = prepared.formula ?? { kind: 'variable', name: first.name };
  const sum = weightedSum(formula);
  const used = prepared.graders.filter(({ name }) => !sum.ok || (sum.value.weights.get(name) ?? 0) !== 0);
  const texts = used.map(criterionOf);
  const problems = [
    ...(sum.ok ? [] : [{ path, message: sum.error }]),
    ...texts.flatMap((one) => (one.ok ? [] : one.error)),
    ...askingProblems(used),
  ];
  if (!sum.ok || problems.length > 0) return { ok: false, error: problems };
  const weighed = criteriaOf(
    used,
    texts.flatMap((one) => (one.ok ? [one.value] : [])),
    sum.value,
  );
  const total = weighed.criteria.reduce((added, { weight }) => added + weight, 0);
  if (Math.abs(weighed.offset) > ROUNDING * Math.max(1, total)) {
    const message = `the reward would begin at ${weighed.offset} instead of 0, and a recipe adds no constant`;
    return { ok: false, error: [{ path: prepared.formula === null ? [...path, 'range'] : path, message }] };
  }
  if (total === 0 || total > MAX_CRITERION_WEIGHT) {
    return {
      ok: false,
      error: [{ path, message: `expected weights of up to ${MAX_CRITERION_WEIGHT} together, above 0` }],
    };
  }
  const models = used.flatMap((one) => (one.kind === 'model' ? [one] : []));
  const isGraded = models.some(({ scores }) => scores === null);
  const temperature = models[0]?.asking.temperature;
  return {
    ok: true,
    value: {
      recipe: {
        base: BASE,
        judging: 'per_criterion',
        judge_static: false,
        citation_weight: 0,
        negatives_require_positive: false,
        verification_reward: Number(total.toPrecision(DIGITS)),
        ...(isGraded ? {} : { template: 'healthbench-1' }),
        ...(temperature === undefined ? {} : { judge_options: { temperature } }),
      },
      model: models[0]?.model ?? null,
      criteria: weighed.criteria,
      notes: notesOf(used, isGraded),
    },
  };
}

type CriterionText = { readonly parts: readonly Part[]; readonly isReversed: boolean };

function criterionOf(grader: PreparedSingle): Result<CriterionText, Problems> {
  return grader.kind === 'check' ? ofCheck(grader) : ofModel(grader);
}

const CHECKS = {
  eq: 'The answer is exactly this text, and nothing else: ',
  ne: 'The answer is exactly this text, and nothing else: ',
  like: 'The answer contains this text, in the same case: ',
  ilike: 'The answer contains this text, in upper or lower case: ',
} as const;

/** `ne` is `eq` with the opposite score. */
function ofCheck({
  path,
  operation,
  input,
  reference,
}: Extract<PreparedSingle, { kind: 'check' }>): Result<CriterionText, Problems> {
  const isEqual = operation === 'eq' || operation === 'ne';
  const swapped = isEqual && isWholeAnswer(reference) && !isWholeAnswer(input);
  const [asked, compared] = swapped ? [reference, input] : [input, reference];
  const names = swapped ? (['reference', 'input'] as const) : (['input', 'reference'] as const);
  const problems: InputProblem[] = [];
  if (!isWholeAnswer(asked)) {
    const message = 'expected {{ sample.output_text }}: a criterion is about the whole answer';
    problems.push({ path: [...path, names[0]], message });
  }
  if (compared.some(readsSample)) {
    problems.push({
      path: [...path, names[1]],
      message: 'expected no value of sample: a criterion is known beforehand',
    });
  }
  if (problems.length > 0) return { ok: false, error: problems };
  return { ok: true, value: { parts: [{ text: CHECKS[operation] }, ...compared], isReversed: operation === 'ne' } };
}

function ofModel(grader: Extract<PreparedSingle, { kind: 'model' }>): Result<CriterionText, Problems> {
  const { path, messages } = grader;
  const problems: InputProblem[] = [];
  const parts: Part[] = [{ text: headOf(grader) }];
  for (const [n, message] of messages.entries()) {
    const at = [...path, 'input', n];
    if (message.role === 'assistant') {
      problems.push({
        path: [...at, 'role'],
        message: 'assistant is not supported: a criterion is one text of the task',
      });
    }
    parts.push({ text: '\n\n' });
    for (const part of message.parts) {
      if (!readsSample(part)) parts.push(part);
      else if (isAnswer(part)) parts.push({ text: '(the answer)' });
      else problems.push({ path: [...at, 'content'], message: 'only {{ sample.output_text }} can be used of sample' });
    }
  }
  return problems.length > 0 ? { ok: false, error: problems } : { ok: true, value: { parts, isReversed: false } };
}

function headOf({ output, scores }: Extract<PreparedSingle, { kind: 'model' }>): string {
  if ('range' in output) {
    const [low, high] = output.range;
    return `The answer deserves the highest score by these instructions (from ${low}, not at all, to ${high}, fully):`;
  }
  const passing = output.labels.filter((_, n) => scores?.[n] === 1);
  return (
    `By these instructions, of the labels ${output.labels.join(', ')} the answer gets ` +
    `${passing.length === 0 ? 'none' : passing.join(' or ')}:`
  );
}

function isWholeAnswer(parts: readonly Part[]): boolean {
  const [only] = parts;
  return parts.length === 1 && only !== undefined && isAnswer(only);
}

function isAnswer(part: Part): boolean {
  return 'path' in part && part.path.join('.') === 'sample.output_text';
}

function readsSample(part: Part): boolean {
  return 'path' in part && part.path[0] === 'sample';
}

/** A recipe has one judge, which is asked in one way. */
function askingProblems(graders: readonly PreparedSingle[]): InputProblem[] {
  const models = graders.flatMap((one) => (one.kind === 'model' ? [one] : []));
  const [first] = models;
  if (first === undefined) return [];
  return models.flatMap(({ path, model, asking, replicate }): InputProblem[] => [
    ...(model === first.model
      ? []
      : [{ path: [...path, 'model'], message: 'expected the model of the other graders: a recipe has one judge' }]),
    ...(asking.temperature === first.asking.temperature
      ? []
      : [
          {
            path: [...path, 'sampling_params', 'temperature'],
            message: 'expected the temperature of the other graders: a recipe asks its judge in one way',
          },
        ]),
    ...(replicate === 0
      ? []
      : [
          {
            path: [...path, 'sampling_params', 'seed'],
            message: 'no recipe has a seed: leave it out, and score with replicate',
          },
        ]),
  ]);
}

/**
 * The weights of the criteria. A score s from a to b with the coefficient c is the share x = (s - a) / (b - a) of the
 * weight c * (b - a), plus c * a. A negative weight w becomes a negative criterion, which pays |w| * (1 - x), plus w.
 */
function criteriaOf(
  graders: readonly PreparedSingle[],
  texts: readonly CriterionText[],
  { constant, weights }: WeightedSum,
): { readonly criteria: readonly CriterionTemplate[]; readonly offset: number } {
  let offset = constant;
  const criteria = graders.flatMap((grader, n): CriterionTemplate[] => {
    const text = texts[n];
    const coefficient = weights.get(grader.name) ?? 0;
    if (text === undefined) return [];
    const [low, high] = grader.kind === 'model' && 'range' in grader.output ? grader.output.range : [0, 1];
    let weight = coefficient * (high - low);
    offset += coefficient * low;
    if (text.isReversed) {
      offset += weight;
      weight = -weight;
    }
    if (weight < 0) offset += weight;
    const polarity = weight < 0 ? 'negative' : 'positive';
    return [{ title: grader.name, polarity, weight: Math.abs(weight), parts: text.parts }];
  });
  return { criteria, offset };
}

function notesOf(graders: readonly PreparedSingle[], isGraded: boolean): string[] {
  const names = (of: (grader: PreparedSingle) => boolean): string =>
    graders
      .filter(of)
      .map(({ name }) => name)
      .join(', ');
  const checks = names(({ kind }) => kind === 'check');
  const scored = names((one) => one.kind === 'model' && one.scores === null);
  const labelled = names((one) => one.kind === 'model' && one.scores !== null);
  return [
    ...(checks === '' ? [] : [`${checks}: a judge reads the answer, where string_check compares texts`]),
    ...(scored === ''
      ? []
      : [`${scored}: the judge gives none, half or all of the range, where score_model gives a number`]),
    ...(isGraded && labelled + checks !== ''
      ? [
          `${[checks, labelled].filter((one) => one !== '').join(', ')}: the judge can also give half, as one recipe has one scale`,
        ]
      : []),
    'an empty answer earns 0, whatever the criteria',
    'the judge is told the question, and reads the answer beside the criterion instead of within its text',
  ];
}

/** A sample as the grader gets it. */
export type GraderSample = { readonly item?: unknown; readonly model_sample: string };

/**
 * The row of a sample: a request of `POST /v1/score`.
 * @param question the template of the question that the sample answers.
 */
export function rowOfSample(
  { recipe, criteria }: ConvertedGrader,
  { item, model_sample }: GraderSample,
  question: readonly Part[],
): Result<Readonly<Record<string, unknown>>, Problems> {
  const filler = new TemplateFiller(templateValues(model_sample, item));
  const problems: InputProblem[] = [];
  const filled = (parts: readonly Part[], most: number): string => {
    const text = filler.text(parts);
    if (!text.ok) {
      const message =
        'missing' in text.error ? `a placeholder names a value that it lacks: ${text.error.missing}` : FILLED_TOO_LONG;
      problems.push({ path: ['item'], message });
    } else if (text.value.length > most || text.value === '') {
      problems.push({
        path: ['item'],
        message: `its values make a text of ${text.value.length} characters; 1 to ${most}`,
      });
    } else return text.value;
    return '';
  };
  const criteriaOfPolarity = (polarity: CriterionTemplate['polarity']) =>
    criteria
      .filter((one) => one.polarity === polarity)
      .map(({ title, weight, parts }) => ({ title, description: filled(parts, MAX_CRITERION_CHARS), weight }));
  const row = {
    recipe,
    question: filled(question, Number.POSITIVE_INFINITY),
    sources: [],
    response: model_sample.includes('</answer>') ? model_sample : `<answer>${model_sample}</answer>`,
    positive_rubrics: criteriaOfPolarity('positive'),
    negative_rubrics: criteriaOfPolarity('negative'),
  };
  return problems.length > 0 ? { ok: false, error: problems } : { ok: true, value: row };
}

/** The text of a template, with its placeholders. */
export function templateText(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if ('text' in part) return part.text;
      const [namespace, ...steps] = part.path;
      return `{{ ${namespace}${steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')} }}`;
    })
    .join('');
}
