/** Gives a run a title, which lists show beside its id. */
import { useId, useRef, useState } from 'preact/hooks';
import { MAX_RUN_TITLE_CHARS } from '../../../src/limits.ts';
import type { RunReply } from '../../../src/wire/runs.ts';
import { type CallFailure, callApi, runPath } from '../api/call.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';

type TitleRunProps = { readonly run: string; readonly title: string | undefined; readonly onChange: () => void };

export function TitleRun({ run, title = '', onChange }: TitleRunProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState(title);
  const [failure, setFailure] = useState<CallFailure | null>(null);
  const save = async (): Promise<void> => {
    const body = { title: typed.trim() === '' ? null : typed.trim() };
    const reply = await callApi<RunReply>(runPath(run), { method: 'PATCH', body });
    setFailure(reply.ok ? null : reply.failure);
    if (!reply.ok) return;
    dialog.current?.close();
    onChange();
  };
  const open = (): void => {
    setTyped(title);
    setFailure(null);
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" onClick={open}>
        Title
      </button>
      <dialog ref={dialog} class="settings" aria-labelledby="title-run">
        <form
          onSubmit={async (event) => {
            event.preventDefault();
            await save();
          }}
        >
          <h2 id="title-run">Title of {run}</h2>
          <div class="field">
            <label for={`${id}-title`}>Title</label>
            <input
              id={`${id}-title`}
              type="text"
              maxLength={MAX_RUN_TITLE_CHARS}
              aria-describedby={`${id}-hint`}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
            <small id={`${id}-hint`}>One line; empty removes it</small>
          </div>
          {failure !== null && <ProblemNotice failure={failure} retry={save} />}
          <div class="actions">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button type="submit" class="primary">
              Save
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
