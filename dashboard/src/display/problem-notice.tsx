/**
 * Shows a failed call: title and detail, the machine-readable reason, invalid fields, missing judgments, and a retry.
 */
import type { CallFailure } from '../api/call.ts';
import { openSettings } from '../settings/settings-dialog.tsx';

/** Reasons that entering an API key fixes. */
const KEY_REASONS: ReadonlySet<string> = new Set(['key_missing', 'key_unknown', 'scope_missing']);

export function ProblemNotice({ failure, retry }: { failure: CallFailure; retry?: () => void }) {
  const { title, detail } = wordsOf(failure);
  const problem = failure.kind === 'problem' ? failure.problem : null;
  const needsKey = problem !== null && KEY_REASONS.has(problem.reason);
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
            {problem.retryable ? ' · retryable' : ''} · request <code>{problem.request_id}</code>
          </span>
        )}
        {needsKey && (
          <button type="button" onClick={openSettings}>
            Enter an API key
          </button>
        )}
        {retry !== undefined && !needsKey && (
          <button type="button" onClick={retry}>
            Retry
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
        detail: 'There is no network connection, or the server has stopped.',
      };
    case 'unreadable':
      return {
        title: 'Unexpected reply',
        detail: `The reply (HTTP ${failure.status}) does not come from this API; a proxy may have answered instead.`,
      };
  }
}
