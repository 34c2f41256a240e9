/** Reads pasted or opened rows as the prompts of a probe. */

import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { isJsonObject, type JsonObject, parsedJson } from '../../../src/json.ts';
import type { Result } from '../../../src/result.ts';
import { probeRowSchema } from '../../../src/wire/probe.ts';
import { PromptCollector, type PromptRow, promptFields } from '../../../src/wire/probe-prompts.ts';

/** More prompts say little more, and each is judged. */
export const MAX_PROMPTS = 64;
const MAX_PROBLEMS_SHOWN = 5;

/** Labels of rows, which are not sent; `id` is shown in replies. */
const LABELS: ReadonlySet<string> = new Set(['note', 'training_row']);

/** Reads JSON lines. An error is a list of problems. */
export function readRows(text: string): Result<readonly PromptRow[], readonly string[]> {
  const collector = new PromptCollector(MAX_PROMPTS);
  const problems: string[] = [];
  for (const [n, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const fields = fieldsOf(line);
    if (fields === null) problems.push(`line ${n + 1}: expected one JSON object a line`);
    else {
      const prompt = promptFields(Object.fromEntries(Object.entries(fields).filter(([name]) => !LABELS.has(name))));
      const read = probeRowSchema.safeParse(prompt);
      if (read.success) collector.add(n + 1, read.data);
      else {
        for (const { path, message } of problemsOfIssues(read.error.issues, prompt)) {
          problems.push(`line ${n + 1}: ${pathText(path)}: ${message}`);
        }
      }
    }
    if (problems.length >= MAX_PROBLEMS_SHOWN) break;
  }
  if (problems.length > 0) return { ok: false, error: problems.slice(0, MAX_PROBLEMS_SHOWN) };
  const { prompts } = collector;
  return prompts.length === 0 ? { ok: false, error: ['there are no rows'] } : { ok: true, value: prompts };
}

function fieldsOf(line: string): JsonObject | null {
  const value = parsedJson(line);
  return isJsonObject(value) ? value : null;
}
