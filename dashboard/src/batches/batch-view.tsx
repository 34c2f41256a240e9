/** One batch: progress, failed lines by reason, and retries. */

import { useState } from 'preact/hooks';
import { pathSegment } from '../../../src/text/path-segment.ts';
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import { type CallFailure, callApi, fileContentPath, openApi } from '../api/call.ts';
import { useApi, usePolling } from '../api/use-api.ts';
import { Fact } from '../display/fact.tsx';
import { durationText, numberText, plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { saveBlob } from '../display/save-blob.ts';
import { Time } from '../display/time.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf } from '../navigation/route.ts';
import { BatchProgress, RUNNING, StatusTag } from './batch-progress.tsx';
import { FailedLinesCard } from './failed-lines-card.tsx';
import { ResultsCard, workerFile } from './results-card.tsx';

export function BatchView({ id }: { id: string }) {
  const path = `/v1/batches/${pathSegment(id)}`;
  const loading = useApi<BatchReply>(path);
  const { loaded, reload } = loading;
  const [failure, setFailure] = useState<CallFailure | null>(null);
  const batch = loaded.state === 'loaded' ? loaded.value : null;
  usePolling(batch !== null && RUNNING.has(batch.status), reload, loaded);
  const send = async (action: 'cancel' | 'redrive'): Promise<void> => {
    const reply = await callApi<unknown>(`${path}/${action}`, { method: 'POST' });
    setFailure(reply.ok ? null : reply.failure);
    reload();
  };
  return (
    <>
      <div class="page-head">
        <h1 class="is-id">{id}</h1>
        <a href={hrefOf('batches')}>All batches</a>
        {batch !== null && RUNNING.has(batch.status) && batch.status !== 'cancelling' && (
          <div class="actions">
            <button type="button" onClick={() => send('cancel')}>
              Cancel batch
            </button>
          </div>
        )}
      </div>
      {failure !== null && <ProblemNotice failure={failure} />}
      <WhenLoaded loading={loading} waiting="Loading the batch…">
        {(batch) => (
          <>
            <Summary batch={batch} />
            {batch.output_file_id !== null && (
              <ResultsCard output={workerFile(batch.output_file_id)} input={workerFile(batch.input_file_id)} />
            )}
            {batch.errors !== null && <InputErrors errors={batch.errors.data} />}
            {batch.dead_letters.length > 0 && <DeadLetters batch={batch} onRedrive={() => send('redrive')} />}
            {batch.error_file_id !== null && <FailedLinesCard batch={batch} errorFile={batch.error_file_id} />}
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function Summary({ batch }: { batch: BatchReply }) {
  const { lines_per_second, eta_s } = batch.progress;
  const ended = batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at;
  return (
    <section class="card" aria-label="Progress">
      <header class="card-head">
        <h2>Progress</h2>
        <span aria-live="polite">
          <StatusTag batch={batch} />
        </span>
      </header>
      <div class="pad">
        <BatchProgress batch={batch} />
      </div>
      <dl class="facts">
        <Fact name="endpoint" text={batch.endpoint} />
        {lines_per_second !== null && <Fact name="lines per second" text={numberText(lines_per_second, 1)} />}
        {eta_s !== null && <Fact name="time left" text={durationText(eta_s)} />}
        <div>
          <dt>created</dt>
          <dd>
            <Time at={batch.created_at * 1000} />
          </dd>
        </div>
        {ended !== null && (
          <div>
            <dt>ended</dt>
            <dd>
              <Time at={ended * 1000} />
            </dd>
          </div>
        )}
        {Object.entries(batch.metadata ?? {}).map(([name, value]) => (
          <Fact key={name} name={name} text={value} />
        ))}
      </dl>
      <p class="pad files">
        {batch.output_file_id !== null && <SaveFile id={batch.output_file_id} label="Save output file" />}
        {batch.error_file_id !== null && <SaveFile id={batch.error_file_id} label="Save error file" />}
        <SaveFile id={batch.input_file_id} label="Save input file" />
      </p>
    </section>
  );
}

function InputErrors({ errors }: { errors: NonNullable<BatchReply['errors']>['data'] }) {
  return (
    <div class="notice notice-bad">
      <p class="notice-title">The input file was rejected</p>
      <ul class="field-errors">
        {errors.map(({ code, message, line }) => (
          <li key={`${line} ${code} ${message}`}>
            {line !== null && `line ${line}: `}
            {message} <code>{code}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

function DeadLetters({ batch, onRedrive }: { batch: BatchReply; onRedrive: () => void }) {
  const lines = batch.dead_letters.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <section class="card" aria-label="Dead letters">
      <header class="card-head">
        <h2>Dead letters</h2>
        <button type="button" class="primary" onClick={onRedrive}>
          Retry {plural(lines, 'line')}
        </button>
      </header>
      <p class="muted pad">These lines failed repeatedly because of the service, not because of their content.</p>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">Lines</th>
              <th scope="col">Reason</th>
              <th scope="col" class="number">
                Attempts
              </th>
            </tr>
          </thead>
          <tbody>
            {batch.dead_letters.map(({ chunk, first_line, requests, attempts, reason }) => (
              <tr key={chunk}>
                <td>
                  {plural(requests, 'line')} from line {first_line}
                </td>
                <td>
                  <code>{reason}</code>
                </td>
                <td class="number">{attempts}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Downloads a file of the API with the key in a header, which a plain link cannot send. */
function SaveFile({ id, label }: { id: string; label: string }) {
  const [state, setState] = useState<'idle' | 'loading' | 'failed'>('idle');
  const save = async (): Promise<void> => {
    setState('loading');
    const reply = await openApi(fileContentPath(id));
    if (!reply.ok) return setState('failed');
    saveBlob(`${id}.jsonl`, await new Response(reply.value).blob());
    setState('idle');
  };
  const text = { idle: label, loading: 'Loading…', failed: 'Failed to load - Retry' }[state];
  return (
    <button type="button" onClick={save} disabled={state === 'loading'}>
      <span aria-live="polite">{text}</span>
    </button>
  );
}
