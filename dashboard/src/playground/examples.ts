/** The rollouts of examples/, bundled as a file of their own: they are loaded with the playground, and need no server. */
import { type Draft, draftOf } from './draft.ts';

export type Example = { readonly id: string; readonly note: string; readonly draft: Draft };

export async function loadExamples(): Promise<readonly Example[]> {
  const { default: lines } = await import('../../../examples/rollouts.jsonl?raw');
  return lines.split('\n').flatMap((line): Example[] => {
    if (line === '') return [];
    const row: { readonly id: string; readonly note: string } = JSON.parse(line);
    const draft = draftOf(row);
    return draft === null ? [] : [{ id: row.id, note: row.note, draft }];
  });
}
