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
  const [failure, setFailure] = useState<CallFailure | null>(null);
  const remove = async (): Promise<void> => {
    setDeleting(true);
    const failed = await deleted(run);
    setDeleting(false);
    setFailure(failed);
    if (failed === null) location.hash = hrefOf('runs');
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
        {failure !== null && <ProblemNotice failure={failure} retry={remove} />}
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

/** @returns why a part is left; `null` = all of it is deleted. */
async function deleted(run: string): Promise<CallFailure | null> {
  for (let request = 0; request < MAX_REQUESTS; request++) {
    const reply = await callApi<RunDeletion>(runPath(run), { method: 'DELETE' });
    if (!reply.ok) return reply.failure;
    if (reply.value.complete) return null;
  }
  return { kind: 'unreachable' };
}
