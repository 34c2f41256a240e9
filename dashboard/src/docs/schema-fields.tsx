/** Lists the fields of a schema; nested schemas open in place. */
import { useState } from 'preact/hooks';
import {
  alternativesOf,
  type Field,
  fieldsOf,
  nameOf,
  type OpenApi,
  resolved,
  type Schema,
  typeText,
} from './openapi.ts';

type SchemaFieldsProps = { api: OpenApi } & ({ schema: Schema } | { fields: readonly Field[] });

export function SchemaFields(props: SchemaFieldsProps) {
  const { api } = props;
  if ('fields' in props) return <FieldList api={api} fields={props.fields} />;
  const schema = resolved(props.schema, api);
  const fields = fieldsOf(schema);
  const alternatives = alternativesOf(schema);
  return (
    <>
      {fields.length === 0 && alternatives.length === 0 && (
        <p>
          <code>{typeText(schema)}</code> {schema.description}
        </p>
      )}
      {fields.length > 0 && <FieldList api={api} fields={fields} />}
      {alternatives.map((alternative, position) => (
        <Opening
          key={`${position} ${nameOf(alternative) ?? ''}`}
          label={`${position === 0 ? 'Either' : 'or'} ${titleOf(alternative, api)}`}
          api={api}
          schema={alternative}
        />
      ))}
    </>
  );
}

function FieldList({ api, fields }: { api: OpenApi; fields: readonly Field[] }) {
  return (
    <dl class="schema-fields">
      {fields.map(({ name, schema, required }) => {
        const inner = innerOf(schema, api);
        const description = schema.description ?? resolved(schema, api).description;
        return (
          <div key={name}>
            <dt>
              <code class="field-name">{name}</code>
              {required && <span class="tag">required</span>}
            </dt>
            <dd>
              <code class="field-type">{typeText(schema)}</code>
              {schema.default !== undefined && <small> default {JSON.stringify(schema.default)}</small>}
              {description !== undefined && <p>{description}</p>}
              {inner !== null && <Opening label="Fields" api={api} schema={inner} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** Renders its content when opened: schemas may be recursive. */
function Opening({ label, api, schema }: { label: string; api: OpenApi; schema: Schema }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="opening" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && <SchemaFields api={api} schema={schema} />}
    </details>
  );
}

/** The nested object schema of a value or of the items of a list; `null` if there are no fields. */
function innerOf(schema: Schema, api: OpenApi): Schema | null {
  const whole = resolved(schema, api);
  if (whole.type === 'array' && whole.items !== undefined) return innerOf(whole.items, api);
  if (fieldsOf(whole).length > 0) return whole;
  const objects = alternativesOf(whole).filter((one) => innerOf(one, api) !== null);
  return objects.length > 0 ? { oneOf: objects } : null;
}

function titleOf(schema: Schema, api: OpenApi): string {
  const name = nameOf(schema);
  if (name !== null) return name;
  const constants = fieldsOf(resolved(schema, api)).filter(({ schema: field }) => field.const !== undefined);
  if (constants.length > 0)
    return constants.map(({ name: field, schema: one }) => `${field} = ${typeText(one)}`).join(', ');
  return typeText(schema);
}
