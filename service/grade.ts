/** Runs a grader object on one sample: scores that need no judge are computed, the others are judged in parallel. */
import type { InputProblem } from '../src/input-problem.ts';
import { type ObtainedJudgment, obtainJudgments } from '../src/judgments/obtain.ts';
import type { Result } from '../src/result.ts';
import {
  type GraderStep,
  graderStep,
  type PreparedGrader,
  type PreparedSingle,
  rewardOf,
  verdictScore,
} from '../src/wire/compat/graders/prepare.ts';
import { TemplateFiller, type TemplateValues } from '../src/wire/compat/graders/template.ts';
import type { RequestFailure } from './failures.ts';
import type { ScoringPlatform } from './ports.ts';
import { type JudgedReply, withJudges } from './score.ts';

export type Graded = {
  readonly reward: number;
  /** The score of each grader by its name. */
  readonly scores: ReadonlyMap<string, number>;
  readonly judgments: readonly ObtainedJudgment[];
};

/** Grades one sample. A grader that fails leaves no reward: a formula over the others would be another one. */
export async function gradeSample(
  grader: PreparedGrader,
  values: TemplateValues,
  platform: ScoringPlatform,
): Promise<Result<Graded, RequestFailure>> {
  const filler = new TemplateFiller(values);
  const steps = grader.graders.map((one) => ({ one, step: graderStep(one, filler) }));
  const problems = [
    ...steps.flatMap(({ step }) => (step.ok ? [] : step.error)),
    ...grader.graders.flatMap((one) => modelProblem(one, platform)),
  ];
  if (problems.length > 0) return { ok: false, error: { reason: 'input_invalid', problems } };
  const scored = await Promise.all(
    steps.map(async ({ one, step }) => ({ one, had: step.ok ? await scoreOf(step.value, platform) : null })),
  );
  const scores = new Map<string, number>();
  const judgments: ObtainedJudgment[] = [];
  for (const { one, had } of scored) {
    if (had === null) throw new Error('gradeSample: a template was not checked');
    if (!had.ok) return { ok: false, error: had.failure };
    scores.set(one.name, had.reply.score);
    judgments.push(...had.reply.judgments);
  }
  const reward = rewardOf(grader, scores);
  if (reward !== null) return { ok: true, value: { reward, scores, judgments } };
  const path = ['grader', 'calculate_output'];
  const message = 'the formula gives no finite number for the scores of this sample';
  return { ok: false, error: { reason: 'input_invalid', problems: [{ path, message }] } };
}

type Scored = { readonly score: number; readonly judgments: readonly ObtainedJudgment[] };

async function scoreOf(step: GraderStep, platform: ScoringPlatform): Promise<JudgedReply<Scored>> {
  if (step.kind === 'scored') return { ok: true, reply: { score: step.score, judgments: [] }, timings: NO_TIME };
  const { request, grader } = step;
  const judge = judgeOf(grader.model, platform);
  if (judge === null) throw new Error('scoreOf: the model was not checked');
  const options = { judge, judgments: 'use', replicate: grader.replicate, on_judge_failure: 'error' } as const;
  return withJudges(options, platform, async (obtain) => {
    const { judgments, timings } = await obtainJudgments([{ request, cited: new Set() }], obtain);
    const [only] = judgments;
    if (only === undefined) throw new Error('scoreOf: a judgment was lost');
    // Not used: a failure is an error.
    if (!only.outcome.ok) {
      return { status: 'done', value: { score: Number.NaN, judgments }, failure: only.outcome.failure, timings };
    }
    const { verdicts } = only.outcome.judgment;
    if (verdicts.kind !== 'grader') throw new Error('scoreOf: a judgment of another kind');
    return {
      status: 'done',
      value: { score: verdictScore(grader, verdicts.value), judgments },
      failure: null,
      timings,
    };
  });
}

const NO_TIME = { store_read: 0, judge: 0, store_write: 0 };

/** The judge of a grader's model: by its own name, else by that of the model behind it. */
function judgeOf(model: string, { backends: { named } }: ScoringPlatform): string | null {
  const found = named.find(({ judge }) => judge.name === model) ?? named.find(({ judge }) => judge.model === model);
  return found?.judge.name ?? null;
}

function modelProblem(grader: PreparedSingle, platform: ScoringPlatform): readonly InputProblem[] {
  if (grader.kind === 'check' || judgeOf(grader.model, platform) !== null) return [];
  const configured = platform.backends.named.map(({ judge }) => judge.name).join(', ');
  return [{ path: [...grader.path, 'model'], message: `expected a judge of this deployment: ${configured}` }];
}
