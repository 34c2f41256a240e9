/** The requests that the pages of the trainers show give the answers that they show. */
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';
import { scoreAlone } from '../scoring/scoring-line.ts';

const directory = resolve(import.meta.dirname, '../../../docs/trainers');

/** The request file that a page creates and the JSON block after it; null if the page creates none. */
function blocksOf(page: string): unknown[] {
  const text = readFileSync(resolve(directory, page), 'utf8');
  const [, afterFile = ''] = text.split("cat > request.json <<'JSON'\n");
  const blocks = [afterFile.split('\nJSON\n')[0], afterFile.split('```json\n')[1]?.split('\n```')[0]];
  return blocks.map((block) => JSON.parse(block || 'null'));
}

/** Pages that create a request of `POST /v1/score` and show its answer. */
const SCORED = readdirSync(directory).filter((page) => scoreRequestSchema.safeParse(blocksOf(page)[0]).success);

describe('the pages of the trainers', () => {
  it('include the pages about the Python client', () => {
    expect(SCORED).toEqual(expect.arrayContaining(['open-instruct.md', 'trl.md', 'verl.md']));
  });

  it.each(SCORED)('%s shows a real answer', async (page) => {
    const [request, answer] = blocksOf(page);
    const parsed = scoreRequestSchema.parse(request);
    const { reply } = await scoreAlone(requestedRollout(parsed), parsed.recipe, { judge: judgeLexically });
    expect(reply).toMatchObject(Object(answer));
  });
});
