/**
 * To be imported before any schema is made: zod would else try whether it may compile its checks, and the page's policy
 * reports that as a violation.
 */
import * as z from 'zod';

z.config({ jitless: true });
