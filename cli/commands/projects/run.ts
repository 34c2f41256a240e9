/** `citeward projects`: shows and changes the daily budgets of a project in a Worker. */
import type { ProjectReply } from '../../../src/wire/projects.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Screen } from '../../shared/screen.ts';
import { connect } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { budgetOf, budgetsSyntax } from './options.ts';

export const budgetsCommand: Command = { ...budgetsSyntax, run: showBudgets };

async function showBudgets(flags: Flags): Promise<number> {
  const [project, ...more] = flags.positionals;
  if (project === undefined || more.length > 0) {
    throw new UsageError(`expected one project: ${CITEWARD} projects budgets PROJECT --url URL`);
  }
  const [calls, tokens] = [budgetOf(flags, 'calls'), budgetOf(flags, 'tokens')];
  const change = {
    ...(calls === undefined ? {} : { judge_calls_per_day: calls }),
    ...(tokens === undefined ? {} : { judge_tokens_per_day: tokens }),
  };
  const screen = new Screen(flags);
  const missing = new UsageError('projects needs a Worker: --url URL', 'Its projects are stored there.');
  const { projects } = await connect(flags, (text) => screen.message(text, 'dim'), missing);
  const isChange = Object.keys(change).length > 0;
  const reply = await (isChange ? projects.change(project, change) : projects.get(project));
  if (!reply.ok) throw runErrorOf(reply.failure);
  if (flags.isOn('json')) await screen.result(JSON.stringify(reply.body));
  else for (const line of replyLines(reply.body)) await screen.result(line);
  return EXIT_OK;
}

function replyLines(reply: ProjectReply): string[] {
  const { judge_calls_per_day, judge_tokens_per_day, used_today, reserved, renews_at } = reply;
  const line = (what: string, used: number, held: number, limit: number | null): string =>
    `${what.padEnd(12)}  ${used} used today of ${limit ?? 'no limit'}${held === 0 ? '' : `, ${held} reserved`}`;
  return [
    line('judge calls', used_today.judge_calls, reserved.judge_calls, judge_calls_per_day),
    line('judge tokens', used_today.judge_tokens, reserved.judge_tokens, judge_tokens_per_day),
    `${'renews at'.padEnd(12)}  ${renews_at}`,
  ];
}
