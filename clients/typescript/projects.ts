/** Projects: their daily budgets, and what is used of them. */

import type * as z from 'zod';
import { type ProjectReply, type projectChangeSchema, projectSchema } from '../../src/wire/projects.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** New budgets of a project, per day; `null` = no limit. Absent ones stay. */
export type ProjectChange = z.input<typeof projectChangeSchema>;

/** Reads and changes the budgets of projects. */
export type ProjectsClient = {
  /** Reads a project. A key sees its own project; a key of API_KEYS with the scope `admin` sees all. */
  get(project: string): Promise<Reply<ProjectReply>>;
  /** Changes the budgets of a project. Needs a key of API_KEYS with the scope `admin`. Idempotent. */
  change(project: string, change: ProjectChange): Promise<Reply<ProjectReply>>;
};

export function createProjects(connection: Connection): ProjectsClient {
  return {
    get: (project) => connection.get(routePath('GET /v1/projects/{project}', { project }), projectSchema),
    change: (project, change) =>
      connection.patch(routePath('PATCH /v1/projects/{project}', { project }), change, projectSchema),
  };
}
