/** The criteria of a prompt as a table: state, text, figures, and the buttons that collect edits. */
import { columnText, countText, numberText, percentText } from '../display/number-text.ts';
import { Sparkline } from '../runs/sparkline.tsx';
import { type CriterionText, type Draft, toggled } from './edit-draft.ts';
import type { Met, ShownCriterion, Visit } from './prompt-history.ts';

type CriteriaTableProps = {
  criteria: readonly ShownCriterion[];
  visits: readonly Visit[];
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** A criterion is to be changed. */
  onChange: (criterion: ShownCriterion) => void;
  /** An added criterion is to be changed, by its position in the draft. */
  onAdded: (position: number) => void;
};

export function CriteriaTable({ criteria, visits, draft, onDraft, onChange, onAdded }: CriteriaTableProps) {
  if (criteria.length + draft.added.length === 0) return <p class="muted pad">The prompt has no criteria yet.</p>;
  return (
    <div class="scroll-x">
      <table class="list criteria-of-prompt">
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col">State</th>
            {['Weight', 'Since step', 'Groups', 'Pass rate', 'Std', 'Variance'].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
            <th scope="col">Pass rate over groups</th>
            <th scope="col">Edit</th>
          </tr>
        </thead>
        <tbody>
          {criteria.map((criterion) => (
            <CriterionRow
              key={criterion.id}
              criterion={criterion}
              met={visits.flatMap(({ met }) => met.get(criterion.id) ?? [])}
              draft={draft}
              onDraft={onDraft}
              onChange={() => onChange(criterion)}
            />
          ))}
          {draft.added.map((text, position) => (
            <tr key={`added ${position}`} class="is-edited">
              <CriterionCell text={text} note="not saved" />
              <td>new</td>
              <td class="number">{numberText(text.weight)}</td>
              <td colSpan={6} />
              <td>
                <div class="row-actions">
                  <button type="button" onClick={() => onAdded(position)} aria-label={`Change ${text.description}`}>
                    Change
                  </button>
                  <button
                    type="button"
                    onClick={() => onDraft({ ...draft, added: draft.added.filter((_, n) => n !== position) })}
                    aria-label={`Remove ${text.description}`}
                  >
                    Remove
                  </button>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type CriterionRowProps = {
  criterion: ShownCriterion;
  /** Of each group that had it in its set. */
  met: readonly Met[];
  draft: Draft;
  onDraft: (draft: Draft) => void;
  onChange: () => void;
};

function CriterionRow({ criterion, met, draft, onDraft, onChange }: CriterionRowProps) {
  const { id, name, state, weight, since_step, visits } = criterion;
  const changed = draft.changed.get(id);
  const isRetired = draft.retire.has(id);
  const isRestored = draft.restore.has(id);
  const last = met.findLast(({ n }) => n > 0) ?? null;
  const note = isRetired ? 'to be retired' : isRestored ? 'to be restored' : changed === undefined ? null : 'changed';
  const text = changed ?? { ...criterion, title: criterion.title ?? '' };
  return (
    <tr class={note === null ? '' : 'is-edited'}>
      <CriterionCell text={text} note={note} />
      <td>
        <span class={state === 'inactive' ? 'muted' : ''}>{state}</span>
      </td>
      <td class="number">
        {numberText(text.weight)}
        {text.weight !== weight && <small>was {numberText(weight)}</small>}
      </td>
      <td class="number">{since_step ?? <span title="given with the row">row</span>}</td>
      <td class="number">{countText(visits)}</td>
      <td class="number">{last === null || last.passRate === null ? 'none' : <b>{percentText(last.passRate)}</b>}</td>
      <td class="number">{last === null || last.std === null ? 'n/a' : columnText(last.std)}</td>
      <td class="number">{last === null || last.std === null ? 'n/a' : columnText(last.std * last.std, 3)}</td>
      <td>{met.some(({ passRate }) => passRate !== null) && <Sparkline values={met.map((one) => one.passRate)} />}</td>
      <td>
        <div class="row-actions">
          {state === 'inactive' ? (
            <button
              type="button"
              aria-pressed={isRestored}
              aria-label={`Restore ${name}`}
              onClick={() => onDraft({ ...draft, restore: toggled(draft.restore, id) })}
            >
              Restore
            </button>
          ) : (
            <>
              <button type="button" disabled={isRetired} aria-label={`Change ${name}`} onClick={onChange}>
                Change
              </button>
              <button
                type="button"
                aria-pressed={isRetired}
                aria-label={`Retire ${name}`}
                disabled={changed !== undefined}
                onClick={() => onDraft({ ...draft, retire: toggled(draft.retire, id) })}
              >
                Retire
              </button>
              {changed !== undefined && (
                <button
                  type="button"
                  aria-label={`Undo the change of ${name}`}
                  onClick={() => {
                    const rest = new Map(draft.changed);
                    rest.delete(id);
                    onDraft({ ...draft, changed: rest });
                  }}
                >
                  Undo
                </button>
              )}
            </>
          )}
        </div>
      </td>
    </tr>
  );
}

function CriterionCell({ text: { title, description, polarity }, note }: { text: CriterionText; note: string | null }) {
  return (
    <th scope="row" class="criterion-name">
      {title !== '' && <b>{title}: </b>}
      {description}
      {polarity === 'negative' && <span class="tag">negative</span>}
      {note !== null && <span class="tag edit-note">{note}</span>}
    </th>
  );
}
