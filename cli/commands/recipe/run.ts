/** `citeward recipe probe`: what a recipe pays for answers that cost a policy nothing. */
import * as z from 'zod';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { probeReport } from '../../../src/probe/probe-report.ts';
import type { ProbedRow } from '../../../src/probe/probe-rows.ts';
import { type JudgeUse, mergedJudges } from '../../../src/scoring/reward-reply.ts';
import { type ProbeReply, probeOptionFields } from '../../../src/wire/probe.ts';
import { type PromptRow, probeRequests } from '../../../src/wire/probe-prompts.ts';
import { checkRecipe } from '../../shared/check-recipe.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_ALERT, EXIT_INCOMPLETE, EXIT_OK, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { countOf, durationText } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { openRowHost } from '../../shared/row-host.ts';
import { problemTexts } from '../../shared/rows.ts';
import {
  applyScoringOptions,
  defaultRecipe,
  readScoringOptions,
  scoringFieldsSet,
} from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { badLinesText } from '../../shared/summary.ts';
import { DEFAULT_PROMPTS, PROMPTS_RANGE, probeSyntax, SEED_RANGE } from './options.ts';
import { type Probe, probeOf } from './probing.ts';
import { readPrompts } from './prompts.ts';
import { printReport } from './render.ts';

export const probeCommand: Command = { ...probeSyntax, run };

async function run(flags: Flags): Promise<number> {
  const scoring = await readScoringOptions(flags);
  const most = flags.count('prompts', PROMPTS_RANGE) ?? DEFAULT_PROMPTS;
  const seed = flags.count('seed', SEED_RANGE) ?? 0;
  await checkRecipe(scoring);
  const recipe = await resolveRecipe(defaultRecipe(scoring));
  if (!recipe.ok) throw new Error('recipe probe: a checked recipe was refused');
  const screen = new Screen(flags);
  const input = await openRows(flags, 'recipe probe examples/rollouts.jsonl');
  const reading = new Progress(screen.errors, input.bytes);
  screen.show(reading);
  const { client, judgeNotices, judged } = await openRowHost(flags, (text) => reading.remark(text), scoring);
  const started = performance.now();
  const { prompts, badLines } = await readPrompts(input, most, screen, reading);

  const progress = new Progress(screen.errors, prompts.length);
  screen.show(progress);
  const options = z.strictObject(probeOptionFields).parse(applyScoringOptions({ seed }, scoring));
  const probe = probeOf(client, options, new Set([...scoringFieldsSet(scoring), 'seed']));
  for (const notice of judgeNotices) screen.message(notice, 'dim');
  const measured = await measure(prompts, probe, screen, progress);
  if (measured.rows.length === 0)
    throw new RunError('no row could be measured', 'The messages above say what each lacks.');

  const { name, digest, reward_range } = recipe.value;
  const report: ProbeReply = {
    recipe: { name, digest, reward_range: [...reward_range] },
    ...probeReport(measured.rows, recipe.value.recipe),
    judges: measured.judges,
  };
  if (flags.isOn('json')) await screen.result(JSON.stringify(report));
  else await printReport(report, screen);
  const unscored = report.answers.reduce((sum, answer) => sum + answer.unscored, report.samples?.unscored ?? 0);
  const bad = badLines + measured.refused;
  for (const { text } of report.warnings) screen.message(text, 'yellow');
  screen.message(summaryText(report, unscored, bad, (performance.now() - started) / 1000), 'bold');
  const asked = judged();
  if (asked !== null) screen.message(asked, 'dim');
  if (unscored > 0 || bad > 0) return EXIT_INCOMPLETE;
  return report.warnings.length > 0 ? EXIT_ALERT : EXIT_OK;
}

type Measured = { readonly rows: ProbedRow[]; readonly judges: JudgeUse[]; readonly refused: number };

/** Measures all prompts. Those that the recipe refuses go to the screen, and the others are still measured. */
async function measure(
  prompts: readonly PromptRow[],
  probe: Probe,
  screen: Screen,
  progress: Progress,
): Promise<Measured> {
  const rows: ProbedRow[] = [];
  const judges: (readonly JudgeUse[])[] = [];
  let refused = 0;
  let done = 0;
  for (const request of probeRequests(prompts)) {
    let some = request;
    while (some.length > 0) {
      const end = await probe(some.map(({ row }) => row));
      if (end.kind === 'done') {
        rows.push(...end.rows);
        judges.push(end.judges);
        break;
      }
      const wrong = new Set(end.problems.map(({ row }) => row));
      for (const at of wrong) {
        const own = end.problems.filter(({ row }) => row === at);
        for (const text of problemTexts(some[at]?.line ?? 0, own)) screen.message(text, 'red');
      }
      refused += wrong.size;
      some = some.filter((_, at) => !wrong.has(at));
    }
    done += request.length;
    progress.advance(done, done);
  }
  progress.clear();
  return { rows, judges: mergedJudges(judges), refused };
}

/** `64 rows probed · 7 warnings · 2 bad lines · 1.2 s` */
function summaryText({ rows, warnings }: ProbeReply, unscored: number, bad: number, seconds: number): string {
  const parts = [`${countOf(rows, 'row')} probed`, countOf(warnings.length, 'warning')];
  if (unscored > 0) parts.push(`${countOf(unscored, 'answer')} not scored`);
  if (bad > 0) parts.push(badLinesText(bad));
  return [...parts, durationText(seconds)].join(' · ');
}
