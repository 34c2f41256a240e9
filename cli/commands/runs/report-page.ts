/**
 * The report of a run as one HTML page: charts as inline SVG, no script, no external reference. The policy in its head
 * forbids both, so that text of the run, which is escaped everywhere, can do nothing.
 */
import * as z from 'zod';
import { alertLines, checkLines } from '../../../src/runs/alert-text.ts';
import { escaped, stackedCharts } from '../../../src/runs/chart.ts';
import type { RunStep } from '../../../src/runs/summary.ts';
import type { RunRollout } from '../../../src/wire/runs.ts';
import { CITEWARD } from '../../shared/program.ts';
import { type MarkedAnswer, markedAnswer, TONE_WORDS } from './marked-answer.ts';
import { numberText, type RunReport, reportFacts } from './report-text.ts';

export function reportPage(report: RunReport): string {
  const { run, steps, alerts, answers, ledger, version } = report;
  const title = `Run ${run.id}`;
  const facts = reportFacts(report).map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`);
  const alertText = [...alertLines(alerts), ...checkLines(alerts.judge_checks)].map(alertParagraph).join('\n');
  const recipes = run.recipes.map(
    ({ digest, name, recipe }) =>
      `<details><summary>${escaped(name ?? 'inline recipe')} <code>${escaped(digest)}</code></summary>` +
      `<pre>${escaped(JSON.stringify(recipe, null, 2))}</pre></details>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="quiet">${escaped(run.family)} · recorded ${escaped(ledger.first ?? 'never')} to ${escaped(ledger.last ?? 'never')}</p>
<dl>${facts.join('')}</dl>
<h2>By step</h2>
${stepCharts(steps)}
<h2>Alerts</h2>
<div class="alerts">${alertText === '' ? '<p>none</p>' : alertText}</div>
<h2>Answers of the last step</h2>
${answers.length === 0 ? '<p>No rollout of the last step has a reward.</p>' : answers.map(answerSection).join('\n')}
<h2>Reproducibility</h2>
<p>This command prints the digest of an exported run: <code>${DIGEST_COMMAND}</code></p>
<dl><dt>run digest, of ${ledger.rollouts} rollouts</dt><dd><code>${escaped(ledger.digest)}</code></dd>
<dt>judges of the answers above</dt><dd>${escaped(judgesOf(answers))}</dd>
<dt>Citeward</dt><dd>${escaped(version)}</dd></dl>
${recipes.join('\n')}
</main>
</body>
</html>
`;
}

const DIGEST_COMMAND = `${CITEWARD} runs digest RUN.jsonl`;

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; color: light-dark(#1b1f24, #e8eaed);
  background: light-dark(#fff, #16181c) }
main { max-width: 760px; margin: 0 auto; padding: 16px } h1 { font-size: 24px } h2 { font-size: 18px; margin-top: 32px }
dl { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 4px 16px } dt, .quiet { opacity: .75 }
dd { margin: 0; overflow-wrap: anywhere }
pre, .text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext }
article { border-top: 1px solid; padding: 8px 0 } summary { overflow-wrap: anywhere }
svg { max-width: 100%; height: auto } @media (max-width: 600px) { svg text { font-size: 17px } }
.alerts p { margin: 0 } .alerts .active { font-weight: 600; margin-top: 12px }
mark { color: inherit; background: none; border-bottom: 3px solid #868f9e }
.full { border-bottom-color: #2a9d5c } .partial { border-bottom: 3px dashed #c98a1b }
.none { border-bottom: 3px dotted #d2453a }
@media print { details { display: none } article { break-inside: avoid } }`;

/** A line of the alerts: an active one, or what is said of it, which is indented. */
function alertParagraph(line: string): string {
  const text = escaped(line.trim());
  return line.startsWith('!') ? `<p class="active">${text}</p>` : `<p>${text}</p>`;
}

/** Component charts beyond these would bury the others. */
const MOST_COMPONENTS = 8;

function stepCharts(all: readonly RunStep[]): string {
  const steps = all.filter(({ step }) => step !== null);
  if (steps.length === 0) return '<p>The rollouts have no steps.</p>';
  const names = [...new Set(steps.flatMap(({ components }) => Object.keys(components)))].slice(0, MOST_COMPONENTS);
  const panelOf = (title: string, figure: (step: RunStep) => number | null) => ({ title, values: steps.map(figure) });
  return stackedCharts({
    title: 'Figures by step',
    axis: 'step',
    values: steps.map(({ step }) => step ?? 0),
    panels: [
      panelOf('mean reward', ({ reward }) => reward.mean),
      panelOf('spread of the rewards within groups', ({ spread }) => spread.mean_std),
      panelOf('share of groups without a training signal', ({ degenerate }) => degenerate.share),
      panelOf('share of rollouts without a reward', ({ rollouts, scored }) => (rollouts - scored) / rollouts),
      ...names.map((name) => panelOf(name.replaceAll('_', ' '), ({ components }) => components[name]?.mean ?? null)),
    ],
  });
}

/** What a report of a rollout says of its judges. */
const reportSchema = z.object({
  judgments: z.array(z.object({ model: z.string().nullable(), template: z.string().nullable() })).optional(),
});

function answerSection(rollout: RunRollout): string {
  const { step, group, sample, reward, components } = rollout;
  const place = `${step ?? 'no step'} / ${group} / ${sample}`;
  const parts = Object.entries(components).map(([name, value]) => `${name.replaceAll('_', ' ')} ${numberText(value)}`);
  const answer = markedAnswer(rollout);
  const shown =
    answer === null
      ? '<p class="quiet">The run does not keep the text.</p>'
      : `${answer.question === null ? '' : `<p><b>${escaped(answer.question)}</b></p>`}` +
        `<p class="text">${markedHtml(answer)}</p>`;
  const about = escaped(`${place} · ${parts.join(', ')}`);
  return `<article><p><b>${numberText(reward)}</b> <span class="quiet">${about}</span></p>
${shown}</article>`;
}

/** The answer as HTML, its claims marked by how well their sources support them. */
export function markedHtml({ pieces }: MarkedAnswer): string {
  return pieces
    .map(({ text, tone }) =>
      tone === null ? escaped(text) : `<mark class="${tone}" title="${TONE_WORDS[tone]}">${escaped(text)}</mark>`,
    )
    .join('');
}

function judgesOf(answers: readonly RunRollout[]): string {
  const judges = answers.flatMap(({ detail }) => {
    const { judgments = [] } = reportSchema.safeParse(detail?.report).data ?? {};
    return judgments.flatMap(({ model, template }) =>
      model === null ? [] : [`${model}, prompt ${template ?? 'none'}`],
    );
  });
  return judges.length === 0 ? 'unknown' : [...new Set(judges)].join('; ');
}
