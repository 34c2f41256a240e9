/**
 * The tools of the MCP server. Each one is a request to a route of this Worker with the caller's key, so that scopes,
 * limits, budgets and errors are those of the route.
 */

import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import { originFields, responseSchema, sharedFields } from '../../../src/family/rollout-schema.ts';
import { readLines } from '../../../src/judgments/jsonl.ts';
import { runIdSchema } from '../../../src/runs/row.ts';
import { explainReward } from '../../../src/scoring/explain-reward.ts';
import { listed, quotedJson, quotedLine, quotedName } from '../../../src/text/foreign-line.ts';
import { pathSegment } from '../../../src/text/path-segment.ts';
import { recipeInputSchema, scoringFields } from '../../../src/wire/score.ts';
import { citationsSchema } from '../../../src/wire/verify.ts';

/** Sends a request to a route of this Worker as the caller. @param body `undefined` = GET. */
export type AskRoute = (path: string, body?: unknown) => Promise<Response>;

const runFields = { run: runIdSchema.describe('Id of a recorded run.') };

/** No tool changes anything but the stores of judgments, which only grow. */
const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Adds all tools to a server. */
export function addTools(server: McpServer, ask: AskRoute): void {
  server.registerTool(
    'verify_citations',
    {
      title: 'Verify citations',
      description:
        'Checks the citations of an answer against its sources without a model: unknown ids, missing and misplaced ' +
        'citations, and how well the words of each claim are covered by the sources that it cites. Claims are ' +
        'wrapped as <snippet id=ID1,ID2>claim</snippet> unless another grammar is named.',
      inputSchema: z.object({
        response: responseSchema.describe('The answer with its citations.'),
        ...originFields,
        grammar: z.enum(GRAMMAR_NAMES).default('snippet').describe('The citation syntax of the answer.'),
        citations: citationsSchema,
      }),
      annotations: READ_ONLY,
    },
    async (request) => replied(await ask('/v1/verify?evidence=lexical', request), verificationText),
  );
  server.registerTool(
    'score_answer',
    {
      title: 'Score a cited answer',
      description:
        'Computes the reward of a cited answer under a recipe: a judge rates it by criteria and checks each claim ' +
        'against its sources. A judge that fails gives no reward, never 0.',
      inputSchema: z.object({
        question: sharedFields.question,
        response: responseSchema.describe('The answer with its citations.'),
        ...originFields,
        positive_rubrics: sharedFields.positive_rubrics.describe('What a good answer does.'),
        negative_rubrics: sharedFields.negative_rubrics.describe('What a bad answer does.'),
        recipe: recipeInputSchema.default('refiner-rl-balanced').describe('A name of list_recipes, or a recipe.'),
        judge: scoringFields.judge.describe('A judge of this deployment. Default: the one it names as default.'),
      }),
      annotations: { ...READ_ONLY, openWorldHint: true },
    },
    async (request) => replied(await ask('/v1/score', { ...request, on_judge_failure: 'null' }), explainReward),
  );
  server.registerTool(
    'list_recipes',
    {
      title: 'List recipes',
      description:
        'Lists the named recipes: how a reward is composed of its components, and from which model it comes.',
      inputSchema: z.object({}),
      annotations: READ_ONLY,
    },
    async () => recipesReply(await ask('/v1/recipes')),
  );
  server.registerTool(
    'replay_run',
    {
      title: 'Replay a run under another recipe',
      description:
        'Recomputes the rewards and advantages of a recorded run under another recipe, from stored judgments and ' +
        'without a judge call. Rewards that need something unrecorded are missing, not 0.',
      inputSchema: z.object({
        ...runFields,
        recipe: z
          .union([z.string(), z.record(z.string(), z.unknown())])
          .describe("A name, a recipe, {base: NAME, …}, or {set: {…}}: the run's own recipe with some fields changed."),
      }),
      annotations: READ_ONLY,
    },
    async ({ run, recipe }) => {
      const reply = await ask(`/v1/runs/${pathSegment(run)}/replay`, { recipe });
      return reply.ok ? replayed(reply) : refused(reply);
    },
  );
  server.registerTool(
    'explain_reward',
    {
      title: 'Explain a recorded reward',
      description: 'Says why a rollout of a recorded run has its reward: parts, criteria not met, claims, findings.',
      inputSchema: z.object({
        ...runFields,
        step: z.union([z.int().min(0), z.literal('none')]).describe('none: it was recorded without a step.'),
        group: z.string().min(1),
        sample: z.string().min(1),
      }),
      annotations: READ_ONLY,
    },
    async ({ run, step, group, sample }) => {
      const query = new URLSearchParams({ step: String(step), group, sample, detail: 'true' });
      const reply = await ask(`/v1/runs/${pathSegment(run)}/rollouts?${query}`);
      if (!reply.ok) return refused(reply);
      const { rollouts } = rolloutsSchema.parse(await reply.json());
      const [rollout] = rollouts;
      if (rollout === undefined) return problem('The run has no rollout with this step, group and sample.');
      const explained = explainReward(rollout.detail?.report) ?? explainReward(unreported(rollout));
      return said(explained ?? 'The record of this rollout cannot be explained.', rollout);
    },
  );
}

const rolloutsSchema = z.object({
  rollouts: z.array(
    z.looseObject({
      reward: z.number().nullable(),
      reason: z.string().nullish(),
      components: z.record(z.string(), z.number().nullable()),
      detail: z.looseObject({ report: z.unknown() }).nullish(),
    }),
  ),
});

/** A row of which no report was kept, as after an import, in the form of a reply. */
function unreported({ reward, reason, components }: z.infer<typeof rolloutsSchema>['rollouts'][number]): unknown {
  const parts = Object.entries(components).map(([name, value]) => [name, { value }]);
  return { reward, reason, components: Object.fromEntries(parts) };
}

const verificationSchema = z.object({
  claims: z.array(
    z.object({
      text: z.string(),
      ids: z.array(z.object({ id: z.string() })),
      findings: z.array(z.string()),
      evidence: z.object({ support: z.number() }).optional(),
    }),
  ),
  statements: z.array(z.object({ text: z.string() })),
  finding_counts: z.record(z.string(), z.number()),
});

function verificationText(reply: unknown): string | null {
  const parsed = verificationSchema.safeParse(reply);
  if (!parsed.success) return null;
  const { claims, statements, finding_counts } = parsed.data;
  const found = Object.entries(finding_counts).filter(([, count]) => count > 0);
  return [
    `${claims.length} cited claims, ${statements.length} uncited statements.`,
    ...listed(claims, ({ text, ids, findings, evidence }) => {
      const support = evidence === undefined ? '' : ` support ${evidence.support.toFixed(2)}`;
      const remarks = findings.length === 0 ? '' : ` (${findings.join(', ')})`;
      return `- [${listed(ids, ({ id }) => quotedName(id)).join(', ')}]${support}${remarks}: ${quotedLine(text)}`;
    }),
    ...listed(statements, ({ text }) => `- uncited: ${quotedLine(text)}`),
    ...(found.length === 0 ? [] : [`Findings: ${found.map(([name, count]) => `${name} ${count}`).join(', ')}`]),
  ].join('\n');
}

const catalogueSchema = z.object({
  recipes: z.array(
    z.object({
      name: z.string(),
      family: z.string(),
      model: z.string().nullable(),
      summary: z.string(),
      formula: z.array(z.string()),
      reward_range: z.tuple([z.number().nullable(), z.number().nullable()]),
    }),
  ),
});

/** The recipes without their parameters, which would fill the context of a model. */
async function recipesReply(reply: Response): Promise<CallToolResult> {
  if (!reply.ok) return refused(reply);
  const { recipes } = catalogueSchema.parse(await reply.json());
  return said(recipes.map(({ name, family, summary }) => `- ${name} (${family}): ${summary}`).join('\n'), { recipes });
}

/** Lines of a replay that a tool returns: a run has any number of groups, and each has a line. */
const MAX_REPLAY_LINES = 1_000;
/** Longest line of a replay; the summary names a few rollouts and has figures for each component. */
const MAX_REPLAY_LINE_BYTES = 1024 * 1024;

const replayLineSchema = z.looseObject({ kind: z.string() });

/** The first lines of a replay and its last one, which says how it ended, in one result. */
async function replayed({ body }: Response): Promise<CallToolResult> {
  if (body === null) return problem('The replay ended early.');
  const lines: z.infer<typeof replayLineSchema>[] = [];
  let last: z.infer<typeof replayLineSchema> | null = null;
  let left_out = 0;
  for await (const line of readLines(body, MAX_REPLAY_LINE_BYTES)) {
    if (!line.ok) return problem('The replay has a line that is too long.');
    last = replayLineSchema.parse(JSON.parse(line.value));
    if (lines.length < MAX_REPLAY_LINES || last.kind === 'summary') lines.push(last);
    else left_out++;
  }
  if (last === null || last.kind === 'error') return problem(quotedJson(last ?? 'The replay ended early.'));
  return said(quotedJson(last), { lines, ...(left_out === 0 ? {} : { left_out }) });
}

/** A reply as the result of a tool: in words where `describe` has any, and as it is. */
async function replied(reply: Response, describe: (body: unknown) => string | null): Promise<CallToolResult> {
  if (!reply.ok) return refused(reply);
  const body = z.record(z.string(), z.unknown()).parse(await reply.json());
  return said(describe(body) ?? quotedJson(body), body);
}

/** A problem of a route, which repeats names of the caller's fields, as the error of a tool. */
async function refused(reply: Response): Promise<CallToolResult> {
  return problem(quotedJson(await reply.json()));
}

function said(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent };
}

function problem(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
