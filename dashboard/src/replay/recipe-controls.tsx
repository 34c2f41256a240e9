/** Controls for the compose fields of a recipe: sliders, switches and selects, each with its description and problem. */
import { useId, useState } from 'preact/hooks';
import { numberText } from '../display/number-text.ts';
import type { Changes, FieldValue, RecipeField } from '../recipe/recipe-fields.ts';

type ControlsProps = {
  fields: readonly RecipeField[];
  /** What is typed and chosen, valid or not. */
  changes: Changes;
  /** The last valid changes. */
  inForce: Changes;
  /** What is expected instead, by the name of the field. */
  problems: ReadonlyMap<string, string>;
  onChange: (name: string, value: FieldValue) => void;
};

export function RecipeControls({ fields, changes, inForce, problems, onChange }: ControlsProps) {
  return (
    <div class="controls">
      {fields.map((field) => (
        <Control
          key={field.name}
          field={field}
          value={changes.get(field.name) ?? field.value}
          valueInForce={inForce.get(field.name) ?? field.value}
          problem={problems.get(field.name) ?? null}
          onChange={onChange}
        />
      ))}
    </div>
  );
}

type ControlProps = {
  field: RecipeField;
  value: FieldValue;
  valueInForce: FieldValue;
  problem: string | null;
  onChange: ControlsProps['onChange'];
};

function Control({ field, value, valueInForce, problem, onChange }: ControlProps) {
  const id = useId();
  const [isExplained, setExplained] = useState(false);
  const { name, description } = field;
  const words = name.replaceAll('_', ' ').replace('.', ' · ');
  const set = (next: FieldValue): void => onChange(name, next);
  const recorded = value === field.value ? null : `recorded: ${valueText(field.value)}`;
  return (
    <div class={`control is-${field.kind}${recorded === null ? '' : ' is-changed'}`}>
      <span class="control-name">
        <label for={id}>{words}</label>
        {description !== '' && (
          <button
            type="button"
            class="help"
            aria-label={`About ${words}`}
            aria-expanded={isExplained}
            onClick={() => setExplained(!isExplained)}
          >
            ?
          </button>
        )}
      </span>
      <ControlInput
        id={id}
        field={field}
        value={value}
        valueInForce={valueInForce}
        problem={problem === null ? null : `${id}-problem`}
        onValue={set}
      />
      {isExplained && <p class="control-help">{description}</p>}
      {problem !== null && (
        <p id={`${id}-problem`} class="field-problem" role="alert">
          {sentence(problem)}. {problemEnd(value, valueInForce)}
        </p>
      )}
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

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}

/** A field can also be invalid because another one has changed; then its own value is in force. */
function problemEnd(value: FieldValue, valueInForce: FieldValue): string {
  return value === valueInForce
    ? 'The figures keep the last valid recipe.'
    : `The figures keep ${valueText(valueInForce)}.`;
}

type InputProps = {
  id: string;
  field: RecipeField;
  value: FieldValue;
  valueInForce: FieldValue;
  /** Id of the element that describes the problem; `null` = valid. */
  problem: string | null;
  onValue: (value: FieldValue) => void;
};

/** Attributes of an input with a problem. */
type Invalid = { readonly 'aria-invalid'?: true; readonly 'aria-describedby'?: string };

function ControlInput({ id, field, value, valueInForce, problem, onValue }: InputProps) {
  const invalid: Invalid = problem === null ? {} : { 'aria-invalid': true, 'aria-describedby': problem };
  switch (field.kind) {
    case 'switch':
      return (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onValue(event.currentTarget.checked)}
          {...invalid}
        />
      );
    case 'choice':
      return (
        <select id={id} value={String(value)} onChange={(event) => onValue(event.currentTarget.value)} {...invalid}>
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
            value={Number(problem === null ? value : valueInForce)}
            onInput={(event) => read(event.currentTarget.value)}
          />
          <NumberBox field={field} value={Number(value)} invalid={invalid} onText={read} />
        </span>
      );
    }
  }
}

type NumberBoxProps = {
  field: Extract<RecipeField, { kind: 'number' }>;
  value: number;
  invalid: Invalid;
  onText: (text: string) => void;
};

/** Keeps the typed text until the box loses focus: `0.` may become a number. */
function NumberBox({ field, value, invalid, onText }: NumberBoxProps) {
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
      {...invalid}
    />
  );
}

function valueText(value: FieldValue): string {
  return typeof value === 'number' ? numberText(value, 4) : String(value);
}
