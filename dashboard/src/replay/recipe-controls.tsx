/** Controls for the compose fields of a recipe: sliders, switches and selects. */
import { useId, useState } from 'preact/hooks';
import { numberText } from '../display/number-text.ts';
import type { Changes } from './recipe-changes.ts';
import type { FieldValue, RecipeField } from './recipe-fields.ts';

type ControlsProps = {
  fields: readonly RecipeField[];
  changes: Changes;
  onChange: (name: string, value: FieldValue) => void;
};

export function RecipeControls({ fields, changes, onChange }: ControlsProps) {
  return (
    <div class="controls">
      {fields.map((field) => (
        <Control key={field.name} field={field} value={changes.get(field.name) ?? field.value} onChange={onChange} />
      ))}
    </div>
  );
}

type ControlProps = { field: RecipeField; value: FieldValue; onChange: ControlsProps['onChange'] };

function Control({ field, value, onChange }: ControlProps) {
  const id = useId();
  const { name, description } = field;
  const set = (next: FieldValue): void => onChange(name, next);
  const recorded = value === field.value ? null : `recorded: ${valueText(field.value)}`;
  return (
    <div class={`control is-${field.kind}${recorded === null ? '' : ' is-changed'}`}>
      <label for={id} title={description}>
        {name.replaceAll('_', ' ').replace('.', ' · ')}
      </label>
      <ControlInput id={id} field={field} value={value} onValue={set} />
      {recorded !== null && (
        <button
          type="button"
          class="quiet is-small"
          onClick={() => set(field.value)}
          aria-label={`Reset to ${recorded}`}
        >
          {recorded}
        </button>
      )}
    </div>
  );
}

type InputProps = { id: string; field: RecipeField; value: FieldValue; onValue: (value: FieldValue) => void };

function ControlInput({ id, field, value, onValue }: InputProps) {
  switch (field.kind) {
    case 'switch':
      return (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
      );
    case 'choice':
      return (
        <select id={id} value={String(value)} onChange={(event) => onValue(event.currentTarget.value)}>
          {field.options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      );
    case 'number': {
      const read = (text: string): void => {
        const number = Number(text);
        if (text !== '' && Number.isFinite(number)) onValue(number);
      };
      return (
        <span class="slider">
          <input
            id={id}
            type="range"
            min={field.span[0]}
            max={field.span[1]}
            step={field.stride}
            value={Number(value)}
            onInput={(event) => read(event.currentTarget.value)}
          />
          <NumberBox field={field} value={Number(value)} onText={read} />
        </span>
      );
    }
  }
}

type NumberBoxProps = {
  field: Extract<RecipeField, { kind: 'number' }>;
  value: number;
  onText: (text: string) => void;
};

/** Keeps the typed text until the box loses focus: `0.` may become a number. */
function NumberBox({ field, value, onText }: NumberBoxProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      type="number"
      class="slider-number"
      aria-label={`${field.name.replaceAll('_', ' ')}, as a number`}
      step={field.isInteger ? 1 : 'any'}
      {...(field.least === null ? {} : { min: field.least })}
      {...(field.most === null ? {} : { max: field.most })}
      value={typed ?? String(value)}
      onInput={(event) => {
        setTyped(event.currentTarget.value);
        onText(event.currentTarget.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}

function valueText(value: FieldValue): string {
  return typeof value === 'number' ? numberText(value, 4) : String(value);
}
