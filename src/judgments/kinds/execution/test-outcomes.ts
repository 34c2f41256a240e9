/** The result of one test. All but `passed` are the program's failures; if the sandbox fails, there are no verdicts. */
export const TEST_OUTCOMES = [
  'passed',
  'wrong_output',
  'compile_error',
  'runtime_error',
  'time_limit',
  'memory_limit',
] as const;

export type TestOutcome = (typeof TEST_OUTCOMES)[number];
