/** `citeward runs`: what a Worker has recorded of runs. */
import type { CommandGroup } from '../command.ts';
import { exportCommand, importCommand } from './runs/files.ts';
import { deleteCommand, listCommand, showCommand } from './runs/look.ts';

export const runsCommands: CommandGroup = {
  name: 'runs',
  summary: 'Runs that a Worker has recorded: look, take out, bring in, delete.',
  commands: [listCommand, showCommand, exportCommand, importCommand, deleteCommand],
  details: [
    'A rollout is recorded where its request names a run: citeward score FILE --url URL --run ID --step N',
    'Under another recipe, without a judge: citeward replay',
  ],
};
