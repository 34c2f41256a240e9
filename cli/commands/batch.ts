/** `citeward batch`: files of requests, scored while nobody waits, by a Worker or here. */
import type { CommandGroup } from '../command.ts';
import { cancelCommand, redriveCommand } from './batch/change.ts';
import { fetchCommand, waitCommand } from './batch/follow.ts';
import { listCommand, statusCommand } from './batch/look.ts';
import { runCommand } from './batch/run.ts';
import { submitCommand } from './batch/submit.ts';

export const batchCommands: CommandGroup = {
  name: 'batch',
  summary: 'Score large files: submitted to a Worker, or run here.',
  commands: [
    submitCommand,
    statusCommand,
    waitCommand,
    fetchCommand,
    cancelCommand,
    redriveCommand,
    listCommand,
    runCommand,
  ],
  details: [
    'Try: citeward batch submit rollouts.jsonl --url http://127.0.0.1:8799 --wait --fetch',
    '     citeward batch run rollouts.jsonl --output scores.jsonl          (no Worker)',
  ],
};
