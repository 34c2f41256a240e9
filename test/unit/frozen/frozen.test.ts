/**
 * Stored data outlives the code: judgment keys, recipe digests, records, prompts, ledger rows and receipts stay byte
 * for byte the same. Only a deliberate change of a format may write frozen.json again (`FREEZE=1 npx vitest run
 * --project unit test/unit/frozen`), and its commit names the change.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { digestJson } from '../../../src/digest.ts';
import { RECIPE_NAMES } from '../../../src/families/composers.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import { createKnownIssuers } from '../../../src/judgments/issuer.ts';
import { readIssuer } from '../../../src/judgments/issuer-keys.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import type { JudgeIdentity } from '../../../src/judgments/judgment.ts';
import type { JudgmentKind } from '../../../src/judgments/kinds/names.ts';
import { type JudgmentRequest, kindOf, templateOf, type Verdicts } from '../../../src/judgments/kinds/registry.ts';
import { judgePrompt, modelJudgeIdentity } from '../../../src/judgments/model-judge.ts';
import { writeRecordLine } from '../../../src/judgments/record-file.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { contentDigests } from '../../../src/runs/content-digest.ts';
import { recordedScore } from '../../../src/runs/recorded-score.ts';
import { writeRunLine } from '../../../src/runs/run-file.ts';
import { scoreGroup } from '../../../src/scoring/score-rollouts.ts';
import { requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';

const FROZEN = resolve(import.meta.dirname, 'frozen.json');
const AT = '2026-01-01T00:00:00.000Z';

/** A key pair of this test alone. */
const ISSUER_JWK =
  '{"crv":"Ed25519","d":"w0JZiuNoS2Rgn1rNiaiK-RYt-8M5LesQRupeaTF9UTc","x":"fyrFdz_IwSyQIMa3_gUFjSDMPZhSuyNPhmIJLEWsCvA","kty":"OKP"}';

const EXAMPLES: readonly Rollout[] = readFileSync(
  resolve(import.meta.dirname, '../../../examples/rollouts.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => {
    const { id: _id, note: _note, recipe: _recipe, ...fields } = JSON.parse(line);
    return requestedRollout(scoreRequestSchema.parse({ ...fields, recipe: 'refiner-rl-balanced' }));
  });

const TRACE: Rollout = {
  question: 'Which river flows through Bern?',
  reference: 'the Aare',
  entities: ['Aare', 'Bern', 'Koblenz', 'Rhine'],
  useful_chunks: [1, 3],
  response: '<think>Chunk 1: it joins the Rhine near Koblenz.</think>The Aare, in Bern.',
  finish_reason: 'stop',
};

const TOOL_CALL: Rollout = {
  response: 'So \\boxed{\\frac{1}{2}}',
  reference: '0.5',
  num_turns: 4,
  response_tokens: 900,
};

const TRANSCRIPT: Rollout = {
  question: 'How long is the Aare?',
  response:
    '<think>a</think><call_tool name="google_search">aare length</call_tool><tool_output><snippet id=S1>The Aare is 288 kilometres long.</snippet></tool_output><answer><cite id="S1">The river Aare is 288 km long.</cite> Many people swim in it each summer.</answer>',
  rubrics: [
    { description: 'States that the Aare is 288 km long', weight: 1 },
    { title: 'Fault', description: 'Names a wrong canton', weight: -1 },
  ],
  finish_reason: 'stop',
};

const CITED: Rollout = {
  question: 'Which river flows through Bern?',
  reference: 'the Aare',
  response: '<think>a</think>The Aare [[0](https://rivers.example/aare)] joins the Rhine near Koblenz.',
  sources: [{ id: 'https://rivers.example/aare', title: 'Aare', text: 'The Aare joins the Rhine near Koblenz.' }],
  entity_rubrics: ['<E0> is a river.', '<E0> joins <E1>.', '<E1> passes <E2>.'],
  finish_reason: 'stop',
};

/** Rollouts that are scored together under each recipe of a family; members share question and sources. */
const GROUPS: Readonly<Record<string, readonly (readonly Rollout[])[]>> = {
  refiner: EXAMPLES.slice(0, 8).map((rollout) => [{ ...rollout, finish_reason: 'stop' }]),
  'long-trace': [
    [TRACE, { ...TRACE, response: '<think>The Rhine.</think>The Rhine.' }, { ...TRACE, finish_reason: 'length' }],
  ],
  'tool-call': [
    [TOOL_CALL],
    [{ ...TOOL_CALL, response: 'no box' }],
    [
      {
        response: '```python\nprint(input())\n```',
        tests: [{ stdin: '1', stdout: '1' }, { assert: 'assert True' }],
        num_turns: 2,
        response_tokens: 10,
      },
    ],
  ],
  'dr-tulu': [[TRANSCRIPT]],
  carr: [[CITED, { ...CITED, response: 'The Rhine.' }, { ...CITED, finish_reason: 'length' }]],
};

const sandboxIdentity = (kind: JudgmentKind): JudgeIdentity => ({
  model: 'python-3',
  template: templateOf(kind),
  sampling: null,
});

type Asked = { readonly request: JudgmentRequest; readonly verdicts: Verdicts };

/**
 * The verdicts on rubrics and citations, by the first digits of the digest of their request: those of
 * `citeward-lexical-3`, so that a later version of the lexical judge changes nothing here.
 */
const VERDICTS: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(resolve(import.meta.dirname, 'verdicts.json'), 'utf8'),
);

function frozenVerdicts(request: JudgmentRequest): Verdicts {
  return kindOf(request.kind).verdictsSchema.parse(VERDICTS[digestJson(request).slice(0, 16)]);
}

function answerTo(request: JudgmentRequest): Verdicts {
  switch (request.kind) {
    case 'execution':
      return { kind: 'execution', tests: request.tests.map((_, n) => (n === 0 ? 'passed' : 'wrong_output')) };
    case 'equivalence':
      return { kind: 'equivalence', equivalent: request.answer.includes('frac') };
    case 'outcome':
      return { kind: 'outcome', correct: request.answer.includes('Aare') };
    case 'outcome_text':
      return { kind: 'outcome_text', correct: request.answer.includes('Aare') };
    case 'entities':
      return {
        kind: 'entities',
        entities: request.labels.map((label, n) => ({
          label,
          span: n === 2 ? null : { start: 4 * n, end: 4 * n + 4 },
        })),
      };
    case 'entities_text':
      return {
        kind: 'entities_text',
        entities: request.labels.map((label, n) => ({ label, name: n === 2 ? null : `name ${n}` })),
      };
    case 'statements_text':
      return { kind: 'statements_text', supported: request.statements.map((_, n) => n === 0) };
    default:
      return frozenVerdicts(request);
  }
}

function judgeCalled(name: string, identityFor: (kind: JudgmentKind) => JudgeIdentity, asked: Asked[]): Judge {
  return {
    name,
    model: identityFor('rubric').model,
    identityFor,
    context_tokens: name === 'model' ? 6_000 : null,
    async judge(request) {
      const verdicts = answerTo(request);
      asked.push({ request, verdicts });
      return { ok: true, verdicts, usage: { prompt_tokens: 10, completion_tokens: 2 } };
    },
  };
}

async function written(): Promise<Record<string, unknown>> {
  const read = await readIssuer(ISSUER_JWK);
  if (!read.ok) throw new Error(read.error);
  const { value: issuer } = read;
  const frozen: Record<string, unknown> = {};
  for (const name of RECIPE_NAMES) {
    const resolution = await resolveRecipe(name);
    if (!resolution.ok) throw new Error(name);
    const recipe = resolution.value;
    frozen[`recipe ${name}`] = { digest: recipe.digest, reward_range: recipe.reward_range };
    for (const [position, rollouts] of (GROUPS[recipe.recipe.family] ?? []).entries()) {
      const asked: Asked[] = [];
      const store = createMemoryJudgmentStore();
      const result = await scoreGroup(
        { rollouts, recipe, plan: { measureAll: true }, receiptIssuer: issuer },
        {
          judge: { ok: true, judge: judgeCalled('model', (kind) => modelJudgeIdentity('frozen-1', kind), asked) },
          sandbox: { ok: true, judge: judgeCalled('sandbox', sandboxIdentity, asked) },
          store,
          signing: { issuer, known: createKnownIssuers([issuer.key]) },
          mode: 'use',
          replicate: 0,
          deadline_ms: 1_000,
          now: () => AT,
          elapsed: () => 0,
        },
      );
      if (result.status !== 'done') {
        frozen[`${name} ${position}`] = result;
        continue;
      }
      const contents = contentDigests(rollouts, { recipe: recipe.digest, judge: undefined, replicate: 0 });
      const prompts = asked.flatMap(({ request }) =>
        request.kind === 'execution' || request.kind === 'equivalence' ? [] : [digestJson(judgePrompt(request))],
      );
      frozen[`${name} ${position}`] = {
        prompts: await Promise.all(prompts),
        members: await Promise.all(
          result.members.map(async (member, sample) => {
            const { stored, statistics, report } = recordedScore(member, false);
            const row = {
              ...{ run: 'r', step: 1, group: 'g', sample: String(sample), attempt: 0, grouping: 'given' as const },
              ...{ content: contents[sample] ?? '', recipe: recipe.digest, recorded_at: AT, ...stored },
              ...{ components: statistics.components, cached: statistics.cached },
            } as const;
            const records = member.obtained.flatMap(({ outcome }) =>
              outcome.ok ? [JSON.parse(writeRecordLine({ kind: 'judgment', judgment: outcome.judgment }))] : [],
            );
            return {
              keys: member.obtained.map(({ key }) => key),
              // Of the values: 9fbe5b6 wrote the members of `preimage.inputs` in the order in which their digests
              // arrived.
              records: digestJson(records),
              row: writeRunLine({ kind: 'rollout', rollout: row }),
              statistics,
              report: digestJson(report),
              reply: digestJson(JSON.stringify(member.reply)),
              receipt: member.reply.receipt,
            };
          }),
        ),
      };
    }
  }
  return frozen;
}

it('writes what was written when the forms were frozen', async () => {
  const now = `${JSON.stringify(await written(), null, 1)}\n`;
  if (process.env['FREEZE'] === '1') writeFileSync(FROZEN, now);
  expect(JSON.parse(now)).toEqual(JSON.parse(readFileSync(FROZEN, 'utf8')));
  expect(now).toBe(readFileSync(FROZEN, 'utf8'));
});
