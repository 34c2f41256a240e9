/**
 * Few-shot examples: labelled criteria with their right verdicts, put before the words in which a judge is asked. Other
 * rows of their questions are left out of the check, so that no judge is measured on what it was shown.
 */
import { rubricTemplate } from '../../../src/judgments/kinds/rubric/rubric-templates.ts';
import { type OwnTemplate, templateProblems } from '../../../src/judgments/protocol/template.ts';
import { randomOf } from '../../../src/labels/cluster-bootstrap.ts';
import { type LabelledRow, LEVELS } from '../../../src/labels/labelled-row.ts';
import { MAX_TEMPLATE_CHARS } from '../../../src/limits.ts';
import { RunError, UsageError } from '../../shared/exit.ts';
import { type CriteriaAsking, nameOf } from './judges.ts';
import type { JudgeDescription } from './judges-file.ts';

export const SHOTS_RANGE = { min: 1, max: 24 } as const;

/** Longest example, so that a template holds several. */
const MAX_EXAMPLE_CHARS = 2_000;

type Example = {
  readonly text: (reply: OwnTemplate['reply']) => string;
  readonly question: string;
  readonly level: number;
  readonly draw: number;
};

/** Chosen examples. */
export type Shots = {
  readonly examples: readonly Example[];
  /** Whether a row is of the question of an example. */
  readonly covers: (row: LabelledRow) => boolean;
};

/**
 * Chooses examples at random: as many of each label as there are, each of another question, short ones only.
 * @param seed an integer; equal seeds and rows give equal examples.
 * @throws RunError if the rows have fewer.
 */
export async function chooseShots(rows: AsyncIterable<LabelledRow>, count: number, seed: number): Promise<Shots> {
  const random = randomOf(seed);
  const byLevel = LEVELS.criterion.map((): Example[] => []);
  for await (const row of rows) {
    const example = exampleOf(row, random());
    const own = example === null ? undefined : byLevel[example.level];
    if (example === null || own === undefined) continue;
    own.push(example);
    // Some more than are chosen, because two levels may draw one question.
    if (own.length > 8 * count) own.sort(byDraw).splice(3 * count);
  }
  const chosen: Example[] = [];
  const questions = new Set<string>();
  const left = byLevel.map((own) => own.sort(byDraw));
  for (let level = left.length - 1; chosen.length < count; level = (level + left.length - 1) % left.length) {
    if (left.every((own) => own.length === 0)) {
      throw new RunError(
        `--shots ${count}: the rows have ${chosen.length} criteria of different questions that are short enough`,
        `An example has at most ${MAX_EXAMPLE_CHARS} characters.`,
      );
    }
    const next = left[level]?.shift();
    if (next === undefined || questions.has(next.question)) continue;
    questions.add(next.question);
    chosen.push(next);
  }
  return { examples: chosen, covers: (row) => questions.has(questionOf(row)) };
}

function byDraw(one: Example, other: Example): number {
  return one.draw - other.draw;
}

/** The example that a row makes; `null` = it is no criterion, or its text does not fit into a template. */
function exampleOf(row: LabelledRow, draw: number): Example | null {
  const { asked, level } = row;
  if (asked.kind !== 'criterion') return null;
  const { title, description } = asked.criterion;
  const text: Example['text'] = (reply) =>
    [
      ...(row.question === null ? [] : [`Question: ${row.question}`]),
      `Criterion: ${title === undefined ? '' : `${title}: `}${description}`,
      `Answer: ${asked.answer}`,
      reply === 'score' ? `Right score: ${level}` : `Right verdict: met = ${level === LEVELS.criterion.length - 1}`,
    ].join('\n');
  const shown = text('score');
  if (shown.length > MAX_EXAMPLE_CHARS || templateProblems(`${shown} {question} {criteria} {answer}`).length > 0) {
    return null;
  }
  return { text, question: questionOf(row), level, draw };
}

/** What rows of one question share; of rows without one, those of the same sources. */
function questionOf({ question, sources, asked }: LabelledRow): string {
  return question?.trim() ?? JSON.stringify(sources.length > 0 ? sources : asked);
}

const HEAD = 'EXAMPLES: right verdicts on other answers. They are no part of what you grade.';

/** The template with the examples before its own words. @throws UsageError if it is longer than recipes allow. */
export function templateWithShots({ text, reply }: OwnTemplate, { examples }: Shots): OwnTemplate {
  const shown = examples.map((example, position) => `Example ${position + 1}\n${example.text(reply)}`);
  const whole = [HEAD, ...shown, text].join('\n\n');
  if (whole.length > MAX_TEMPLATE_CHARS) {
    const problem = `the template has ${whole.length} characters with them, and a recipe takes ${MAX_TEMPLATE_CHARS}`;
    throw new UsageError(`--shots ${examples.length}: ${problem}`, 'Give fewer, or another --seed.');
  }
  return { text: whole, reply };
}

/** Each judge with a template, and behind it the same judge with the examples. @throws UsageError without any. */
export function withShots(described: readonly JudgeDescription[], shots: Shots): readonly JudgeDescription[] {
  const all = described.flatMap((one): JudgeDescription[] => {
    if (one.kind !== 'server' || one.template === null) return [one];
    const base = rubricTemplate({ template: one.template });
    if (base === null) return [one];
    const asking: CriteriaAsking = one;
    const name = `${one.name ?? nameOf(one.model, asking)} ${shots.examples.length} shots`;
    return [one, { ...one, name, template: templateWithShots(base, shots) }];
  });
  if (all.length === described.length) {
    throw new UsageError(
      '--shots needs a judge with a template, whose words the examples become a part of',
      'Add --template dr-tulu-1 or --template healthbench-1, or a "template" of your own in the file of --compare.',
    );
  }
  return all;
}
