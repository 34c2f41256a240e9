/** The rewards of a batch: their mean, their distribution, and the ten lowest with their answers. */
import '../styles/runs.css';
import { Fragment } from 'preact';
import { fileContentPath, openApi } from '../api/call.ts';
import { useLoading } from '../api/use-api.ts';
import { Histogram } from '../charts/histogram.tsx';
import { Fact } from '../display/fact.tsx';
import { columnText, countText, numberText, plural } from '../display/number-text.ts';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { FindingChips } from '../runs/finding-chips.tsx';
import { StoredAnswer } from '../runs/rollout-answer.tsx';
import { unscoredWords } from '../words/unscored.ts';
import {
  type Answers,
  loadAnswers,
  loadResults,
  type OpenFile,
  type ResultFigures,
  type ScoredResult,
} from './result-figures.ts';

/** A file, and what tells it from others. */
export type ResultFile = { readonly of: string; readonly open: OpenFile };

/** A file of the Worker. */
export function workerFile(id: string): ResultFile {
  return { of: id, open: (signal) => openApi(fileContentPath(id), { signal }) };
}

/** @param input the requests, which have the answers; `null` = they are not at hand. */
export function ResultsCard({ output, input }: { output: ResultFile; input: ResultFile | null }) {
  const loading = useLoading((signal) => loadResults(output.open, signal), output.of);
  return (
    <WhenLoaded loading={loading} waiting="Reading the results…">
      {(figures) => <Results input={input} figures={figures} />}
    </WhenLoaded>
  );
}

type ResultsProps = { input: ResultFile | null; figures: ResultFigures };

function Results({ input, figures: { rewards, unscored, worst } }: ResultsProps) {
  // A batch of verifications or comparisons has none.
  if (rewards.length === 0 && unscored.size === 0) return null;
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const inOrder = [...rewards].sort((one, other) => one - other);
  return (
    <>
      <section class="card" aria-label="Rewards">
        <dl class="facts is-alone">
          <Fact name="scored" text={countText(rewards.length)} />
          {rewards.length > 0 && (
            <>
              <Fact name="mean reward" text={numberText(mean)} />
              <Fact name="median" text={numberText(inOrder[Math.floor((rewards.length - 1) / 2)] ?? 0)} />
            </>
          )}
          <div>
            <dt>not scored</dt>
            {unscored.size === 0 && <dd>none</dd>}
            {[...unscored].map(([reason, count]) => (
              <dd key={reason}>
                {plural(count, 'result')}: {unscoredWords(reason)}
              </dd>
            ))}
          </div>
        </dl>
        {rewards.length > 0 && <Histogram before={rewards} text={numberText} />}
      </section>
      {worst.length > 0 && <Worst input={input} worst={worst} />}
    </>
  );
}

const NO_ANSWERS: Answers = new Map();

function Worst({ input, worst }: { input: ResultFile | null; worst: readonly ScoredResult[] }) {
  const { loaded } = useLoading<Answers>(
    async (signal) =>
      input === null ? { ok: true, value: NO_ANSWERS, milliseconds: 0 } : loadAnswers(input.open, worst, signal),
    input?.of ?? '',
  );
  const answers = loaded.state === 'loaded' ? loaded.value : null;
  return (
    <section class="card" aria-label="Lowest rewards">
      <header class="card-head">
        <h2>Lowest rewards</h2>
        <span class="muted" role="status">
          {input === null && 'without answers: results do not hold them'}
          {loaded.state === 'loading' && 'Loading the answers…'}
          {loaded.state === 'failed' && 'the input file was not loaded, so there are no answers'}
        </span>
      </header>
      <div class="scroll-x">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Line</th>
              <th scope="col" class="number">
                Reward
              </th>
              <th scope="col">Findings</th>
            </tr>
          </thead>
          <tbody>
            {worst.map((result) => {
              const { custom_id, member, reward, report } = result;
              const answer = answers?.get(result);
              return (
                <Fragment key={`${custom_id} ${member}`}>
                  <tr>
                    <th scope="row" class="place-id">
                      {custom_id}
                      {member !== null && `, response ${member}`}
                    </th>
                    <td class="number">{columnText(reward)}</td>
                    <td>{'finding_counts' in report && <FindingChips counts={report.finding_counts} />}</td>
                  </tr>
                  {input !== null && answers !== null && (
                    <tr class="answer-row">
                      <td colSpan={3}>
                        {answer === undefined ? (
                          <span class="muted">The answer was not found in the input file.</span>
                        ) : (
                          <div class="reading in-list is-short">
                            <StoredAnswer rollout={answer} />
                          </div>
                        )}
                      </td>
                    </tr>
                  )}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
