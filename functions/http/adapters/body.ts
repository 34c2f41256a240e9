/** Reading the bodies of trainers: as everywhere, but for values of any shape that are passed on or hashed whole. */
import type * as z from 'zod';
import { RequestError } from '../../failures.ts';
import { readJson } from '../body.ts';
import type { Context } from '../context.ts';

/** Rows of trainers are a few levels deep; writing or hashing one that is thousands deep would overflow the stack. */
const MAX_NESTING = 256;

/** Reads and validates the body. @throws RequestError for anything that is the caller's to mend. */
export async function readRow<S extends z.ZodObject>(c: Context, schema: S): Promise<z.output<S>> {
  const row = await readJson(c, schema);
  const problems = Object.entries(row)
    .filter(([, value]) => isDeeperThan(value, MAX_NESTING))
    .map(([name]) => ({ path: [name], message: `expected at most ${MAX_NESTING} levels` }));
  if (problems.length > 0) throw new RequestError({ reason: 'input_invalid', problems });
  return row;
}

/** Level by level, without recursion. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one): unknown[] => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
