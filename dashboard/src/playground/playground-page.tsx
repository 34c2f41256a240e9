/** The playground: verifies the citations of a rollout and scores it. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { isLexicalJudge } from '../../../src/lexical/support-model.ts';
import type { Readiness } from '../../../src/wire/health.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { callApi } from '../api/call.ts';
import { useApi } from '../api/use-api.ts';
import { CurlText } from '../display/curl-text.tsx';
import { numberText } from '../display/number-text.ts';
import { hrefOf } from '../navigation/route.ts';
import { FileChooser } from '../open-file/file-chooser.tsx';
import { DEFAULT_RECIPE, JudgePicker, RecipePicker } from '../recipe/pickers.tsx';
import { apiKey } from '../settings/api-key.ts';
import { useObservable } from '../settings/observable.ts';
import { AnswerCard } from './answer-card.tsx';
import { claimStatuses } from './claim-status.ts';
import { CriteriaTable } from './criteria-table.tsx';
import {
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  openedDraft,
  type ParseOptions,
  scoreRequest,
  verifyDraft,
} from './draft.ts';
import { Editor } from './editor.tsx';
import { FindingsList } from './findings-list.tsx';
import { type Scored, ScorePanel } from './score-panel.tsx';
import { SourcePanel } from './source-panel.tsx';
import { useClaimFocus } from './use-claim-focus.ts';
import { VerifiedLine } from './verified-line.tsx';

/**
 * An example with findings: two numbers that its sources do not contain. The built-in judge judges all rows of this
 * question rightly, and the claim and the reward change with the number.
 */
const FIRST_EXAMPLE = 'baikal-wrong-numbers';
const OWN = 'own';

export function PlaygroundPage({ example }: { example: string }) {
  const [examples, setExamples] = useState<readonly Example[]>([]);
  useEffect(() => {
    loadExamples().then(setExamples);
  }, []);
  const wanted = example === '' ? FIRST_EXAMPLE : example;
  const picked = examples.find(({ id }) => id === wanted) ?? null;
  const opened = wanted === OWN ? openedDraft() : null;
  const readiness = useApi<Readiness>('/readyz').loaded;
  if (examples.length === 0) return <main class="page" aria-busy="true" />;
  return (
    <main class="page">
      <h1 class="visually-hidden">Playground</h1>
      <p class="muted">
        Citeward checks the citations of an answer against its sources, and scores it. This is an example: edit it,
        choose another, or open a file of yours, here or with <code>npx citeward view FILE</code>.
      </p>
      <FileChooser />
      <Desk
        key={wanted}
        initial={opened?.draft ?? picked?.draft ?? EMPTY_DRAFT}
        example={picked}
        note={opened?.note ?? picked?.note ?? 'Paste or type a rollout.'}
        isEmpty={opened === null && picked === null}
        isScored={picked !== null && readiness.state === 'loaded' && judgesByWords(readiness.value)}
        examples={examples}
      />
    </main>
  );
}

/** Whether the judge of requests that name none is the built-in one, which costs nothing. */
function judgesByWords({ default_judge, judges }: Readiness): boolean {
  return judges.some(({ name, model }) => name === default_judge && isLexicalJudge(model));
}

type DeskProps = {
  initial: Draft;
  example: Example | null;
  note: string;
  isEmpty: boolean;
  /** Whether the example is shown with its score. */
  isScored: boolean;
  examples: readonly Example[];
};

function Desk({ initial, example, note, isEmpty, isScored, examples }: DeskProps) {
  const [draft, setDraft] = useState(initial);
  const [options, setOptions] = useState<ParseOptions>({ grammar: 'snippet', mode: 'full', citations: 'allowed' });
  const [recipe, setRecipe] = useState(DEFAULT_RECIPE);
  const [judge, setJudge] = useState('');
  const [isEditing, setEditing] = useState(isEmpty);
  const [scored, setScored] = useState<Scored>({ state: 'none' });
  const withKey = useObservable(apiKey) !== '';

  const verified = useMemo(() => verifyDraft(draft, options), [draft, options]);
  const request = useMemo(() => scoreRequest(draft, options, recipe, judge), [draft, options, recipe, judge]);
  const requestText = useMemo(() => JSON.stringify(request), [request]);
  const isStale = scored.state === 'scored' && scored.of !== requestText;
  const reply = scored.state === 'scored' && !isStale ? scored.reply : null;
  const judged = reply !== null && 'claims' in reply ? reply.claims : null;
  const claims = verified.ok ? verified.verification.claims : [];
  const states = useMemo(() => claimStatuses(claims, judged), [claims, judged]);

  /** @param isAsked whether a person asked for it, who then learns why it failed. */
  const score = async (isAsked: boolean): Promise<void> => {
    setScored({ state: 'asking', of: requestText });
    const answer = await callApi<ScoreResponse>('/v1/score', { method: 'POST', body: request });
    if (answer.ok) {
      setScored({ state: 'scored', of: requestText, reply: answer.value, milliseconds: answer.milliseconds });
      return;
    }
    setScored(isAsked ? { state: 'failed', of: requestText, failure: answer.failure } : { state: 'none' });
  };
  useEffect(() => {
    if (isScored) void score(false);
  }, [isScored]);
  const { active, panel, look, follow, leave } = useClaimFocus(claims.length);

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
          <button type="button" class="primary" onClick={() => score(true)} disabled={scored.state === 'asking'}>
            {scored.state === 'asking' ? 'Judging…' : 'Score'}
          </button>
        </div>
      </div>
      <p class="note">{note}</p>

      <div class={isEditing ? 'editing' : 'not-editing'}>
        {isEditing && (
          <div class="editing-side">
            <VerifiedLine verified={verified} statuses={states} />
            <section class="card" aria-label="Editor">
              <Editor draft={draft} options={options} onDraft={setDraft} onOptions={setOptions} />
            </section>
          </div>
        )}
        <div class="editing-result">
          {verified.ok ? (
            <div class="split">
              <AnswerCard
                question={draft.question}
                response={draft.response}
                verification={verified.verification}
                states={states}
                active={active}
                onLook={look}
                onFollow={follow}
              />
              <SourcePanel
                panel={panel}
                verification={verified.verification}
                sources={verified.sources}
                states={states}
                active={active}
                onLeave={leave}
              />
            </div>
          ) : (
            <div class="notice notice-bad" role="alert">
              <p class="notice-title">Larger than the API accepts</p>
              {verified.problems.map((problem) => (
                <p key={problem}>{problem}</p>
              ))}
            </div>
          )}

          <div class="split">
            <section class="card" aria-label="Reward">
              <header class="card-head">
                <h2>Reward</h2>
                <a href={hrefOf('probe', recipe)}>Probe {recipe}</a>
              </header>
              <ScorePanel scored={scored} isStale={isStale} onScore={() => score(true)} />
            </section>
            <section class="card" aria-label="Findings">
              <header class="card-head">
                <h2>Findings</h2>
                {verified.ok && (
                  <span class="muted">
                    verified in this browser in {numberText(verified.milliseconds, verified.milliseconds < 10 ? 1 : 0)}{' '}
                    ms
                  </span>
                )}
              </header>
              {verified.ok && (
                <FindingsList verification={verified.verification} response={draft.response} onFollow={follow} />
              )}
            </section>
          </div>
        </div>
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
          <CurlText
            label="The request as curl"
            request={{
              ...{ method: 'POST', url: `${location.origin}/v1/score`, withKey, isSigned: false },
              body: { kind: 'text', type: 'application/json', text: JSON.stringify(request, null, 2) },
            }}
          />
        </details>
      </section>
    </>
  );
}

type Example = { readonly id: string; readonly note: string; readonly draft: Draft };

/** The rollouts of examples/, bundled as a file of their own: they need no server. */
async function loadExamples(): Promise<readonly Example[]> {
  const [{ default: answers }, { default: rollouts }] = await Promise.all([
    import('../../../examples/baikal.jsonl?raw'),
    import('../../../examples/rollouts.jsonl?raw'),
  ]);
  return `${answers}${rollouts}`.split('\n').flatMap((line): Example[] => {
    if (line === '') return [];
    const row: { readonly id: string; readonly note: string } = JSON.parse(line);
    const draft = draftOf(row);
    return draft === null ? [] : [{ id: row.id, note: row.note, draft }];
  });
}
