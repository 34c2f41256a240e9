/** One question of the examples, answered by the built-in extractive refiner while the demo looks on. */

import { wrapped } from '../../cli/shared/help.ts';
import { plainLine } from '../../cli/shared/text-width.ts';
import type { Client } from '../../clients/typescript/client.ts';
import type { ExampleRow } from './rollouts.ts';
import type { Paper } from './tables.ts';

const INDENT = '   ';

/** Prints each claim as soon as it is certain, then the reward. @throws Error where there is none. */
export async function refineLive(client: Client, row: ExampleRow, recipe: string, paper: Paper): Promise<void> {
  const { question, tool_output, positive_rubrics } = row.request;
  if (question === undefined || tool_output === undefined || positive_rubrics === undefined) {
    throw new Error('the demo refines a question over tool output, with rubrics');
  }
  const opened = await client.refineStream({
    ...{ question, tool_output, positive_rubrics, recipe },
    ...{ generator: 'extractive', sampling: { temperature: 0 }, evidence: 'lexical' },
  });
  if (!opened.ok) throw new Error(`refining: ${JSON.stringify(opened.failure)}`);
  paper.write(`${INDENT}${plainLine(question)}`);
  for await (const event of opened.body) {
    switch (event.event) {
      case 'claim': {
        const ids = event.data.ids.map(({ id }) => id).join(', ');
        const [first = '', ...rest] = wrapped(`${plainLine(event.data.text)}  [${ids}]`, paper.width - 5);
        paper.write(paper.style('green', `${INDENT}✓ ${first}`));
        for (const line of rest) paper.write(paper.style('green', `${INDENT}  ${line}`));
        break;
      }
      case 'done': {
        const [candidate] = event.data.candidates;
        if (typeof candidate?.reward !== 'number') throw new Error('the demo judges what it refines');
        paper.write(`${INDENT}reward ${candidate.reward.toFixed(2)}, by ${event.data.model}`);
        break;
      }
      case 'error':
      case 'lost':
        throw new Error(`refining: ${JSON.stringify(event)}`);
      default:
    }
  }
}
