/** The example of a route: its fields to fill in, the request as curl, and a button that sends it to this Worker. */

import { useId, useState } from 'preact/hooks';
import { parsedJson } from '../../../src/json.ts';
import { CurlText } from '../display/curl-text.tsx';
import { apiKey } from '../settings/api-key.ts';
import { useObservable } from '../settings/observable.ts';
import { knownIds, learnIds, withKnownIds } from './example-ids.ts';
import type { Route } from './openapi.ts';
import { type ExampleField, exampleFields, exampleReply, isPublic, isSigned, requestOf } from './request-fields.ts';
import { type Sent, sendRequest } from './send-request.ts';

type Sending = { readonly state: 'none' | 'sending' } | { readonly state: 'sent'; readonly reply: Sent | null };

export function RouteExample({ route }: { route: Route }) {
  const [edited, setEdited] = useState<Readonly<Record<string, string>>>({});
  const [sending, setSending] = useState<Sending>({ state: 'none' });
  const ids = useObservable(knownIds);
  const hasKey = useObservable(apiKey) !== '';
  const { operation, method } = route;
  const fields = exampleFields(operation).map((field): ExampleField => {
    const value = edited[field.name] ?? withKnownIds(field.value, ids);
    return { ...field, value };
  });
  const { path, body } = requestOf(route, fields);
  const send = async (): Promise<void> => {
    setSending({ state: 'sending' });
    const reply = await sendRequest(method, path, body);
    setSending({ state: 'sent', reply });
    if (reply !== null && reply.status < 400) learnIds(exampleReply(operation), parsedJson(reply.text));
  };
  const signed = isSigned(operation);
  const request = { method, url: `${location.origin}${path}`, withKey: hasKey && !isPublic(operation), body };
  return (
    <section class="route-example" aria-label={`Example of ${method} ${route.path}`}>
      <h3>Example</h3>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          change={(value) => setEdited((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      <div class="send-row">
        {signed ? (
          <p class="note">
            Signed with the secret of the endpoint, which pages do not have: run the command with the variable
            CITEWARD_WEBHOOK_SECRET.
          </p>
        ) : (
          <button
            type="button"
            class="primary"
            disabled={sending.state === 'sending'}
            aria-label={`Send ${method} ${route.path}`}
            onClick={send}
          >
            Send
          </button>
        )}
        <span role="status">{statusOf(sending)}</span>
      </div>
      {sending.state === 'sent' && sending.reply !== null && (
        <ReplyText label="The reply" text={readable(sending.reply)} isNew={true} />
      )}
      <details class="opening">
        <summary>As curl</summary>
        <CurlText request={{ ...request, isSigned: signed }} label={`${method} ${route.path} as curl`} />
      </details>
    </section>
  );
}

function FieldInput({ field, change }: { field: ExampleField; change: (value: string) => void }) {
  const id = useId();
  const { label, value, isLong } = field;
  const shared = { id, class: 'code', value, spellcheck: false };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? (
        <textarea
          {...shared}
          rows={Math.min(14, value.split('\n').length + 1)}
          onInput={(event) => change(event.currentTarget.value)}
        />
      ) : (
        <input {...shared} autocomplete="off" onInput={(event) => change(event.currentTarget.value)} />
      )}
    </div>
  );
}

/** A text that is scrolled by keyboard. */
export function ReplyText({ label, text, isNew = false }: { label: string; text: string; isNew?: boolean }) {
  return (
    <textarea
      class={isNew ? 'code reply-text is-new' : 'code reply-text'}
      readOnly
      rows={Math.min(18, text.split('\n').length + 1)}
      aria-label={label}
      value={text}
    />
  );
}

function statusOf(sending: Sending): string {
  switch (sending.state) {
    case 'none':
      return '';
    case 'sending':
      return 'Sending…';
    case 'sent': {
      const { reply } = sending;
      if (reply === null) return 'The server cannot be reached.';
      return `Status ${reply.status} in ${Math.round(reply.ms)} ms`;
    }
  }
}

function readable({ type, text }: { readonly type: string; readonly text: string }): string {
  if (!/^application\/(?:problem\+)?json\b/u.test(type)) return text;
  const value = parsedJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
