/** One request of each kind, and the key that a model judge or a sandbox gives it. */
import { judgmentKey, judgmentPreimage } from '../../../src/judgments/key.ts';
import { type JudgmentRequest, kindOf, templateOf } from '../../../src/judgments/kinds/registry.ts';
import { modelJudgeIdentity } from '../../../src/judgments/model-judge.ts';
import { CITATIONS, OUTCOME, RUBRIC } from './requests.ts';

const REQUESTS: readonly JudgmentRequest[] = [
  RUBRIC,
  CITATIONS,
  OUTCOME,
  {
    kind: 'execution',
    language: 'python',
    program: 'print(42)',
    tests: [{ stdin: '', stdout: '42' }, { assert: 'assert True' }],
    time_limit_s: 3,
    memory_limit_mb: 64,
  },
  { kind: 'equivalence', answer: '\\frac{1}{2}', reference: '0.5' },
  { kind: 'entities', question: 'q', criteria: ['<E0> is old.'], labels: ['E0'], answer: 'The mill is old.' },
  { kind: 'statements', question: 'q', sources: [{ id: 'u', text: 't' }], statements: ['The mill is old.'] },
  { kind: 'comparison', question: 'q', sources: [], criteria: [{ description: 'c' }], first: 'a', second: 'b' },
  { kind: 'grader', messages: [{ role: 'user', parts: [{ text: 'q' }, { data: 'a' }] }], output: { range: [0, 1] } },
  {
    kind: 'rubrics',
    question: 'q',
    sources: [],
    reference: null,
    responses: ['a'],
    existing: [],
    most: { positive: 3, negative: 2 },
  },
  { kind: 'outcome_text', question: 'q', reference: 'r', answer: 'a' },
  { kind: 'entities_text', question: 'q', criteria: ['<E0> is old.'], labels: ['E0'], answer: 'The mill is old.' },
  { kind: 'statements_text', question: 'q', sources: [{ id: 'u', text: 't' }], statements: ['The mill is old.'] },
];

export function keyOfEachKind(): Readonly<Record<string, string>> {
  const pairs = REQUESTS.map((request): [string, string] => {
    const identity =
      kindOf(request.kind).answeredBy === 'sandbox'
        ? { model: 'python-3', template: templateOf(request.kind), sampling: null }
        : modelJudgeIdentity('m', request.kind);
    return [request.kind, judgmentKey(judgmentPreimage(request, identity, 0))];
  });
  return Object.fromEntries(pairs);
}
