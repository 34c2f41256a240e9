/** Asks for the text and the weight of a criterion. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { MAX_CRITERION_CHARS, MAX_CRITERION_WEIGHT, MAX_TITLE_CHARS } from '../../../src/limits.ts';
import type { CriterionText } from './edit-draft.ts';

type CriterionDialogProps = {
  title: string;
  text: CriterionText;
  /** A short text below the fields. */
  hint: string;
  onApply: (text: CriterionText) => void;
  onClose: () => void;
};

/** Open while it is rendered. The browser gives the focus back to the button that opened it. */
export function CriterionDialog({ title, text, hint, onApply, onClose }: CriterionDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState(text);
  const [weight, setWeight] = useState(String(text.weight));
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => dialog.current?.close();
  return (
    <dialog ref={dialog} class="settings" aria-labelledby="criterion-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onApply({
            ...typed,
            title: typed.title.trim(),
            description: typed.description.trim(),
            weight: Number(weight),
          });
          close();
        }}
      >
        <h2 id="criterion-title">{title}</h2>
        <label class="field">
          <span>Description</span>
          <textarea
            rows={4}
            required
            maxLength={MAX_CRITERION_CHARS}
            value={typed.description}
            onInput={({ currentTarget: field }) => {
              const { value } = field;
              field.setCustomValidity(value.trim() === '' ? 'Describe what an answer has to show.' : '');
              setTyped({ ...typed, description: value });
            }}
          />
        </label>
        <label class="field">
          <span>Title (optional)</span>
          <input
            maxLength={MAX_TITLE_CHARS}
            value={typed.title}
            onInput={(event) => setTyped({ ...typed, title: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Polarity</span>
          <select
            value={typed.polarity}
            onChange={(event) =>
              setTyped({ ...typed, polarity: event.currentTarget.value === 'negative' ? 'negative' : 'positive' })
            }
          >
            <option value="positive">positive: a good answer does this</option>
            <option value="negative">negative: this is a fault</option>
          </select>
        </label>
        <label class="field">
          <span>Weight</span>
          <input
            type="number"
            required
            min="0.000001"
            max={MAX_CRITERION_WEIGHT}
            step="any"
            value={weight}
            onInput={(event) => setWeight(event.currentTarget.value)}
          />
          <small>{hint}</small>
        </label>
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Apply
          </button>
        </div>
      </form>
    </dialog>
  );
}
