/** What the field of a sweep may be set to. */
import * as z from 'zod';
import { MAX_NAME_CHARS } from '../limits.ts';

/** A value that a sweep sets its field to. */
export const sweepValueSchema = z.union([z.number(), z.boolean(), z.string().max(MAX_NAME_CHARS)]);
export type SweepValue = z.infer<typeof sweepValueSchema>;
