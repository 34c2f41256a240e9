/** The measured answers: what the recipe pays, what changed fields would pay, and what samples would be trained for. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Recipe } from '../../../src/families/composers.ts';
import { needsRubric } from '../../../src/probe/canned-answers.ts';
import {
  type AnswerReport,
  type Paid,
  type ProbeReport,
  paidUnder,
  probeReport,
  SAMPLE_FIGURES,
  type SampleFigure,
  type TriedChange,
  warns,
} from '../../../src/probe/probe-report.ts';
import { Fact } from '../display/fact.tsx';
import { columnText, countText, numberText, percentText, plural } from '../display/number-text.ts';
import { changedRecipes } from '../recipe/recipe-changes.ts';
import { type Changes, composeFields, type FieldValue } from '../recipe/recipe-fields.ts';
import { RecipeControls } from '../replay/recipe-controls.tsx';
import '../styles/replay.css';
import type { Measured } from './measure.ts';

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();
const OWN = 'own';

export function ProbeDesk({ measured, recipe }: { measured: Measured; recipe: Recipe }) {
  const report = useMemo(() => probeReport(measured.rows, recipe), [measured, recipe]);
  const fields = useMemo(() => composeFields(recipe), [recipe]);
  const [changes, setChanges] = useState<Changes>(new Map());
  const changed = useMemo(() => changedRecipes(new Map([[OWN, { name: null, recipe }]]), changes), [recipe, changes]);
  // While a field is invalid, the last valid recipe stays in force.
  const valid = useRef<{ changes: Changes; recipe: Recipe }>({ changes: new Map(), recipe });
  if (changed.ok) valid.current = { changes, recipe: changed.value.get(OWN) ?? recipe };
  const inForce = valid.current;
  const paid = useMemo(
    () => (inForce.changes.size === 0 ? null : paidUnder(measured.rows, inForce.recipe)),
    [measured, inForce.recipe],
  );
  const models = [...new Set(measured.judges.map(({ model }) => model))].join(', ');
  const { best_known: known, warnings } = report;
  const change = (name: string, value: FieldValue): void => {
    const next = new Map(changes);
    if (value === fields.find((field) => field.name === name)?.value) next.delete(name);
    else next.set(name, value);
    setChanges(next);
  };
  return (
    <div class="probe-desk">
      <div class="probe-results">
        <section class="card" aria-label="Warnings">
          <header class="card-head">
            <h2>{warnings.length === 0 ? 'No warnings' : plural(warnings.length, 'warning')}</h2>
            <span class="muted">{models}</span>
          </header>
          <dl class="facts is-alone">
            <Fact name="rows" text={countText(report.rows)} />
            <Fact name="best known answer" text={known.reward === null ? 'none scored' : columnText(known.reward)} />
            <Fact
              name="meets own criteria"
              text={known.criteria_met === null ? 'n/a' : percentText(known.criteria_met)}
            />
            <Fact name="best known is" text={originText(report)} />
          </dl>
          <ul class="probe-warnings">
            {warnings.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          {report.together !== null && (
            <p class="pad">
              With <Suggestion change={report.together} onTry={setChanges} />{' '}
              {plural(report.together.warns.length, 'warning')} would be left.
            </p>
          )}
        </section>
        <Answers report={report} paid={paid} onTry={setChanges} />
        {report.samples !== null && <Samples samples={report.samples} />}
      </div>
      <section class="card probe-recipe" aria-label="Recipe">
        <header class="card-head">
          <h2>Recipe</h2>
          <button type="button" class="quiet" onClick={() => setChanges(new Map())} disabled={changes.size === 0}>
            Reset
          </button>
        </header>
        <RecipeControls
          fields={fields}
          changes={changes}
          inForce={inForce.changes}
          problems={changed.ok ? NO_PROBLEMS : changed.error}
          onChange={change}
        />
      </section>
    </div>
  );
}

function originText({ best_known: { from } }: ProbeReport): string {
  const origins = [
    [from.reference, 'the reference'],
    [from.sample, 'the best sample'],
    [from.constructed, 'made of the sources'],
  ] as const;
  return origins.flatMap(([count, words]) => (count === 0 ? [] : [`${words} (${count})`])).join(', ');
}

type OnTry = (changes: Changes) => void;

/** A button that tries the change. */
function Suggestion({ change: { set }, onTry }: { change: TriedChange; onTry: OnTry }) {
  const text = Object.entries(set)
    .map(([field, value]) => `${field}=${value}`)
    .join(' ');
  return (
    <button type="button" class="quiet is-small" onClick={() => onTry(new Map(Object.entries(set)))}>
      {text}
    </button>
  );
}

type AnswersProps = { report: ProbeReport; paid: Paid | null; onTry: OnTry };

function Answers({ report, paid, onTry }: AnswersProps) {
  const given = report.answers.filter(({ rows, unscored }) => rows + unscored > 0);
  return (
    <section class="card" aria-label="Answers">
      <header class="card-head">
        <h2>Answers</h2>
        <span class="muted">mean reward as a share of the best known answer; more than 70 % is a warning</span>
      </header>
      <div class="scroll-x">
        <table class="list probe-answers">
          <thead>
            <tr>
              <th scope="col">An answer that</th>
              <th scope="col" class="number">
                Reward
              </th>
              <th scope="col" class="number">
                Share
              </th>
              {paid !== null && (
                <th scope="col" class="number">
                  Changed
                </th>
              )}
              <th scope="col">Lower with</th>
            </tr>
          </thead>
          <tbody>
            {given.map((answer) => (
              <Answer key={answer.name} answer={answer} paid={paid} onTry={onTry} />
            ))}
          </tbody>
        </table>
      </div>
      {paid !== null && (
        <p class="pad muted">
          Changed: replayed in this browser on the same judgments; the best known answer earns{' '}
          {paid.best_known.reward === null ? 'nothing that is known' : columnText(paid.best_known.reward)} then.
        </p>
      )}
    </section>
  );
}

function Answer({ answer, paid, onTry }: { answer: AnswerReport; paid: Paid | null; onTry: OnTry }) {
  const { name, does, reward, share, unscored, lowered_by } = answer;
  const other = paid?.answers.find((one) => one.name === name) ?? null;
  const [first] = lowered_by;
  return (
    <tr>
      <th scope="row">
        {does}
        {unscored > 0 && <span class="muted"> ({countText(unscored)} not scored)</span>}
      </th>
      <td class="number">{reward === null ? '–' : columnText(reward)}</td>
      <td class="number">
        <Share name={name} share={share} isWarned={answer.warns} />
      </td>
      {paid !== null && (
        <td class="number">
          <Share name={name} share={other?.share ?? null} isWarned={other !== null && warns(other)} />
        </td>
      )}
      <td class="row-name">
        {first !== undefined && (
          <>
            <Suggestion change={first} onTry={onTry} /> {first.share === null ? '' : percentText(first.share)}
          </>
        )}
      </td>
    </tr>
  );
}

type ShareProps = { name: AnswerReport['name']; share: number | null; isWarned: boolean };

function Share({ name, share, isWarned }: ShareProps) {
  if (share === null) return <span class="muted">n/a</span>;
  const text = share < 0 ? numberText(share) : percentText(share);
  if (needsRubric(name)) return <span class="muted">{text}</span>;
  return <span class={`tone is-${isWarned ? 'none' : 'full'}`}>{text}</span>;
}

const FIGURE_NAMES: Readonly<Record<SampleFigure, string>> = {
  words: 'length',
  copied: 'copied words',
  citations: 'citations',
  criteria_met: 'own criteria met',
  outcome: 'outcome',
};

function Samples({ samples }: { samples: NonNullable<ProbeReport['samples']> }) {
  return (
    <section class="card" aria-label="Samples">
      <header class="card-head">
        <h2>What advantages would pay for</h2>
        <span class="muted">rank correlation of the reward inside groups</span>
      </header>
      <dl class="facts is-alone">
        <Fact name="samples" text={countText(samples.samples)} />
        <Fact name="groups with signal" text={`${samples.with_signal} of ${samples.groups}`} />
        {SAMPLE_FIGURES.map((figure) => {
          const { correlation } = samples.follows[figure];
          return (
            <Fact
              key={figure}
              name={FIGURE_NAMES[figure]}
              text={correlation === null ? 'n/a' : columnText(correlation)}
            />
          );
        })}
      </dl>
      <p class="pad muted">n/a: not known, or fewer than 16 groups in which both vary.</p>
    </section>
  );
}
