/** All commands, in the order of `citeward --help`. The code of a command is loaded when it is needed. */

import type { CommandEntry, CommandGroup } from './shared/command.ts';
import { CITEWARD } from './shared/program.ts';

export const BATCH_COMMANDS: CommandGroup = {
  name: 'batch',
  summary: 'Score large files: submit them to a Worker, or score them here.',
  commands: [
    {
      name: 'batch submit',
      summary: 'Check a file of requests and submit it to a Worker.',
      load: async () => (await import('./commands/batch/submit.ts')).submitCommand,
    },
    {
      name: 'batch status',
      summary: 'Show the status of a batch: counts, rate, time left, errors.',
      load: async () => (await import('./commands/batch/manage.ts')).statusCommand,
    },
    {
      name: 'batch wait',
      summary: 'Wait for the end of a batch and show its progress.',
      load: async () => (await import('./commands/batch/wait.ts')).waitCommand,
    },
    {
      name: 'batch fetch',
      summary: 'Download the results of a batch that has ended.',
      load: async () => (await import('./commands/batch/fetch.ts')).fetchCommand,
    },
    {
      name: 'batch cancel',
      summary: 'Cancel a batch; results that are already there are kept.',
      load: async () => (await import('./commands/batch/manage.ts')).cancelCommand,
    },
    {
      name: 'batch redrive',
      summary: 'Retry the dead letters of a batch.',
      load: async () => (await import('./commands/batch/manage.ts')).redriveCommand,
    },
    {
      name: 'batch list',
      summary: 'List the batches of a Worker, newest first.',
      load: async () => (await import('./commands/batch/manage.ts')).listCommand,
    },
    {
      name: 'batch run',
      summary: 'Score a file without a Worker, with the built-in judge.',
      load: async () => (await import('./commands/batch/local-run.ts')).localRunCommand,
    },
  ],
  details: [
    'With a Worker:',
    `  ${CITEWARD} batch submit examples/rollouts.jsonl --url http://127.0.0.1:8799 --wait --fetch`,
    'Without one:',
    `  ${CITEWARD} batch run examples/rollouts.jsonl --output scores.jsonl`,
  ],
};

const KEYS_COMMANDS: CommandGroup = {
  name: 'keys',
  summary: 'Make, list and revoke API keys; see who used admin routes.',
  commands: [
    {
      name: 'keys add',
      summary: 'Make an API key, for a deployment or in a Worker.',
      load: async () => (await import('./commands/keys/run.ts')).addCommand,
    },
    {
      name: 'keys list',
      summary: 'List the API keys that a Worker stores, newest first.',
      load: async () => (await import('./commands/keys/run.ts')).listCommand,
    },
    {
      name: 'keys revoke',
      summary: 'Revoke an API key that a Worker stores.',
      load: async () => (await import('./commands/keys/run.ts')).revokeCommand,
    },
    {
      name: 'keys audit',
      summary: 'List the uses of routes that need the scope admin.',
      load: async () => (await import('./commands/keys/run.ts')).auditCommand,
    },
  ],
  details: [`Try: ${CITEWARD} keys add trainer --scopes verify,score`],
};

const PROJECTS_COMMANDS: CommandGroup = {
  name: 'projects',
  summary: 'Show and change the daily budgets of a project, and erase it.',
  commands: [
    {
      name: 'projects budgets',
      summary: 'Show the budgets of a project and what is used today, or change them.',
      load: async () => (await import('./commands/projects/run.ts')).budgetsCommand,
    },
    {
      name: 'projects erase',
      summary: 'Erase everything that a project stores, and count what is left.',
      load: async () => (await import('./commands/projects/erase.ts')).eraseCommand,
    },
  ],
  details: [`Try: ${CITEWARD} projects budgets default --url http://127.0.0.1:8799`],
};

const RECEIPT_COMMANDS: CommandGroup = {
  name: 'receipt',
  summary: 'Verify the signed receipts of rewards.',
  commands: [
    {
      name: 'receipt verify',
      summary: 'Verify that receipts are signed by their deployment and match the reply and the request.',
      load: async () => (await import('./commands/receipt/run.ts')).receiptVerifyCommand,
    },
  ],
  details: [`Try: ${CITEWARD} receipt verify REPLY.json --keys KEYS.json --request REQUEST.json`],
};

const RUNS_COMMANDS: CommandGroup = {
  name: 'runs',
  summary: 'List, show, watch, report, export, import and delete the runs of a Worker.',
  commands: [
    {
      name: 'runs list',
      summary: 'List the runs of a Worker, newest first.',
      load: async () => (await import('./commands/runs/run.ts')).listCommand,
    },
    {
      name: 'runs show',
      summary: 'Show a run step by step: rewards, spread within groups, components, unscored rollouts.',
      load: async () => (await import('./commands/runs/run.ts')).showCommand,
    },
    {
      name: 'runs watch',
      summary: 'Watch a run for signs that it earns its reward in a way nobody wanted.',
      load: async () => (await import('./commands/runs/watch.ts')).watchCommand,
    },
    {
      name: 'runs canary',
      summary: 'Judge the first steps of a run again, to notice a judge that drifts.',
      load: async () => (await import('./commands/runs/drift.ts')).canaryCommand,
    },
    {
      name: 'runs audit',
      summary: 'Judge a random share of a run with a second judge, to notice a policy that fools the first.',
      load: async () => (await import('./commands/runs/drift.ts')).auditCommand,
    },
    {
      name: 'runs risk',
      summary: "Tell how many signs of a run's advantages the errors of its judge may have changed.",
      load: async () => (await import('./commands/runs/risk.ts')).riskCommand,
    },
    {
      name: 'runs export',
      summary: 'Print the ledger of a run, or its judgments, as JSON lines.',
      load: async () => (await import('./commands/runs/run.ts')).exportCommand,
    },
    {
      name: 'runs sync',
      summary: 'Follow a run and log each step to W&B, MLflow, trackio or TensorBoard, with marked answers.',
      load: async () => (await import('./commands/runs/sync.ts')).syncCommand,
    },
    {
      name: 'runs digest',
      summary: 'Print one digest of an exported run, equal for every copy of the same run.',
      load: async () => (await import('./commands/runs/digest.ts')).digestCommand,
    },
    {
      name: 'runs report',
      summary: 'Write a run as one HTML page that needs no server, or as Markdown for a pull request.',
      load: async () => (await import('./commands/runs/report.ts')).reportCommand,
    },
    {
      name: 'runs import',
      summary: 'Import the ledger of a run into a Worker. Nothing is overwritten.',
      load: async () => (await import('./commands/runs/run.ts')).importCommand,
    },
    {
      name: 'runs title',
      summary: 'Give a run a title, which lists show beside its id.',
      load: async () => (await import('./commands/runs/run.ts')).titleCommand,
    },
    {
      name: 'runs delete',
      summary: 'Delete a run: its ledger, reports and text. Its judgments are kept.',
      load: async () => (await import('./commands/runs/run.ts')).deleteCommand,
    },
  ],
  details: [
    'The Worker records a rollout whose request names a run:',
    `  ${CITEWARD} score examples/rollouts.jsonl --url http://127.0.0.1:8799 --run NAME --step 0`,
    'To recompute a run under another recipe, without a judge:',
    `  ${CITEWARD} replay RUN --url URL --set citation_weight=0.5`,
  ],
};

const RECIPE_COMMANDS: CommandGroup = {
  name: 'recipe',
  summary: 'Probe a recipe before training: what it pays for answers that cost a policy nothing.',
  commands: [
    {
      name: 'recipe probe',
      summary: 'Score copies, refusals and sprayed citations beside the best known answer of each row.',
      load: async () => (await import('./commands/recipe/run.ts')).probeCommand,
    },
  ],
  details: [`Try: ${CITEWARD} recipe probe examples/rollouts.jsonl --recipe refiner-rl-balanced`],
};

const RUBRICS_COMMANDS: CommandGroup = {
  name: 'rubrics',
  summary: 'Make, check and convert criteria of rows; show and edit the evolving rubrics of a run.',
  commands: [
    {
      name: 'rubrics make',
      summary: 'Let a model of a Worker write criteria for the question of each row.',
      load: async () => (await import('./commands/rubrics/make.ts')).makeCommand,
    },
    {
      name: 'rubrics lint',
      summary: 'Find criteria that overlap, ask for two things, or pay for every answer.',
      load: async () => (await import('./commands/rubrics/lint.ts')).lintCommand,
    },
    {
      name: 'rubrics convert',
      summary: "Convert rows of open-instruct's and dr-tulu's data sets to rows of Citeward and back.",
      load: async () => (await import('./commands/rubrics/convert.ts')).convertCommand,
    },
    {
      name: 'rubrics list',
      summary: 'List the prompts of a run whose rubrics evolve.',
      load: async () => (await import('./commands/rubrics/of-run.ts')).listCommand,
    },
    {
      name: 'rubrics show',
      summary: 'Show the criteria of a prompt with their statistics, and what happened to them.',
      load: async () => (await import('./commands/rubrics/of-run.ts')).showCommand,
    },
    {
      name: 'rubrics edit',
      summary: 'Retire, restore and add criteria of a prompt by hand.',
      load: async () => (await import('./commands/rubrics/of-run.ts')).editCommand,
    },
  ],
  details: [`Try: ${CITEWARD} rubrics make examples/rollouts.jsonl --dry-run`],
};

const GRADERS_COMMANDS: CommandGroup = {
  name: 'graders',
  summary: "Convert OpenAI's grader objects to recipes.",
  commands: [
    {
      name: 'graders convert',
      summary: 'Make a recipe and criteria of a grader object, and rows of its samples.',
      load: async () => (await import('./commands/graders/convert.ts')).convertCommand,
    },
  ],
  details: ['The graders of docs/guides/drop-ins.md also run unchanged, under /compat/openai.'],
};

export const COMMANDS: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'score',
    summary: 'Score rollouts: one reward for each row, with its components.',
    load: async () => (await import('./commands/score/run.ts')).scoreCommand,
  },
  {
    name: 'view',
    summary: 'Show a file in the dashboard: its answers with marked claims, rewards and findings.',
    load: async () => (await import('./commands/view/run.ts')).viewCommand,
  },
  {
    name: 'verify',
    summary: 'Verify the citations of responses, without a judge or a recipe.',
    load: async () => (await import('./commands/verify/run.ts')).verifyCommand,
  },
  {
    name: 'compare',
    summary: 'Let a judge compare the answers of each row in pairs.',
    load: async () => (await import('./commands/compare/run.ts')).compareCommand,
  },
  {
    name: 'refine',
    summary: 'Generate cited answers from tool output and verify them while they stream.',
    load: async () => (await import('./commands/refine/run.ts')).refineCommand,
  },
  {
    name: 'agent',
    summary: 'Run a policy with a code interpreter: its turns as they stream, and its reward.',
    load: async () => (await import('./commands/agent/run.ts')).agentCommand,
  },
  BATCH_COMMANDS,
  {
    name: 'judge',
    summary: 'Check a judge: its agreement with itself and with labels.',
    load: async () => (await import('./commands/judge/run.ts')).judgeCommand,
  },
  {
    name: 'judgments',
    summary: 'Export stored judgments from a Worker, or import them into one.',
    load: async () => (await import('./commands/judgments/run.ts')).judgmentsCommand,
  },
  {
    name: 'serve',
    summary: 'Run the Worker on this machine, without an account.',
    load: async () => (await import('./commands/serve/run.ts')).serveCommand,
  },
  {
    name: 'doctor',
    summary: 'Check what Citeward needs: this machine, the judges of a configuration, a Worker.',
    load: async () => (await import('./commands/doctor/run.ts')).doctorCommand,
  },
  {
    name: 'completion',
    summary: 'Print a script that completes commands and flags in bash, zsh or fish.',
    load: async () => (await import('./commands/completion/run.ts')).completionCommand(COMMANDS),
  },
  GRADERS_COMMANDS,
  KEYS_COMMANDS,
  PROJECTS_COMMANDS,
  RECEIPT_COMMANDS,
  RECIPE_COMMANDS,
  RUBRICS_COMMANDS,
  RUNS_COMMANDS,
  {
    name: 'replay',
    summary: 'Recompute the rewards of a run under another recipe.',
    load: async () => (await import('./commands/replay/run.ts')).replayCommand,
  },
  {
    name: 'advantages',
    summary: 'Compute the advantages of whole training steps, GDPO included.',
    load: async () => (await import('./commands/advantages/run.ts')).advantagesCommand,
  },
];
