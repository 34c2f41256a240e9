/** The query of routes that take none: a parameter that is not read would pass silently otherwise. */
import * as z from 'zod';

export const emptyQuerySchema = z.strictObject({});
