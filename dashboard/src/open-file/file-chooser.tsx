/** A button that opens a file, and the page as a place to drop one. What reads it is loaded when there is a file. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type Opened = ComponentType<{ files: readonly File[]; onClose: () => void }>;

export function FileChooser() {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [isOver, setOver] = useState(false);
  const [opened, setOpened] = useState<{ readonly Opened: Opened } | 'failed' | null>(null);
  const isAsked = files.length > 0;
  useEffect(() => {
    if (!isAsked) return;
    import('./opened-files.tsx').then(
      ({ OpenedFiles }) => setOpened({ Opened: OpenedFiles }),
      () => setOpened('failed'),
    );
  }, [isAsked]);
  useEffect(() => {
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      // Without this the browser would leave the page for the file.
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      setFiles([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return (
    <>
      <p class={isOver ? 'file-chooser is-over' : 'file-chooser'}>
        <label class="button">
          Open a file
          <input
            type="file"
            class="visually-hidden"
            multiple
            onChange={(event) => {
              setFiles([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
        </label>
        <span class="muted">
          {isOver
            ? 'Drop it here'
            : 'or drop one here: rows, batch results, or a file of inspect, promptfoo, TRL or ragas'}
        </span>
      </p>
      {isAsked && opened === 'failed' && (
        <p class="notice notice-bad" role="alert">
          The server is unreachable or has been updated. Reload the dashboard.
        </p>
      )}
      {isAsked && opened !== null && opened !== 'failed' && (
        <opened.Opened files={files} onClose={() => setFiles([])} />
      )}
    </>
  );
}
