/** One prompt of a run: its criteria with their edits, its timeline, and its log. */

import { useMemo } from 'preact/hooks';
import type { EvolutionRules } from '../../../src/rubrics/evolution-rules.ts';
import { pathSegment } from '../../../src/text/path-segment.ts';
import type { PromptRubricsReply } from '../../../src/wire/rubrics.ts';
import type { RunRollout } from '../../../src/wire/runs.ts';
import { runPath } from '../api/call.ts';
import { useApi } from '../api/use-api.ts';
import { Fact } from '../display/fact.tsx';
import { countText, numberText, plural } from '../display/number-text.ts';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf } from '../navigation/route.ts';
import { CriteriaCard } from './criteria-card.tsx';
import { LogCard } from './log-card.tsx';
import { type LoggedEvent, shownCriteria, type Visit, visitsOf } from './prompt-history.ts';
import { TimelineCard } from './timeline-card.tsx';

const NO_EVENTS: readonly LoggedEvent[] = [];

export function PromptView({ run, prompt }: { run: string; prompt: string }) {
  const loading = useApi<PromptRubricsReply>(`${runPath(run)}/rubrics/${pathSegment(prompt)}`);
  return (
    <>
      <div class="page-head">
        <h1>Prompt {prompt.slice(0, 12)}</h1>
        <a href={hrefOf('runs', run)}>{run}</a>
        <a href={hrefOf('runs', run, 'rubrics')}>All prompts</a>
        <div class="actions">
          <button type="button" onClick={loading.reload}>
            Reload
          </button>
        </div>
      </div>
      <WhenLoaded loading={loading} waiting="Loading the log…">
        {(rubrics) => <Prompt rubrics={rubrics} reload={loading.reload} />}
      </WhenLoaded>
    </>
  );
}

function Prompt({ rubrics, reload }: { rubrics: PromptRubricsReply; reload: () => void }) {
  const { run, rules, set, events = NO_EVENTS } = rubrics;
  const criteria = useMemo(() => shownCriteria(rubrics), [rubrics]);
  const visits = useMemo(() => visitsOf(events, criteria), [events, criteria]);
  const failed = events.filter(({ superseded, entry }) => !superseded && entry.event === 'generation_failed').length;
  const last = visits.at(-1);
  return (
    <>
      <section class="card" aria-label="Prompt">
        {last !== undefined && <Question run={run} visit={last} />}
        <dl class="facts is-alone">
          <Fact
            name="set of the next group"
            text={`${set.id.slice(0, 8)}, ${plural(set.entries.length, 'criterion', 'criteria')}`}
          />
          <Fact name="groups scored" text={countText(visits.length)} />
          <Fact name="generations failed" text={countText(failed)} />
          {ruleTexts(rules).map(([name, text]) => (
            <Fact key={name} name={name} text={text} />
          ))}
        </dl>
      </section>
      <CriteriaCard rubrics={rubrics} criteria={criteria} visits={visits} reload={reload} />
      <TimelineCard run={run} criteria={criteria} visits={visits} />
      <LogCard events={events} criteria={criteria} />
    </>
  );
}

/** The text of the prompt, where the run keeps text: the log has its digest only. */
function Question({ run, visit: { step, group } }: { run: string; visit: Visit }) {
  const query = new URLSearchParams({ step: String(step), group, limit: '1', detail: 'summary' });
  const { loaded } = useApi<{ readonly rollouts: readonly RunRollout[] }>(`${runPath(run)}/rollouts?${query}`);
  if (loaded.state !== 'loaded') return null;
  const question = loaded.value.rollouts[0]?.summary?.question ?? null;
  return question === null ? null : <p class="pad prompt-question">{question}</p>;
}

function ruleTexts({ when, cap, retire, persistent }: EvolutionRules): readonly (readonly [string, string])[] {
  return [
    ['new criteria score', when === 'same_step' ? 'the group that they were made from' : 'the next group'],
    [
      'cap',
      cap.rule === 'none'
        ? 'none'
        : `${cap.most} active, ${cap.rule === 'fifo' ? 'the oldest go' : 'those that differ most stay'}`,
    ],
    ['retired', retiredText(retire)],
    ["row's own", persistent === 'row' ? 'always count' : `restored each ${persistent.every} steps`],
  ];
}

function retiredText(retire: EvolutionRules['retire']): string {
  switch (retire.rule) {
    case 'never':
      return 'never';
    case 'zero_std':
      return 'when all scores of a group are equal';
    case 'below':
      return `when the std is below ${numberText(retire.std)} in ${plural(retire.visits, 'group')}`;
  }
}
