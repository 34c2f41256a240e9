/** Schemas of findings and citations in replies. Offsets are UTF-16 code units unless the request asks for another unit. */
import * as z from 'zod';
import { OFFSET_UNITS } from './offset-units.ts';
import { FINDING_REASONS } from './types.ts';

export const offsetSchema = z.int().min(0);
export const indexSchema = z.int().min(0);

export const spanSchema = z
  .strictObject({ start: offsetSchema, end: offsetSchema })
  .describe('Half-open range [start, end).');

export const offsetUnitSchema = z
  .enum(OFFSET_UNITS)
  .describe('Unit of all offsets. utf16: code units (JavaScript). utf8: bytes. codepoints: as in a Python string.');

export const offsetsSchema = offsetUnitSchema.default('utf16');

export const findingReasonSchema = z.enum(FINDING_REASONS);

export const findingSchema = z.strictObject({
  reason: findingReasonSchema,
  in: z.enum(['response', 'tool_output', 'sources']).describe('Which string `span` points into.'),
  span: spanSchema,
  claim: indexSchema.exactOptional(),
  source: indexSchema.exactOptional(),
});

export const findingCountsSchema = z
  .partialRecord(findingReasonSchema, z.int().min(1))
  .describe('How often each reason was found; reasons that were not found are absent.');

export const citedIdSchema = z.strictObject({
  id: z.string(),
  span: spanSchema,
  source: indexSchema.nullable().describe('Position of the source; null = no source has this id (invented).'),
});

export const formatSchema = z
  .strictObject({ answer_only: z.literal([0, 1]), full: z.literal([0, 1]) })
  .describe('The format bonus under either mode; 1 = well formed.');
