/** The query of routes without parameters. It is strict, so a misspelled parameter is refused instead of ignored. */
import * as z from 'zod';

export const emptyQuerySchema = z.strictObject({});
