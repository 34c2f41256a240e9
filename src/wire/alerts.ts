/** The requests about alerts of a run: the query of `GET /v1/runs/{id}/alerts`, and a recorded check of its judge. */
import * as z from 'zod';
import { ALERT_WINDOW_STEPS } from '../runs/alert-rules.ts';
import { judgeCheckSchema } from '../runs/judge-check-schema.ts';
import { stepParameter } from './runs.ts';

export const alertsQuerySchema = z.strictObject({
  from_step: stepParameter
    .exactOptional()
    .describe(`The first step to watch, for a long run. The first ${ALERT_WINDOW_STEPS} steps are always read.`),
});

/** The body of `POST /v1/runs/{id}/judge-checks`. */
export const judgeCheckRequestSchema = judgeCheckSchema;
