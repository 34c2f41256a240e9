/** Shown when a list is empty: why it is empty, and the command that fills it. */
import type { ComponentChildren } from 'preact';

type EmptyStateProps = { title: string; children: ComponentChildren; command?: string };

export function EmptyState({ title, children, command }: EmptyStateProps) {
  return (
    <div class="empty">
      <svg class="empty-mark" viewBox="0 0 48 48" aria-hidden="true">
        <path d="M8 38h32M12 38V26h6v12M21 38V16h6v22M30 38V8h6v30" />
      </svg>
      <h2>{title}</h2>
      <div class="empty-text">{children}</div>
      {command !== undefined && (
        <pre>
          <code>{command}</code>
        </pre>
      )}
    </div>
  );
}
