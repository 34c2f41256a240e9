/** A failed call, said so that its reader knows what to do: the reason for programs, the detail for people, every field. */
import type { CallFailure } from '../api/call.ts';
import { openSettings } from '../settings/settings-dialog.tsx';

/** Reasons that a key of this page would mend. */
const KEY_REASONS: ReadonlySet<string> = new Set(['key_missing', 'key_unknown', 'scope_missing']);

export function ProblemNotice({ failure, retry }: { failure: CallFailure; retry?: () => void }) {
  const { title, detail } = wordsOf(failure);
  const problem = failure.kind === 'problem' ? failure.problem : null;
  const wantsKey = problem !== null && KEY_REASONS.has(problem.reason);
  return (
    <div class="notice notice-bad" role="alert">
      <p class="notice-title">{title}</p>
      <p>{detail}</p>
      {problem?.errors !== undefined && (
        <ul class="field-errors">
          {problem.errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path === '' ? '(the whole body)' : path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {problem?.missing !== undefined && (
        <ul class="field-errors">
          {problem.missing.map(({ kind, key }) => (
            <li key={key}>
              {kind} <code>{key.slice(0, 16)}…</code>
            </li>
          ))}
        </ul>
      )}
      <p class="notice-foot">
        {problem !== null && (
          <span>
            <code>{problem.reason}</code>
            {problem.retryable ? ' · may work later' : ''} · request <code>{problem.request_id}</code>
          </span>
        )}
        {wantsKey && (
          <button type="button" onClick={openSettings}>
            Enter an API key
          </button>
        )}
        {retry !== undefined && !wantsKey && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

function wordsOf(failure: CallFailure): { readonly title: string; readonly detail: string } {
  switch (failure.kind) {
    case 'problem':
      return failure.problem;
    case 'unreachable':
      return {
        title: 'The server cannot be reached',
        detail: 'No connection, or it has been stopped. Nothing was scored.',
      };
    case 'unreadable':
      return {
        title: 'Something else answered',
        detail: `The reply (HTTP ${failure.status}) is not one of this API: a proxy in between, perhaps.`,
      };
  }
}
