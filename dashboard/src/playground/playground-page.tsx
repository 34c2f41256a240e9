/** The playground: a rollout, what its citations are worth, and what it would earn. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { callApi } from '../api/call.ts';
import { CopyButton } from '../display/copy-button.tsx';
import { numberText } from '../display/number-text.ts';
import { hrefOf } from '../navigation/route.ts';
import { apiKey } from '../settings/api-key.ts';
import { useWatched } from '../settings/watched-value.ts';
import { AnswerCard } from './answer-card.tsx';
import { claimStates } from './claim-states.ts';
import { CriteriaTable } from './criteria-table.tsx';
import { curlOf, type Draft, EMPTY_DRAFT, scoreRequest } from './draft.ts';
import { Editor } from './editor.tsx';
import { type Example, loadExamples } from './examples.ts';
import { FindingsList } from './findings-list.tsx';
import { handedOver } from './handed-over.ts';
import { DEFAULT_RECIPE, JudgePicker, RecipePicker } from './pickers.tsx';
import { type ReadingOptions, read } from './reading.ts';
import { type Scored, ScorePanel } from './score-panel.tsx';
import { SourcePanel } from './source-panel.tsx';

/** One with something to see: two numbers that its sources do not have. */
const FIRST_EXAMPLE = 'wrong-number';
const OWN = 'own';

export function PlaygroundPage({ example }: { example: string }) {
  const [examples, setExamples] = useState<readonly Example[]>([]);
  useEffect(() => {
    loadExamples().then(setExamples);
  }, []);
  const wanted = example === '' ? FIRST_EXAMPLE : example;
  const picked = examples.find(({ id }) => id === wanted) ?? null;
  const handed = wanted === OWN ? handedOver() : null;
  if (examples.length === 0) return <main class="page" aria-busy="true" />;
  return (
    <main class="page">
      <h1 class="visually-hidden">Playground</h1>
      <Desk
        key={wanted}
        initial={handed?.draft ?? picked?.draft ?? EMPTY_DRAFT}
        example={picked}
        note={handed?.note ?? picked?.note ?? 'Paste a rollout, or type one.'}
        isEmpty={handed === null && picked === null}
        examples={examples}
      />
    </main>
  );
}

type DeskProps = {
  initial: Draft;
  example: Example | null;
  note: string;
  isEmpty: boolean;
  examples: readonly Example[];
};

function Desk({ initial, example, note, isEmpty, examples }: DeskProps) {
  const [draft, setDraft] = useState(initial);
  const [options, setOptions] = useState<ReadingOptions>({ grammar: 'snippet', mode: 'full' });
  const [recipe, setRecipe] = useState(DEFAULT_RECIPE);
  const [judge, setJudge] = useState('');
  const [isEditing, setEditing] = useState(isEmpty);
  const [scored, setScored] = useState<Scored>({ state: 'none' });
  const [active, setActive] = useState<number | null>(null);
  const [pinned, setPinned] = useState<number | null>(null);
  const panel = useRef<HTMLElement>(null);
  const withKey = useWatched(apiKey) !== '';

  const reading = useMemo(() => read(draft, options), [draft, options]);
  const request = useMemo(() => scoreRequest(draft, recipe, judge), [draft, recipe, judge]);
  const requestText = useMemo(() => JSON.stringify(request), [request]);
  const isStale = scored.state === 'scored' && scored.of !== requestText;
  const reply = scored.state === 'scored' && !isStale ? scored.reply : null;
  const judged = reply?.family === 'refiner' ? reply.claims : null;
  const claims = reading.ok ? reading.verification.claims : [];
  const states = useMemo(() => claimStates(claims, judged), [claims, judged]);

  const score = async (): Promise<void> => {
    setScored({ state: 'asking', of: requestText });
    const answer = await callApi<ScoreResponse>('/v1/score', { method: 'POST', body: request });
    setScored(
      answer.ok
        ? { state: 'scored', of: requestText, reply: answer.value, milliseconds: answer.milliseconds }
        : { state: 'failed', of: requestText, failure: answer.failure },
    );
  };
  const follow = (claim: number): void => {
    setActive(claim);
    setPinned(claim);
    panel.current?.focus({ preventScroll: true });
    panel.current?.scrollIntoView({ block: 'nearest' });
  };
  const leave = (): void => {
    // Back to where one came from, so that Tab goes on with the next claim.
    if (pinned !== null) document.getElementById(`claim-${pinned}`)?.focus();
    setActive(null);
    setPinned(null);
  };

  return (
    <>
      <div class="toolbar">
        <label class="field">
          <span>Rollout</span>
          <select
            value={example?.id ?? OWN}
            onChange={(event) => {
              location.hash = hrefOf('playground', event.currentTarget.value);
            }}
          >
            {examples.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
            <option value={OWN}>your own…</option>
          </select>
        </label>
        <RecipePicker value={recipe} onPick={setRecipe} />
        <JudgePicker value={judge} onPick={setJudge} />
        <div class="toolbar-actions">
          <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
            {isEditing ? 'Done editing' : 'Edit'}
          </button>
          <button type="button" class="primary" onClick={score} disabled={scored.state === 'asking'}>
            {scored.state === 'asking' ? 'Judging…' : 'Score'}
          </button>
        </div>
      </div>
      <p class="note">{note}</p>

      {isEditing && (
        <section class="card" aria-label="Editor">
          <Editor draft={draft} options={options} onDraft={setDraft} onOptions={setOptions} />
        </section>
      )}

      {reading.ok ? (
        <div class="split">
          <AnswerCard
            question={draft.question}
            response={draft.response}
            verification={reading.verification}
            states={states}
            active={active}
            onLook={(claim) => {
              if (pinned === null || document.activeElement?.id === `claim-${claim}`) setActive(claim);
            }}
            onFollow={follow}
          />
          <SourcePanel
            panel={panel}
            verification={reading.verification}
            sources={reading.sources}
            states={states}
            active={active !== null && active < claims.length ? active : null}
            onLeave={leave}
          />
        </div>
      ) : (
        <div class="notice notice-bad" role="alert">
          <p class="notice-title">Larger than the API takes</p>
          {reading.problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      )}

      <div class="split">
        <section class="card" aria-label="Reward">
          <header class="card-head">
            <h2>Reward</h2>
            <span class="muted">{recipe}</span>
          </header>
          <ScorePanel scored={scored} isStale={isStale} onScore={score} />
        </section>
        <section class="card" aria-label="Findings">
          <header class="card-head">
            <h2>Findings</h2>
            {reading.ok && (
              <span class="muted">
                read here in {numberText(reading.milliseconds, reading.milliseconds < 10 ? 1 : 0)} ms
              </span>
            )}
          </header>
          {reading.ok && (
            <FindingsList verification={reading.verification} response={draft.response} onFollow={follow} />
          )}
        </section>
      </div>

      {reply !== null && 'criteria' in reply && (
        <section class="card" aria-label="Criteria">
          <header class="card-head">
            <h2>Criteria</h2>
          </header>
          <CriteriaTable criteria={reply.criteria} />
        </section>
      )}

      <section class="card" aria-label="Request">
        <details class="request">
          <summary>
            <h2>The request as curl</h2>
          </summary>
          <CurlText text={curlOf(location.origin, request, withKey)} />
        </details>
      </section>
    </>
  );
}

function CurlText({ text }: { text: string }) {
  return (
    <div class="curl">
      <CopyButton text={text} />
      {/* A field: it scrolls, and can be selected, with the keyboard alone. */}
      <textarea class="code" readOnly rows={16} aria-label="The request as curl" value={text} />
    </div>
  );
}
