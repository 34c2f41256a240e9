/** The prompts of a run whose rubrics evolve. */
import { useId, useState } from 'preact/hooks';
import { sha256 } from '../../../src/digest.ts';
import type { PromptList } from '../../../src/wire/rubrics.ts';
import { type CallFailure, callApi, runPath } from '../api/call.ts';
import { useApi } from '../api/use-api.ts';
import { EmptyState } from '../display/empty-state.tsx';
import { countText } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { Time } from '../display/time.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf } from '../navigation/route.ts';

const PAGE = 50;
const listPath = (run: string): string => `${runPath(run)}/rubrics?limit=${PAGE}`;

export function PromptListView({ run }: { run: string }) {
  const loading = useApi<PromptList>(listPath(run));
  return (
    <>
      <div class="page-head">
        <h1>Evolving rubrics</h1>
        <a href={hrefOf('runs', run)}>{run}</a>
        <span class="muted">The prompts of the run whose criteria change during training.</span>
        <div class="actions">
          <button type="button" onClick={loading.reload}>
            Reload
          </button>
        </div>
      </div>
      <section class="card" aria-label="Prompts">
        <WhenLoaded loading={loading}>
          {(first) => (first.prompts.length === 0 ? <NoPrompts /> : <Prompts run={run} first={first} />)}
        </WhenLoaded>
      </section>
    </>
  );
}

function NoPrompts() {
  return (
    <EmptyState title="No evolving rubric" command={'"evolution": {"rules": "citeward"}'}>
      Groups start the rubric of their prompt. Add this field to the body of a request to <code>/v1/groups</code> that
      names a run:
    </EmptyState>
  );
}

function Prompts({ run, first }: { run: string; first: PromptList }) {
  const [more, setMore] = useState<Pick<PromptList, 'prompts' | 'next'>>({ prompts: [], next: first.next });
  const [failure, setFailure] = useState<CallFailure | null>(null);
  const loadMore = async (): Promise<void> => {
    if (more.next === null) return;
    const reply = await callApi<PromptList>(`${listPath(run)}&after=${more.next}`);
    setFailure(reply.ok ? null : reply.failure);
    if (reply.ok) setMore({ prompts: [...more.prompts, ...reply.value.prompts], next: reply.value.next });
  };
  return (
    <>
      <FindByQuestion run={run} />
      <div class="scroll-x">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Prompt</th>
              <th scope="col">Set</th>
              {['Persistent', 'Active', 'Inactive', 'Groups scored', 'Generations failed', 'Last step'].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
              <th scope="col">Last changed</th>
            </tr>
          </thead>
          <tbody>
            {[...first.prompts, ...more.prompts].map((one) => (
              <tr key={one.prompt}>
                <th scope="row" class="row-name">
                  <a class="list-link" href={hrefOf('runs', run, 'rubrics', one.prompt)} title={one.prompt}>
                    {one.prompt.slice(0, 12)}
                  </a>
                </th>
                <td class="digest">{one.set.slice(0, 8)}</td>
                <td class="number">{countText(one.persistent)}</td>
                <td class="number">{countText(one.active)}</td>
                <td class="number">{countText(one.inactive)}</td>
                <td class="number">{countText(one.visits)}</td>
                <td class="number">
                  {one.failed_generations === 0 ? '0' : <b class="tone is-none">{countText(one.failed_generations)}</b>}
                </td>
                <td class="number">{one.last_step ?? 'none'}</td>
                <td>
                  <Time at={Date.parse(one.changed_at)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {failure !== null && <ProblemNotice failure={failure} />}
      {more.next !== null && (
        <p class="pad">
          <button type="button" onClick={loadMore}>
            Load more
          </button>
        </p>
      )}
    </>
  );
}

/** Opens the prompt of a question. The log has only the digest of the question, so the text itself cannot be listed. */
function FindByQuestion({ run }: { run: string }) {
  const id = useId();
  const [question, setQuestion] = useState('');
  return (
    <form
      class="pad find-prompt"
      onSubmit={(event) => {
        event.preventDefault();
        location.hash = hrefOf('runs', run, 'rubrics', sha256(question));
      }}
    >
      <label for={id}>Question, exactly as in the rows</label>
      <textarea
        id={id}
        required
        rows={2}
        value={question}
        onInput={(event) => setQuestion(event.currentTarget.value)}
      />
      <button type="submit">Find its prompt</button>
    </form>
  );
}
