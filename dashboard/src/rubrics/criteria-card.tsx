/**
 * The criteria of a prompt, and their edits by hand: collected here, and saved together under the set that the person
 * saw. If the set is another one by then, nothing is saved and the changes stay.
 */
import { useEffect, useState } from 'preact/hooks';
import type { PromptRubricsReply } from '../../../src/wire/rubrics.ts';
import { type CallFailure, callApi, runPath } from '../api/call.ts';
import { plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { CriteriaTable } from './criteria-table.tsx';
import { CriterionDialog } from './criterion-dialog.tsx';
import {
  type CriterionText,
  changeCount,
  type Draft,
  editRequest,
  isSameText,
  NO_CHANGES,
  stillApplying,
  textOfCriterion,
} from './edit-draft.ts';
import { nextStep, type ShownCriterion, type Visit } from './prompt-history.ts';

type CriteriaCardProps = {
  rubrics: PromptRubricsReply;
  criteria: readonly ShownCriterion[];
  visits: readonly Visit[];
  reload: () => void;
};

/** The criterion in the dialog: one of the prompt, an added one by its position, or a new one. */
type Opened = { readonly criterion: ShownCriterion } | { readonly added: number } | 'new';

const NEW: CriterionText = { polarity: 'positive', title: '', description: '', weight: 1 };

export function CriteriaCard({ rubrics, criteria, visits, reload }: CriteriaCardProps) {
  const { run, prompt, set, events = [] } = rubrics;
  const [draft, setDraft] = useState<Draft>(NO_CHANGES);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [step, setStep] = useState<string | null>(null);
  const [failure, setFailure] = useState<CallFailure | null>(null);
  const [said, setSaid] = useState('');
  const [isSaving, setSaving] = useState(false);
  const count = changeCount(draft);
  const from = step ?? String(nextStep(events));

  // After a reload some changes may no longer apply.
  useEffect(() => {
    const kept = stillApplying(draft, rubrics);
    const lost = count - changeCount(kept);
    if (lost > 0) setSaid(`${plural(lost, 'change')} left out: the criteria are no longer where you saw them.`);
    setDraft(kept);
    setFailure(null);
  }, [set.id]);

  const save = async (): Promise<void> => {
    setSaving(true);
    setSaid('');
    const body = editRequest(draft, criteria, set.id, Number(from));
    const path = `${runPath(run)}/rubrics/${prompt}/edits`;
    const reply = await callApi<PromptRubricsReply>(path, { method: 'POST', body });
    setSaving(false);
    setFailure(reply.ok ? null : reply.failure);
    if (!reply.ok) return;
    setDraft(NO_CHANGES);
    setStep(null);
    setSaid(`Saved. The next group is scored under the set ${reply.value.set.id.slice(0, 8)}.`);
    reload();
  };

  const apply = (text: CriterionText): void => {
    if (opened === null) return;
    setSaid('');
    if (opened === 'new') setDraft({ ...draft, added: [...draft.added, text] });
    else if ('added' in opened) {
      setDraft({ ...draft, added: draft.added.map((one, n) => (n === opened.added ? text : one)) });
    } else {
      const { criterion } = opened;
      const changed = new Map(draft.changed);
      const old = textOfCriterion(criterion);
      if (isSameText(old, text) && old.weight === text.weight) changed.delete(criterion.id);
      else changed.set(criterion.id, text);
      setDraft({ ...draft, changed });
    }
  };

  return (
    <section class="card" aria-label="Criteria">
      <header class="card-head">
        <h2>Criteria</h2>
        <span class="muted">
          figures of the last group; a half-met criterion counts half, and a negative one passes if it is avoided
        </span>
        <button type="button" onClick={() => setOpened('new')}>
          Add a criterion
        </button>
      </header>
      <CriteriaTable
        criteria={criteria}
        visits={visits}
        draft={draft}
        onDraft={(next) => {
          setSaid('');
          setDraft(next);
        }}
        onChange={(criterion) => setOpened({ criterion })}
        onAdded={(added) => setOpened({ added })}
      />
      {failure !== null && <EditFailure failure={failure} reload={reload} />}
      <form
        class="edit-bar"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <p role="status">
          {said !== '' ? said : count === 0 ? 'No changes.' : `${plural(count, 'change')} not saved.`}
        </p>
        {count > 0 && (
          <>
            <label class="inline-field">
              <span>Counts from step</span>
              <input
                type="number"
                required
                min="0"
                max="1000000000"
                step="1"
                value={from}
                onInput={(event) => setStep(event.currentTarget.value)}
              />
            </label>
            <div class="actions">
              <button type="button" onClick={() => setDraft(NO_CHANGES)}>
                Discard
              </button>
              <button type="submit" class="primary" disabled={isSaving}>
                Save {plural(count, 'change')}
              </button>
            </div>
          </>
        )}
      </form>
      {opened !== null && (
        <CriterionDialog
          title={opened === 'new' ? 'Add a criterion' : 'Change a criterion'}
          text={criterionText(opened, draft)}
          hint={
            opened !== 'new' && 'criterion' in opened
              ? 'With another text it is a new criterion without verdicts, and the old one is retired. With another weight alone it stays the same one.'
              : 'It scores from the next group on.'
          }
          onApply={apply}
          onClose={() => setOpened(null)}
        />
      )}
    </section>
  );
}

function criterionText(opened: Opened, { changed, added }: Draft): CriterionText {
  if (opened === 'new') return NEW;
  if ('added' in opened) return added[opened.added] ?? NEW;
  return changed.get(opened.criterion.id) ?? textOfCriterion(opened.criterion);
}

function EditFailure({ failure, reload }: { failure: CallFailure; reload: () => void }) {
  if (failure.kind !== 'problem' || failure.problem.reason !== 'rubrics_stale') {
    return <ProblemNotice failure={failure} />;
  }
  return (
    <div class="notice notice-bad" role="alert">
      <p class="notice-title">Nothing was saved: the criteria have changed since you loaded them</p>
      <p>
        A group that was scored meanwhile, or another person, changed this prompt. Load the criteria of now; your
        changes stay where they still apply. Then check them and save again.
      </p>
      <p class="notice-foot">
        <code>rubrics_stale</code>
        <button type="button" onClick={reload}>
          Load the criteria of now
        </button>
      </p>
    </div>
  );
}
