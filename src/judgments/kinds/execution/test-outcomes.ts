/** The outcomes of one test. All but `passed` are the program's failures; a failure of the sandbox gives no outcome. */
export const TEST_OUTCOMES = [
  'passed',
  'wrong_output',
  'compile_error',
  'runtime_error',
  'time_limit',
  'memory_limit',
] as const;

export type TestOutcome = (typeof TEST_OUTCOMES)[number];
