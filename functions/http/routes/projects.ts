/** `/v1/projects/{project}`: the budgets of a project and what is used of them today; the operator changes them. */

import { invalidInput, RequestError } from '../../../service/failures.ts';
import { DEFAULT_PROJECT, PROJECT_NAME } from '../../../src/wire/api-keys.ts';
import { type ProjectReply, projectChangeSchema } from '../../../src/wire/projects.ts';
import { dayOf, renewalAfter } from '../../projects/budgets.ts';
import { ProjectTable } from '../../projects/project-table.ts';
import { checkOperator } from '../auth.ts';
import { readJson } from '../body.ts';
import { type Context, callerOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';

export const projectHandlers = {
  'GET /v1/projects/{project}': async (c) => {
    return c.json(await projectReply(c, projectIn(c)));
  },
  'PATCH /v1/projects/{project}': async (c) => {
    const change = await readJson(c, projectChangeSchema);
    const project = projectIn(c);
    checkOperator(c, 'A change of budgets');
    if (project === DEFAULT_PROJECT) {
      throw invalidInput(['project'], 'the settings JUDGE_CALLS_PER_DAY and JUDGE_TOKENS_PER_DAY are its budgets');
    }
    const table = new ProjectTable(c.env.DB);
    const before = (await table.budgets(project)) ?? c.get('settings').budgets;
    await table.setBudgets(project, { ...before, ...change });
    return c.json(await projectReply(c, project));
  },
} satisfies Partial<Handlers>;

/** The project in the path. @throws RequestError if the caller may not see it. */
function projectIn(c: Context): string {
  const asked = pathParameter(c, 'project');
  const { isOperator, project } = callerOf(c);
  if (asked === project || (isOperator && PROJECT_NAME.test(asked))) return asked;
  throw new RequestError({ reason: 'project_not_found' });
}

async function projectReply(c: Context, project: string): Promise<ProjectReply> {
  const now = Date.now();
  const table = new ProjectTable(c.env.DB);
  const [own, { used, reserved }] = await Promise.all([
    project === DEFAULT_PROJECT ? null : table.budgets(project),
    table.use(project, dayOf(now)),
  ]);
  return {
    project,
    ...(own ?? c.get('settings').budgets),
    used_today: { judge_calls: used.calls, judge_tokens: used.tokens },
    reserved: { judge_calls: reserved.calls, judge_tokens: reserved.tokens },
    renews_at: new Date(renewalAfter(now)).toISOString(),
  };
}
