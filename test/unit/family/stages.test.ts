import { describe, expect, it } from 'vitest';
import { ask, done, MAX_STAGES, runPlans, type Stage, together } from '../../../src/family/stages.ts';
import type { JudgmentOutcome } from '../../../src/judgments/judgment.ts';
import type { WantedJudgment } from '../../../src/judgments/obtain.ts';

type Got = { readonly question: string; readonly outcome: JudgmentOutcome };

function wanted(question: string): WantedJudgment {
  return { request: { kind: 'outcome', question, reference: 'r', answer: 'a' }, cited: new Set() };
}

const FAILED: JudgmentOutcome = { ok: false, failure: { reason: 'judge_timeout', detail: '', retryable: true } };

function rightOrWrong(correct: boolean): JudgmentOutcome {
  return {
    ok: true,
    cached: false,
    latency_ms: 1,
    judgment: {
      v: 2,
      key: 'k',
      preimage: {
        v: 1,
        kind: 'outcome',
        judge: { model: 'm', template: 't', sampling: null },
        parser: 'none',
        replicate: 0,
        inputs: {},
      },
      verdicts: { kind: 'outcome', correct },
      usage: null,
      judged_at: '2026-01-01T00:00:00.000Z',
      issuer: null,
    },
  };
}

/** A judge that answers by question; each call of `obtain` is one entry of `rounds`. */
function judge(answers: Readonly<Record<string, JudgmentOutcome>>) {
  const rounds: string[][] = [];
  const obtain = async (list: readonly WantedJudgment[]): Promise<Got[]> => {
    const questions = list.map(({ request }) => (request.kind === 'outcome' ? request.question : ''));
    rounds.push(questions);
    return questions.map((question) => ({ question, outcome: answers[question] ?? rightOrWrong(true) }));
  };
  return { rounds, obtain };
}

const word = (outcome: JudgmentOutcome | undefined): string =>
  outcome?.ok === true && outcome.judgment.verdicts.kind === 'outcome'
    ? String(outcome.judgment.verdicts.correct)
    : 'failed';

/** Asks one question and, if the answer is yes, a second one. */
function twice(name: string): Stage<string> {
  return ask([wanted(`${name}1`)], ([first]) =>
    word(first) === 'true' ? ask([wanted(`${name}2`)], ([second]) => done(`true ${word(second)}`)) : done(word(first)),
  );
}

describe('a plan', () => {
  it('with nothing to ask is done at once', async () => {
    expect(ask([], () => done('at once'))).toEqual({ status: 'done', value: 'at once' });
    const { rounds, obtain } = judge({});
    expect(await runPlans([done(1)], obtain)).toEqual([{ value: 1, obtained: [] }]);
    expect(rounds).toEqual([]);
  });

  it('asks its second question only where the first answer wants it', async () => {
    const { rounds, obtain } = judge({ b1: rightOrWrong(false), c1: FAILED, a2: FAILED });
    const runs = await runPlans([twice('a'), twice('b'), twice('c'), twice('d')], obtain);
    expect(rounds).toEqual([
      ['a1', 'b1', 'c1', 'd1'],
      ['a2', 'd2'],
    ]);
    expect(runs.map(({ value }) => value)).toEqual(['true failed', 'false', 'failed', 'true true']);
    expect(runs.map(({ obtained }) => obtained.map(({ question }) => question))).toEqual([
      ['a1', 'a2'],
      ['b1'],
      ['c1'],
      ['d1', 'd2'],
    ]);
  });

  it(`has at most ${MAX_STAGES} stages`, async () => {
    const stages = (left: number): Stage<string> =>
      left === 0 ? done('end') : ask([wanted(String(left))], () => stages(left - 1));
    const { rounds, obtain } = judge({});
    expect(await runPlans([stages(MAX_STAGES)], obtain)).toMatchObject([{ value: 'end' }]);
    expect(rounds).toHaveLength(MAX_STAGES);
    await expect(runPlans([stages(MAX_STAGES + 1)], obtain)).rejects.toThrow(RangeError);
  });

  it('gets one outcome for each question, or is refused', async () => {
    await expect(runPlans([twice('a')], async () => [])).rejects.toThrow(RangeError);
    const silent: Stage<string> = { status: 'ask', wanted: [], next: () => done('') };
    await expect(runPlans([silent], judge({}).obtain)).rejects.toThrow(RangeError);
  });
});

describe('two plans together', () => {
  const both = (a: Stage<string>, b: Stage<string>) => together(a, b, (x, y) => done(`${x} | ${y}`));

  it('ask side by side, stage by stage', async () => {
    const { rounds, obtain } = judge({ b1: rightOrWrong(false) });
    expect(await runPlans([both(twice('a'), twice('b'))], obtain)).toMatchObject([{ value: 'true true | false' }]);
    expect(rounds).toEqual([['a1', 'b1'], ['a2']]);
  });

  it('may both be done, or one of them', async () => {
    const { rounds, obtain } = judge({});
    const runs = await runPlans([both(done('x'), done('y')), both(done('x'), twice('b'))], obtain);
    expect(runs.map(({ value }) => value)).toEqual(['x | y', 'x | true true']);
    expect(rounds).toEqual([['b1'], ['b2']]);
  });
});
