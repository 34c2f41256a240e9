/**
 * The probe page: what a recipe pays for canned cheap answers to rows of training data. Facts of the answers stay in the
 * browser, so that changed fields are replayed without a judge.
 */
import { isJsonObject, parsedJson } from '../../../src/json.ts';
import '../recipe/zod-without-eval.ts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isRecipeName, type Recipe } from '../../../src/families/composers.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { pathText } from '../../../src/input-problem.ts';
import type { PromptRow } from '../../../src/wire/probe-prompts.ts';
import type { CallFailure } from '../api/call.ts';
import { plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { TextField } from '../playground/text-field.tsx';
import { DEFAULT_RECIPE, JudgePicker, RecipePicker } from '../recipe/pickers.tsx';
import '../styles/probe.css';
import type { Result } from '../../../src/result.ts';
import { type Measured, measurePrompts } from './measure.ts';
import { ProbeDesk } from './probe-desk.tsx';
import { MAX_PROMPTS, readRows } from './read-rows.ts';

type State =
  | { readonly state: 'none' }
  | { readonly state: 'refused'; readonly problems: readonly string[] }
  | { readonly state: 'asking'; readonly done: number; readonly of: number }
  | { readonly state: 'failed'; readonly failure: CallFailure; readonly lines: readonly number[] }
  | { readonly state: 'measured'; readonly measured: Measured; readonly recipe: Recipe };

export function ProbePage({ recipe: asked }: { recipe: string }) {
  const [rows, setRows] = useState('');
  const [recipe, setRecipe] = useState<string>(isRecipeName(asked) ? asked : DEFAULT_RECIPE);
  const [fields, setFields] = useState('');
  const [judge, setJudge] = useState('');
  const [state, setState] = useState<State>({ state: 'none' });
  const asking = useRef<AbortController | null>(null);
  useEffect(() => () => asking.current?.abort(), []);

  const probe = async (): Promise<void> => {
    const read = readRows(rows);
    if (!read.ok) return setState({ state: 'refused', problems: read.error });
    const chosen = recipeOf(recipe, fields);
    if (!chosen.ok) return setState({ state: 'refused', problems: [chosen.error] });
    const resolved = await resolveRecipe(chosen.value);
    if (!resolved.ok) {
      const problems = resolved.error.map(({ path, message }) => `${pathText(path)}: ${message}`);
      return setState({ state: 'refused', problems });
    }
    await ask(read.value, chosen.value, resolved.value.recipe);
  };

  const ask = async (
    prompts: readonly PromptRow[],
    input: Readonly<Record<string, unknown>>,
    resolved: Recipe,
  ): Promise<void> => {
    asking.current?.abort();
    const controller = new AbortController();
    asking.current = controller;
    setState({ state: 'asking', done: 0, of: prompts.length });
    try {
      const reply = await measurePrompts(prompts, input, judge, {
        signal: controller.signal,
        onDone: (done) => setState({ state: 'asking', done, of: prompts.length }),
      });
      setState(
        reply.ok
          ? { state: 'measured', measured: reply.value, recipe: resolved }
          : { state: 'failed', failure: reply.failure, lines: reply.lines },
      );
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
    }
  };

  const isAsking = state.state === 'asking';
  return (
    <main class="page probe-page">
      <div class="page-head">
        <h1>Probe</h1>
        <span class="muted">What a recipe pays for answers that cost a policy nothing.</span>
      </div>
      <section class="card pad probe-input" aria-label="Rows and recipe">
        <TextField
          label="Rows"
          hint="JSON lines of training data: question, sources and criteria; responses if you have samples."
          rows={8}
          code
          value={rows}
          onText={setRows}
        />
        <div class="actions probe-rows">
          <button type="button" class="quiet" onClick={async () => setRows(await exampleRows())}>
            Use the example rows
          </button>
          <label class="button">
            Open a file
            <input
              type="file"
              class="visually-hidden"
              accept=".jsonl,.json"
              onChange={async (event) => {
                const [file] = event.currentTarget.files ?? [];
                if (file !== undefined) setRows(await file.text());
              }}
            />
          </label>
        </div>
        <div class="toolbar">
          <RecipePicker value={recipe} onPick={setRecipe} />
          <label class="field probe-fields">
            <span>Other fields, as JSON</span>
            <input
              class="code"
              value={fields}
              placeholder={'{"citations": "required"}'}
              onInput={(event) => setFields(event.currentTarget.value)}
            />
          </label>
          <JudgePicker value={judge} onPick={setJudge} />
          <div class="toolbar-actions">
            {isAsking && (
              <button
                type="button"
                onClick={() => {
                  asking.current?.abort();
                  setState({ state: 'none' });
                }}
              >
                Stop
              </button>
            )}
            <button type="button" class="primary" onClick={probe} disabled={isAsking}>
              {isAsking ? `Judging ${state.done} of ${state.of}…` : 'Probe'}
            </button>
          </div>
        </div>
        <p class="muted">
          Each of the first {MAX_PROMPTS} prompts gets up to 18 canned answers, which the judge reads like any other
          answer.
        </p>
      </section>
      <ProbeResult state={state} retry={probe} />
    </main>
  );
}

function ProbeResult({ state, retry }: { state: State; retry: () => void }) {
  switch (state.state) {
    case 'none':
    case 'asking':
      return null;
    case 'refused':
      return (
        <div class="notice notice-bad" role="alert">
          <p class="notice-title">The rows cannot be probed</p>
          <ul>
            {state.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </div>
      );
    case 'failed':
      return (
        <>
          <ProblemNotice failure={state.failure} retry={retry} />
          <p class="note">
            In this request <code>rows[0]</code> is line {state.lines[0]} of {plural(state.lines.length, 'row')}.
          </p>
        </>
      );
    case 'measured':
      return <ProbeDesk measured={state.measured} recipe={state.recipe} />;
  }
}

type ChosenRecipe = Result<Readonly<Record<string, unknown>>, string>;

function recipeOf(base: string, fields: string): ChosenRecipe {
  if (fields.trim() === '') return { ok: true, value: { base } };
  const value = parsedJson(fields);
  if (isJsonObject(value)) return { ok: true, value: { base, ...value } };
  return { ok: false, error: 'other fields: expected a JSON object, such as {"citations": "required"}' };
}

async function exampleRows(): Promise<string> {
  return (await import('../../../examples/rollouts.jsonl?raw')).default.trim();
}
