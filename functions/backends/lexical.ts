/**
 * The built-in lexical judge as a backend. It runs in the caller's isolate, costs nothing and is always reachable; it
 * compares words, not meaning, so it is used where a request names it or ALLOW_LEXICAL_JUDGE says so.
 */
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import type { Backend } from './backend.ts';

export const lexicalBackend: Backend = {
  runs_in: 'caller',
  slots: Number.POSITIVE_INFINITY,
  judge: LEXICAL_JUDGE,
  async health() {
    return { reachable: true, model_present: true, last_error: null, routes: [] };
  },
};
