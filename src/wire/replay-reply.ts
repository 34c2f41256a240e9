/** The lines of the reply of `POST /v1/runs/{id}/replay`. */
import * as z from 'zod';
import { replayReportLineSchema } from '../runs/replay-report.ts';
import { problemSchema } from './problem.ts';

/** A line. A replay that fails after its first line ends with `error` in place of `summary`. */
export const replayLineSchema = z.discriminatedUnion('kind', [
  ...replayReportLineSchema.options,
  z.strictObject({ kind: z.literal('error'), problem: problemSchema }),
]);

export type ReplayLine = z.infer<typeof replayLineSchema>;
export type ReplayLineOf<K extends ReplayLine['kind']> = Extract<ReplayLine, { kind: K }>;
