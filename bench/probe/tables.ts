/** What the refiners' recipes pay for canned answers to the rows of the demo runs: the tables of docs/guides/probe.md. */

import { memoryStore } from '../../lib/index.ts';
import { type DemoRun, demoRuns, type RunName } from '../../scripts/demo-run/runs.ts';
import { RECIPE_NAMES, RECIPES, type RecipeName } from '../../src/families/composers.ts';
import { type ResolvedRecipe, resolveRecipe } from '../../src/families/resolve.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import type { ObtainOptions } from '../../src/judgments/obtain.ts';
import { type CannedAnswerName, cannedAnswerText } from '../../src/probe/canned-answers.ts';
import { planProbe } from '../../src/probe/plan-probe.ts';
import { type ProbeReport, probeReport } from '../../src/probe/probe-report.ts';
import { measureProbe } from '../../src/probe/probe-rows.ts';

/** Rows of each table: as many as the command reads. */
const ROWS = 64;

/** The named recipes of the refiner family. */
const REFINERS = RECIPE_NAMES.filter((name) => RECIPES[name].family === 'refiner');

/** The tables by their names in the page. */
export async function probeTables(): Promise<Readonly<Record<string, string>>> {
  return { 'demo rows': await tableOf('learns-to-cite'), 'vacuous rows': await tableOf('vacuous-credit') };
}

async function tableOf(run: RunName): Promise<string> {
  const reports = await reportsOn(run);
  const [first] = reports;
  if (first === undefined) throw new Error('there is no refiner');
  const given = first.answers.filter(({ rows }) => rows > 0).map(({ name }) => name);
  return [
    ['an answer that', ...REFINERS.map((name) => `\`${name.replace(/^refiner-/u, '')}\``)],
    ['---', ...REFINERS.map(() => '---:')],
    ['is the best known one, in points', ...reports.map(({ best_known: { reward } }) => reward?.toFixed(2) ?? '-')],
    ...given.map((name) => [cannedAnswerText(name), ...reports.map((report) => shareText(report, name))]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** The share in percent; in bold where it is warned of. */
function shareText({ answers }: ProbeReport, name: CannedAnswerName): string {
  const answer = answers.find((one) => one.name === name);
  if (answer === undefined || answer.share === null) return '–';
  const text = `${Math.round(100 * answer.share)} %`;
  return answer.warns ? `**${text}**` : text;
}

/** The refiners differ in compose fields only, so the answers are measured once: under the one whose facts serve all. */
async function reportsOn(name: RunName): Promise<readonly ProbeReport[]> {
  const run = demoRuns().find((one) => one.name === name);
  if (run === undefined) throw new Error(`no run ${name}`);
  const plan = planProbe({ rows: rowsOf(run), recipe: await recipeOf('refiner-guarded'), seed: 0 });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const measured = await measureProbe(plan.value, lexically());
  if (measured.status !== 'done') throw new Error(`the answers were not measured: ${measured.status}`);
  return Promise.all(REFINERS.map(async (name) => probeReport(measured.rows, (await recipeOf(name)).recipe)));
}

function rowsOf({ rows, seed }: DemoRun): Parameters<typeof planProbe>[0]['rows'] {
  return rows(seed, ROWS).map(({ group, question, tool_output, positive_rubrics, negative_rubrics }) => ({
    id: group,
    prompt: { question, tool_output, positive_rubrics, negative_rubrics },
    samples: [],
  }));
}

async function recipeOf(name: RecipeName): Promise<ResolvedRecipe> {
  const recipe = await resolveRecipe(name);
  if (!recipe.ok) throw new Error(JSON.stringify(recipe.error));
  return recipe.value;
}

function lexically(): ObtainOptions {
  return {
    judge: { ok: true, judge: LEXICAL_JUDGE },
    store: memoryStore(),
    mode: 'use',
    replicate: 0,
    deadline_ms: Number.MAX_SAFE_INTEGER,
    now: () => new Date().toISOString(),
    elapsed: () => performance.now(),
  };
}
