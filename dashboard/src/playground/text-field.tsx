/** A labelled text area. */
import { useId } from 'preact/hooks';

type TextFieldProps = {
  label: string;
  hint?: string;
  rows: number;
  code?: boolean;
  value: string;
  onText: (text: string) => void;
};

export function TextField({ label, hint, rows, code = false, value, onText }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {label} {hint !== undefined && <small>{hint}</small>}
      </label>
      <textarea
        id={id}
        rows={rows}
        class={code ? 'code' : ''}
        spellcheck={!code}
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </div>
  );
}
