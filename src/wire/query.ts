/** The query of routes without parameters. It is strict, so a misspelled parameter is refused instead of ignored. */
import * as z from 'zod';

export const emptyQuerySchema = z.strictObject({});

/** The query of routes that ignore parameters: those of health checks, and of clients that were made for OpenAI. */
export const anyQuerySchema = z.object({});
