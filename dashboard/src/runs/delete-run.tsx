/** Deletes a run after a confirmation that names what is lost. */
import { useRef, useState } from 'preact/hooks';
import type { RunDeletion } from '../../../src/wire/runs.ts';
import { type CallFailure, callApi, runPath } from '../api/call.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { hrefOf } from '../navigation/route.ts';

/** The Worker deletes a part of a run with each request; a run of a million rollouts takes some hundred. */
const MAX_REQUESTS = 1_000;

export function DeleteRun({ run }: { run: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isDeleting, setDeleting] = useState(false);
  const [left, setLeft] = useState<Left>('nothing');
  const remove = async (): Promise<void> => {
    setDeleting(true);
    const after = await deleted(run);
    setDeleting(false);
    setLeft(after);
    if (after === 'nothing') location.hash = hrefOf('runs');
  };
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        Delete
      </button>
      <dialog ref={dialog} class="delete-run" aria-labelledby="delete-run">
        <h2 id="delete-run">Delete {run}?</h2>
        <p>
          Its rollouts, reports and stored text are deleted for good. Its judgments are kept, so scoring the same
          answers again needs no judge.
        </p>
        {left === 'a part' && <p role="alert">The run is hidden, but a part of it is left: delete it again.</p>}
        {typeof left === 'object' && <ProblemNotice failure={left} retry={remove} />}
        <div class="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <button type="button" class="primary" onClick={remove} disabled={isDeleting}>
            {isDeleting ? 'Deleting…' : 'Delete the run'}
          </button>
        </div>
      </dialog>
    </>
  );
}

/** What a deletion leaves, or why it failed. */
type Left = 'nothing' | 'a part' | CallFailure;

async function deleted(run: string): Promise<Left> {
  for (let request = 0; request < MAX_REQUESTS; request++) {
    const reply = await callApi<RunDeletion>(runPath(run), { method: 'DELETE' });
    if (!reply.ok) return reply.failure;
    if (reply.value.complete) return 'nothing';
  }
  return 'a part';
}
