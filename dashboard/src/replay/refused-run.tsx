/** Why the file of a run cannot be replayed here. */
import { countText } from '../display/number-text.ts';
import { type LoadedRun, MAX_ROLLOUTS } from './load-run.ts';

export function RefusedRun({ refused: { why, line } }: { refused: Extract<LoadedRun, { kind: 'refused' }> }) {
  return (
    <div class="notice notice-bad" role="alert">
      <p class="notice-title">There is nothing to replay</p>
      <p>{wordsOf(why, line)}</p>
    </div>
  );
}

function wordsOf(why: Extract<LoadedRun, { kind: 'refused' }>['why'], line: number): string {
  switch (why) {
    case 'line':
      return `Line ${line} is none of the file of a run that this version reads.`;
    case 'cut_off':
      return `The file ends after line ${line} without its last line, or counts other rollouts: it was cut off.`;
    case 'too_many':
      return `More than ${countText(MAX_ROLLOUTS)} rollouts: that is for the command line, citeward replay.`;
    case 'empty':
      return 'The run has no rollout.';
  }
}
