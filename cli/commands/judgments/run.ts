/** `citeward judgments export|import`: copies stored judgments from one deployment into another, as a file. */

import { sha256Schema } from '../../../src/judgments/judgment-schema.ts';
import { MAX_IMPORT_LINE_BYTES } from '../../../src/limits.ts';
import { type Line, readLines } from '../../../src/text/lines.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { openInput } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countOf, countText } from '../../shared/number-text.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Screen } from '../../shared/screen.ts';
import { didYouMean } from '../../shared/suggest.ts';
import { badLinesText } from '../../shared/summary.ts';
import { connectForJudgments } from './endpoints.ts';
import { exportJudgments } from './export.ts';
import { importJudgments } from './import.ts';
import { judgmentsSyntax } from './options.ts';

/** Refused lines that are printed; the others are counted. */
const MAX_REFUSALS_SHOWN = 20;

const MAX_KEY_LINE_BYTES = 1024;

export const judgmentsCommand: Command = { ...judgmentsSyntax, run };

async function run(flags: Flags): Promise<number> {
  const [action, ...files] = flags.positionals;
  switch (action) {
    case 'export':
      return runExport(flags, files);
    case 'import':
      return runImport(flags, files);
    default: {
      const hint = action === undefined ? null : didYouMean(action, ['export', 'import']);
      throw new UsageError(
        'expected: judgments export, or judgments import',
        hint ?? `See: ${CITEWARD} help judgments`,
      );
    }
  }
}

async function runExport(flags: Flags, files: readonly string[]): Promise<number> {
  const screen = new Screen(flags);
  const input = await openInput(files, flags.shell.stdin, 'judgments export KEYS.txt --url URL');
  const endpoints = await connectForJudgments(flags);
  const bad = { lines: 0 };
  const keys = keysIn(readLines(input.chunks, MAX_KEY_LINE_BYTES), (line) => {
    bad.lines++;
    screen.message(`line ${line}: expected a key: 64 hexadecimal digits`, 'red');
  });
  let lines = 0;
  onInterruption(() => {
    const done = `interrupted after ${countOf(lines, 'line')}: the file lacks its last line`;
    screen.message(`${done}. Run the command again.`, 'bold');
  });
  const counts = await exportJudgments(endpoints, keys, (line) => {
    lines++;
    return screen.result(line.trimEnd());
  });
  if (counts.judgments + counts.missing + bad.lines === 0) throw new RunError('the input has no keys');
  const parts = [`${countText(counts.judgments)} exported`];
  if (counts.missing > 0) parts.push(`${countText(counts.missing)} not there`);
  if (bad.lines > 0) parts.push(badLinesText(bad.lines));
  screen.message(parts.join(' · '), 'bold');
  return counts.missing === 0 && bad.lines === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

async function* keysIn(lines: AsyncIterable<Line>, onBad: (line: number) => void): AsyncGenerator<string> {
  for await (const { number, content } of lines) {
    const key = content.ok ? sha256Schema.safeParse(content.value.trim()) : null;
    if (key?.success === true) yield key.data;
    else onBad(number);
  }
}

async function runImport(flags: Flags, files: readonly string[]): Promise<number> {
  const screen = new Screen(flags);
  const input = await openInput(files, flags.shell.stdin, 'judgments import JUDGMENTS.jsonl --url URL');
  const endpoints = await connectForJudgments(flags);
  let shown = 0;
  const counts = await importJudgments(
    endpoints,
    readLines(input.chunks, MAX_IMPORT_LINE_BYTES),
    ({ line, why }) => {
      shown++;
      if (shown <= MAX_REFUSALS_SHOWN) screen.message(`line ${line}: ${why}`, 'red');
    },
    (why) => screen.message(`${why}; retrying`, 'dim'),
  );
  const parts = [`${countText(counts.imported)} imported`, `${countText(counts.already_there)} already there`];
  if (counts.refused > 0) parts.push(`${countText(counts.refused)} refused`);
  screen.message(parts.join(' · '), 'bold');
  if (!counts.complete)
    screen.message('the last line does not give the number of judgments: cut off, or edited', 'red');
  return counts.refused === 0 && counts.complete ? EXIT_OK : EXIT_INCOMPLETE;
}
