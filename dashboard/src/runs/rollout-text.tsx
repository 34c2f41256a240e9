/** The stored text of a rollout: the answer with its marked claims, the sources, the findings. */
import { useMemo } from 'preact/hooks';
import { grammarOf } from '../../../src/wire/rows/citations-only.ts';
import { SaveFigure } from '../figure/save-figure.tsx';
import { hrefOf } from '../navigation/route.ts';
import { AnswerCard } from '../playground/answer-card.tsx';
import { claimStatuses } from '../playground/claim-status.ts';
import { type Draft, draftOf, openDraft, verifyDraft } from '../playground/draft.ts';
import { FindingsList } from '../playground/findings-list.tsx';
import { SourcePanel } from '../playground/source-panel.tsx';
import { useClaimFocus } from '../playground/use-claim-focus.ts';
import type { DetailedRollout } from './load-rollout.ts';

export function RolloutText({ rollout }: { rollout: DetailedRollout }) {
  const stored = rollout.detail?.rollout ?? null;
  const draft = useMemo(() => draftOf(stored), [stored]);
  if (stored === null) {
    return (
      <p class="note">
        The text of this rollout is not stored. To store it, record the run with <code>"store_text": true</code>.
      </p>
    );
  }
  if (draft === null) return <StoredFields fields={stored} />;
  return <Reading rollout={rollout} draft={draft} />;
}

function Reading({ rollout, draft }: { rollout: DetailedRollout; draft: Draft }) {
  const { verified, states } = useMemo(() => verifiedRollout(rollout, draft), [rollout, draft]);
  const claims = verified.ok ? verified.verification.claims : [];
  const { active, panel, look, follow, leave } = useClaimFocus(claims.length);
  if (!verified.ok) return <StoredFields fields={rollout.detail?.rollout ?? {}} />;
  const { group, sample, run, step } = rollout;
  const edit = (): void => {
    openDraft(rollout.detail?.rollout, `${run}, step ${step ?? 'none'}, ${group}, sample ${sample}`);
    location.hash = hrefOf('playground', 'own');
  };
  return (
    <>
      <div class="split">
        <AnswerCard
          question={draft.question}
          response={draft.response}
          verification={verified.verification}
          states={states}
          active={active}
          onLook={look}
          onFollow={follow}
        >
          <SaveFigure
            name={[run, step ?? 'none', group, sample].join('-').replaceAll(/[^\w.-]+/g, '_')}
            answer={{
              title: `Sample ${sample} of ${group}, step ${step ?? 'none'} of ${run}`,
              question: draft.question,
              response: draft.response,
              verification: verified.verification,
              states,
              judges: [...new Set(rollout.detail?.report?.judgments.flatMap(({ model }) => model ?? []))],
            }}
          />
        </AnswerCard>
        <SourcePanel
          panel={panel}
          verification={verified.verification}
          sources={verified.sources}
          states={states}
          active={active}
          onLeave={leave}
        />
      </div>
      <section class="card" aria-label="Findings">
        <header class="card-head">
          <h2>Findings</h2>
          <button type="button" onClick={edit}>
            Edit a copy in the playground
          </button>
        </header>
        <FindingsList verification={verified.verification} response={draft.response} onFollow={follow} />
      </section>
    </>
  );
}

/** The verification of a stored answer, with the status of each claim by the recorded verdicts. */
export function verifiedRollout({ detail }: Pick<DetailedRollout, 'detail'>, draft: Draft) {
  const report = detail?.report ?? null;
  const judged = report !== null && 'claims' in report ? report.claims : null;
  const verified = verifyDraft(draft, { grammar: grammarOf(draft.response), mode: 'full', citations: 'allowed' });
  return { verified, states: claimStatuses(verified.ok ? verified.verification.claims : [], judged) };
}

/** A rollout without a `response`, such as a list of messages, is shown as it was sent. */
function StoredFields({ fields }: { fields: Readonly<Record<string, unknown>> }) {
  return (
    <section class="card" aria-label="Stored rollout">
      <header class="card-head">
        <h2>Stored rollout</h2>
        <span class="muted">as sent</span>
      </header>
      <dl class="stored-fields">
        {Object.entries(fields).map(([name, value]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
