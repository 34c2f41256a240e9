/**
 * A typed client of the HTTP API. Replies and failures are values; network and server errors do not throw. It uses no
 * Node API, so it runs in Node, Workers and browsers.
 */

import type * as z from 'zod';
import { type AgentResponse, agentResponseSchema } from '../../src/wire/agent-reply.ts';
import { type CompareResponse, type compareRequestSchema, compareResponseSchema } from '../../src/wire/compare.ts';
import {
  type GroupResponse,
  type GroupRewardResponse,
  type groupRequestSchema,
  groupResponseSchema,
  groupRewardResponseSchema,
} from '../../src/wire/groups.ts';
import { healthSchema } from '../../src/wire/health.ts';
import { type IssuerKeysReply, issuerKeysSchema } from '../../src/wire/judgment-files.ts';
import {
  type MakeRubricsReply,
  makeRubricsReplySchema,
  type makeRubricsRequestSchema,
} from '../../src/wire/make-rubrics.ts';
import { type ProbeReply, probeReplySchema, type probeRequestSchema } from '../../src/wire/probe.ts';
import { recipesResponseSchema } from '../../src/wire/recipes.ts';
import { type RefineResponse, refineResponseSchema } from '../../src/wire/refine.ts';
import type { ReplayInput } from '../../src/wire/replay.ts';
import type { scoreRequestSchema } from '../../src/wire/score.ts';
import { type ScoreResponse, scoreResponseSchema } from '../../src/wire/score.ts';
import { type RewardResponse, rewardResponseSchema } from '../../src/wire/score-detail.ts';
import { type verifyQuerySchema, type verifyRequestSchema, verifyResponseSchema } from '../../src/wire/verify.ts';
import { type AgentInput, type AgentStreamEvent, agentStream } from './agent.ts';
import { type ApiKeysClient, createApiKeys } from './api-keys.ts';
import { type BatchesClient, createBatches } from './batches.ts';
import { createConnection } from './connection.ts';
import { createFiles, createUploads, type FilesClient, type UploadsClient } from './files.ts';
import { createProjects, type ProjectsClient } from './projects.ts';
import { type RefineInput, type RefineStreamEvent, refineStream } from './refine.ts';
import { type ReceivedReplayLine, replayRun } from './replay.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';
import { createRuns, type RunsClient } from './runs.ts';
import { DEFAULT_TRANSPORT, type TransportOptions } from './transport.ts';
import {
  type Pieces,
  type VerifyStreamEvent,
  type VerifyStreamHeadInput,
  type VerifyStreamOptions,
  verifyStream,
} from './verify-stream.ts';
import { createWebhooks, type WebhooksClient } from './webhooks.ts';

/** Fields with `messages` of any type: the interfaces of SDKs are no record types. */
type Conversational<Fields> = Omit<Fields, 'messages'> & { readonly messages?: readonly object[] | string };
type GroupFields = z.input<typeof groupRequestSchema>;
type CompareFields = z.input<typeof compareRequestSchema>;

/** The request of `POST /v1/rubrics`. */
export type MakeRubricsInput = z.input<typeof makeRubricsRequestSchema>;
/** The request of `POST /v1/score`. */
export type ScoreInput = Conversational<z.input<typeof scoreRequestSchema>>;
/** The request of `POST /v1/groups`. */
export type GroupInput = Omit<GroupFields, 'responses'> & {
  readonly responses: readonly (string | Conversational<Exclude<GroupFields['responses'][number], string>>)[];
};
/** The request of `POST /v1/compare`. */
export type CompareInput = Omit<CompareFields, 'responses'> & {
  readonly responses: readonly (string | Conversational<Exclude<CompareFields['responses'][number], string>>)[];
};
type ProbeFields = z.input<typeof probeRequestSchema>;
type ProbeRowFields = ProbeFields['rows'][number];
/** The request of `POST /v1/recipes/probe`. */
export type ProbeInput = Omit<ProbeFields, 'rows'> & {
  readonly rows: readonly (Omit<ProbeRowFields, 'responses'> & {
    readonly responses?: readonly (
      | string
      | Conversational<Exclude<NonNullable<ProbeRowFields['responses']>[number], string>>
    )[];
  })[];
};
/** The request of `POST /v1/verify`. */
export type VerifyInput = z.input<typeof verifyRequestSchema>;
/** `evidence` and `offsets` of a verification. */
export type VerifyOptions = Partial<z.infer<typeof verifyQuerySchema>>;
/** The reply of `POST /v1/verify`. */
export type VerifyReply = z.infer<typeof verifyResponseSchema>;
/** The named recipes with their parameters. */
export type RecipesReply = z.infer<typeof recipesResponseSchema>;

/** The Worker, its API key, and how requests are sent. */
export type ClientOptions = {
  readonly url: URL;
  /** The API key; `null` = requests carry no Authorization header. */
  readonly key: string | null;
  readonly transport?: Partial<TransportOptions>;
};

/** A request for the short reply. */
export type RewardOnly<Input> = Omit<Input, 'detail'> & { readonly detail: 'reward' };
/** A request for the full reply. */
export type Full<Input> = Omit<Input, 'detail'> & { readonly detail?: 'full' | undefined };

/** The routes of a Worker as functions. Each returns a `Reply`; none throws for a failed request. */
export type Client = {
  /** Checks that a Worker answers at the URL, in one attempt. */
  health(): Promise<Reply<{ status: 'ok' }>>;
  /** Lists the named recipes with their formulas and the origin of each parameter. */
  recipes(): Promise<Reply<RecipesReply>>;
  /**
   * Says what a recipe pays for canned answers to rows of training data, beside their best known answers. At most 16 rows
   * a request; `detail: 'rows'` returns what a report on several requests needs.
   */
  probeRecipe(request: ProbeInput): Promise<Reply<ProbeReply>>;
  /** Lists the public keys that verify judgments and receipts of this deployment. */
  keys(): Promise<Reply<IssuerKeysReply>>;
  /** Scores one rollout. With `detail: 'reward'` the reply has the reward and its components, without reports. */
  score(request: RewardOnly<ScoreInput>): Promise<Reply<RewardResponse>>;
  score(request: Full<ScoreInput>): Promise<Reply<ScoreResponse>>;
  /** Scores the samples of one prompt: rewards and advantages. `detail` is as in `score`. */
  group(request: RewardOnly<GroupInput>): Promise<Reply<GroupRewardResponse>>;
  group(request: Full<GroupInput>): Promise<Reply<GroupResponse>>;
  /** Compares the answers to one question in pairs. An answer's reward is its win rate. */
  compare(request: CompareInput): Promise<Reply<CompareResponse>>;
  /** Verifies citations without a judge. Defaults: `evidence` `none`, `offsets` `utf16`. */
  verify(request: VerifyInput, options?: VerifyOptions): Promise<Reply<VerifyReply>>;
  /**
   * Verifies a response while it is written: sends `pieces` and yields events up to `done`, `error` or `lost`. The
   * request is not retried. Ending the iteration early closes the connection and stops reading `pieces`.
   */
  verifyStream(
    head: VerifyStreamHeadInput,
    pieces: Pieces,
    options?: VerifyStreamOptions,
  ): Promise<Reply<AsyncGenerator<VerifyStreamEvent, void>>>;
  /** Lets a model write criteria for a question. Not an error: a model that finds nothing to add. */
  makeRubrics(request: MakeRubricsInput): Promise<Reply<MakeRubricsReply>>;
  /** Generates answers to a question over tool output: verified, scored if a recipe is given, best first. */
  refine(request: RefineInput): Promise<Reply<RefineResponse>>;
  /**
   * Streams `refine`; the last event is `done`, `error` or `lost`. Ending the iteration early closes the connection and
   * stops the policy.
   */
  refineStream(request: RefineInput): Promise<Reply<AsyncGenerator<RefineStreamEvent, void>>>;
  /**
   * Runs a policy with tools and scores the trajectory if there is a reference or tests. Not retried after a lost
   * reply.
   */
  agent(request: AgentInput): Promise<Reply<AgentResponse>>;
  /**
   * Streams `agent`, with a longer time limit; the last event is `done`, `error` or `lost`. Ending the iteration early
   * closes the connection and stops policy and sandbox.
   */
  agentStream(request: AgentInput): Promise<Reply<AsyncGenerator<AgentStreamEvent, void>>>;
  /**
   * Recomputes the rewards and advantages of a run under another recipe; yields lines while the Worker reads the run.
   */
  replayRun(run: string, request: ReplayInput): Promise<Reply<AsyncGenerator<ReceivedReplayLine, void>>>;
  readonly files: FilesClient;
  readonly uploads: UploadsClient;
  readonly batches: BatchesClient;
  readonly runs: RunsClient;
  readonly apiKeys: ApiKeysClient;
  readonly projects: ProjectsClient;
  readonly webhooks: WebhooksClient;
};

const HEALTH_TIMEOUT_MS = 10_000;
/** Time limit of a probe: covers the deadline of all its judge calls. */
const PROBE_TIMEOUT_MS = 120_000;
/** Time limit of a refine request: covers the full time limits of generating and of judging, one after the other. */
const REFINE_TIMEOUT_MS = 180_000;
/** Time limit of an agent request: covers the full time limits of the agent and of judging. */
const AGENT_TIMEOUT_MS = 200_000;

/**
 * Creates a client of one Worker. Nothing is sent before the first call. Calls retry 429, 503 and broken connections.
 *
 * @example
 * ```ts
 * import { createClient } from 'citeward/client';
 *
 * const client = createClient({ url: new URL('http://127.0.0.1:8799'), key: null });
 * const reply = await client.health();   // { ok: true, body }, or { ok: false, failure }
 * if (!reply.ok) console.error(reply.failure);
 * ```
 */
export function createClient({ url, key, transport }: ClientOptions): Client {
  const connection = createConnection(url, key, { ...DEFAULT_TRANSPORT, ...transport });
  const uploads = createUploads(connection);
  function score(request: RewardOnly<ScoreInput>): Promise<Reply<RewardResponse>>;
  function score(request: Full<ScoreInput>): Promise<Reply<ScoreResponse>>;
  function score(request: ScoreInput): Promise<Reply<ScoreResponse | RewardResponse>> {
    const schema = request.detail === 'reward' ? rewardResponseSchema : scoreResponseSchema;
    return connection.post(routePath('POST /v1/score', {}), { json: request }, schema);
  }
  function group(request: RewardOnly<GroupInput>): Promise<Reply<GroupRewardResponse>>;
  function group(request: Full<GroupInput>): Promise<Reply<GroupResponse>>;
  function group(request: GroupInput): Promise<Reply<GroupResponse | GroupRewardResponse>> {
    const schema = request.detail === 'reward' ? groupRewardResponseSchema : groupResponseSchema;
    return connection.post(routePath('POST /v1/groups', {}), { json: request }, schema);
  }
  return {
    health: () =>
      connection.get(routePath('GET /healthz', {}), healthSchema, { attempts: 1, timeout_ms: HEALTH_TIMEOUT_MS }),
    recipes: () => connection.get(routePath('GET /v1/recipes', {}), recipesResponseSchema),
    probeRecipe: (request) =>
      connection.post(routePath('POST /v1/recipes/probe', {}), { json: request }, probeReplySchema, {
        timeout_ms: PROBE_TIMEOUT_MS,
      }),
    keys: () => connection.get(routePath('GET /v1/keys', {}), issuerKeysSchema),
    score,
    group,
    compare: (request) => connection.post(routePath('POST /v1/compare', {}), { json: request }, compareResponseSchema),
    verify: (request, { evidence, offsets } = {}) =>
      connection.post(routePath('POST /v1/verify', {}, { evidence, offsets }), { json: request }, verifyResponseSchema),
    verifyStream: (head, pieces, options = {}) => verifyStream(connection, head, pieces, options),
    makeRubrics: (request) =>
      connection.post(routePath('POST /v1/rubrics', {}), { json: request }, makeRubricsReplySchema, {
        timeout_ms: REFINE_TIMEOUT_MS,
      }),
    refine: (request) =>
      connection.post(routePath('POST /v1/refine', {}), { json: { ...request, stream: false } }, refineResponseSchema, {
        timeout_ms: REFINE_TIMEOUT_MS,
      }),
    refineStream: (request) => refineStream(connection, request),
    agent: (request) =>
      connection.post(routePath('POST /v1/agent', {}), { json: { ...request, stream: false } }, agentResponseSchema, {
        timeout_ms: AGENT_TIMEOUT_MS,
        repeats_lost: false,
      }),
    agentStream: (request) => agentStream(connection, request),
    replayRun: (run, request) => replayRun(connection, run, request),
    files: createFiles(connection, uploads),
    uploads,
    batches: createBatches(connection),
    runs: createRuns(connection),
    apiKeys: createApiKeys(connection),
    projects: createProjects(connection),
    webhooks: createWebhooks(connection),
  };
}
