/** Failed lines by reason; the selected ones can be sent again as a new batch. */
import { useState } from 'preact/hooks';
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import { useLoading } from '../api/use-api.ts';
import { countText, plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf } from '../navigation/route.ts';
import { type FailedLines, loadFailedLines, type Redriven, redriveLines } from './failed-lines.ts';

export function FailedLinesCard({ batch, errorFile }: { batch: BatchReply; errorFile: string }) {
  const loading = useLoading((signal) => loadFailedLines(errorFile, signal), errorFile);
  return (
    <section class="card" aria-label="Errors by reason">
      <header class="card-head">
        <h2>Errors by reason</h2>
      </header>
      <WhenLoaded loading={loading} waiting="Reading the error file…">
        {(failed) => <Reasons batch={batch} failed={failed} />}
      </WhenLoaded>
    </section>
  );
}

function Reasons({ batch, failed: { reasons, codes } }: { batch: BatchReply; failed: FailedLines }) {
  const retryable = reasons.filter(({ canSucceedUnchanged }) => canSucceedUnchanged).map(({ code }) => code);
  const [included, setIncluded] = useState<ReadonlySet<string>>(new Set(retryable));
  const [state, setState] = useState<Redriven | 'none' | 'sending'>('none');
  const chosen = [...codes].flatMap(([id, code]) => (included.has(code) ? [id] : []));
  const redrive = async (): Promise<void> => {
    setState('sending');
    setState(await redriveLines(batch, new Set(chosen)));
  };
  const toggle = (code: string): void => {
    const next = new Set(included);
    if (!next.delete(code)) next.add(code);
    setIncluded(next);
  };
  return (
    <>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">Retry</th>
              <th scope="col">Reason</th>
              <th scope="col" class="number">
                Lines
              </th>
              <th scope="col">The same lines again</th>
              <th scope="col">Example</th>
            </tr>
          </thead>
          <tbody>
            {reasons.map(({ code, count, canSucceedUnchanged, example }) => (
              <tr key={code}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Retry lines with ${code}`}
                    checked={included.has(code)}
                    onChange={() => toggle(code)}
                  />
                </td>
                <th scope="row">
                  <code>{code}</code>
                </th>
                <td class="number">{countText(count)}</td>
                <td>{canSucceedUnchanged ? 'can succeed' : 'fail again: correct the lines or the settings first'}</td>
                <td class="example">
                  <code>{example.custom_id}</code> {example.message}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="pad redrive">
        <button
          type="button"
          class="primary"
          onClick={redrive}
          disabled={chosen.length === 0 || state === 'sending' || (state !== 'none' && state.ok)}
        >
          {state === 'sending' ? 'Sending…' : `New batch of ${plural(chosen.length, 'line')}`}
        </button>
        <p aria-live="polite">{state === 'none' || state === 'sending' ? '' : <Outcome redriven={state} />}</p>
      </div>
      {typeof state === 'object' && !state.ok && 'failure' in state && <ProblemNotice failure={state.failure} />}
    </>
  );
}

function Outcome({ redriven }: { redriven: Redriven }) {
  if (redriven.ok) {
    return (
      <>
        {plural(redriven.lines, 'line')} sent as <a href={hrefOf('batches', redriven.batch.id)}>a new batch</a>.
      </>
    );
  }
  if ('failure' in redriven) return <>The batch was not created.</>;
  return redriven.reason === 'nothing' ? (
    <>The input file contains none of these lines.</>
  ) : (
    <>
      The selected lines exceed 64 MB. Submit them from a file:{' '}
      <code>npx citeward batch submit FILE.jsonl --url {location.origin}</code>
    </>
  );
}
