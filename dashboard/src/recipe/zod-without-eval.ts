/**
 * Turns off zod's compiled validators. Import it before any schema: zod probes for `eval` otherwise, which violates the
 * page's Content Security Policy.
 */
import * as z from 'zod';

z.config({ jitless: true });
