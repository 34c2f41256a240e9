/** The evolving rubrics of a run's prompts: lists, shows and edits them. */

import type * as z from 'zod';
import {
  type editRequestSchema,
  type PromptList,
  type PromptRubricsReply,
  promptListSchema,
  promptRubricsSchema,
} from '../../src/wire/rubrics.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** An edit by hand: what to retire, restore and add, and the set that you saw. */
export type RubricsEdit = z.input<typeof editRequestSchema>;

/** Lists, shows and edits the evolving rubrics of a run. A prompt is named by the SHA-256 of its question. */
export type RunRubricsClient = {
  /** Lists the prompts. @param query `after`: `next` of the previous page. */
  list(run: string, query?: { readonly after?: string; readonly limit?: number }): Promise<Reply<PromptList>>;
  /** Reads a prompt. @param query `step`: at the end of this step; `log: false` leaves the events out. */
  retrieve(
    run: string,
    prompt: string,
    query?: { readonly step?: number; readonly log?: boolean },
  ): Promise<Reply<PromptRubricsReply>>;
  /** Edits a prompt by hand; 409 `rubrics_stale` if its set is another one by now. */
  edit(run: string, prompt: string, edit: RubricsEdit): Promise<Reply<PromptRubricsReply>>;
};

export function createRunRubrics(connection: Connection): RunRubricsClient {
  return {
    list: (run, query = {}) =>
      connection.get(routePath('GET /v1/runs/{id}/rubrics', { id: run }, query), promptListSchema),
    retrieve: (run, prompt, query = {}) =>
      connection.get(routePath('GET /v1/runs/{id}/rubrics/{prompt}', { id: run, prompt }, query), promptRubricsSchema),
    edit: (run, prompt, edit) =>
      connection.post(
        routePath('POST /v1/runs/{id}/rubrics/{prompt}/edits', { id: run, prompt }),
        { json: edit },
        promptRubricsSchema,
        { repeats_lost: false },
      ),
  };
}
