/** A run with all its steps: the API gives them in pages. */
import type { RunDetail } from '../../../src/wire/runs.ts';
import { callApi, type Reply } from '../api/call.ts';

export function pathOfRun(run: string): string {
  return `/v1/runs/${encodeURIComponent(run)}`;
}

/** @throws DOMException (AbortError) once `signal` fires. */
export async function loadRun(run: string, signal: AbortSignal): Promise<Reply<RunDetail>> {
  const first = await callApi<RunDetail>(`${pathOfRun(run)}?limit=1000`, { signal });
  if (!first.ok) return first;
  const steps = [...first.value.steps];
  let next = first.value.next_step;
  while (next !== null) {
    const more = await callApi<RunDetail>(`${pathOfRun(run)}?limit=1000&from_step=${next}`, { signal });
    if (!more.ok) return more;
    steps.push(...more.value.steps);
    next = more.value.next_step;
  }
  return { ...first, value: { ...first.value, steps, next_step: null } };
}
