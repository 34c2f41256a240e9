/** Says why a run file cannot be replayed. */
import { countText } from '../display/number-text.ts';
import { type LoadedRun, MAX_ROLLOUTS } from './load-run.ts';

export function RefusedRun({ refused: { why, line } }: { refused: Extract<LoadedRun, { kind: 'refused' }> }) {
  return (
    <div class="notice notice-bad" role="alert">
      <p class="notice-title">This run cannot be replayed</p>
      <p>{wordsOf(why, line)}</p>
    </div>
  );
}

function wordsOf(why: Extract<LoadedRun, { kind: 'refused' }>['why'], line: number): string {
  switch (why) {
    case 'line':
      return `Line ${line} is not a valid line of a run file of a supported version.`;
    case 'recipe':
      return `Line ${line}: the recipe of this rollout is not in the file, or is of another family. Export the run again.`;
    case 'cut_off':
      return `The file is truncated: it ends after line ${line}, without a matching end record.`;
    case 'too_many':
      return [
        `The run has more than ${countText(MAX_ROLLOUTS)} rollouts. Replay its file on the command line:`,
        'npx citeward replay --file RUN.jsonl --set citation_weight=0.5',
      ].join(' ');
    case 'empty':
      return 'The run has no rollouts.';
  }
}
