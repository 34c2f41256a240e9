/** Why a part or a reward has no number, on the wire. */
import * as z from 'zod';
import { JUDGE_FAILURE_REASONS } from '../judgments/types.ts';

export const unscoredReasonSchema = z.enum([...JUDGE_FAILURE_REASONS, 'not_measured', 'nothing_to_score']);
