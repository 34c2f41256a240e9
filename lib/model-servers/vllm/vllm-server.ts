/** An OpenAI-compatible server: its configuration, its URLs and a health check. */

import * as z from 'zod';
import { parsedJson } from '../../../src/json.ts';
import { type ChatDialect, dialectRow, type Refusable } from '../../../src/judgments/chat-dialects.ts';
import type { JudgeFailure } from '../../../src/judgments/protocol/failure.ts';
import { withDeadline } from '../calls/deadline.ts';
import { backendFault, judgeFailureOf, type SharedFault } from '../calls/failures.ts';
import type { Generating, JudgeTimes, ModelConfig } from '../calls/model-config.ts';
import { readText } from '../calls/response-body.ts';
import { credentials, type ServerConfig } from '../calls/server-address.ts';
import type { Transport } from '../calls/transport.ts';
import { faultOfStatus } from '../dialects/error-reply.ts';

export type VllmConfig = ModelConfig &
  JudgeTimes &
  ServerConfig & {
    readonly kind: 'vllm';
    /** Default `vllm`. */
    readonly dialect?: ChatDialect;
    /** Parameters of the dialect that the server refuses. Default: none. */
    readonly refuses?: readonly Refusable[];
    /** Azure's `api-version`, in the query of every URL. Absent: none. */
    readonly api_version?: string;
    /** The request field for the length limit of a reply. */
    readonly length_field: 'max_completion_tokens' | 'max_tokens';
  };

/** An OpenAI-compatible server that generates. */
export type VllmGeneratorConfig = VllmConfig &
  Generating & {
    /** Whether the server supports `n`, several choices per request. If not, each choice is a request of its own. */
    readonly native_n: boolean;
  };

/** The URL of chat completions. */
export function completionsUrl({ base_url, api_version }: Addressed): string {
  return withVersion(`${base_url}/chat/completions`, api_version);
}

type Addressed = Pick<VllmConfig, 'base_url' | 'api_version'>;

function withVersion(url: string, version: string | undefined): string {
  return version === undefined ? url : `${url}?api-version=${encodeURIComponent(version)}`;
}

/** The URL of the list of models. */
export function modelsUrl({ base_url, api_version }: Addressed): string {
  // Azure lists the models of the resource, not below a deployment.
  return withVersion(`${base_url.replace(/\/deployments\/[^/]+$/, '')}/models`, api_version);
}

/** The headers with the key of the server, as its dialect names it. */
export function serverHeaders(config: Pick<VllmConfig, 'dialect' | 'api_key' | 'access'>): Record<string, string> {
  const { authorization, ...others } = credentials(config);
  if (authorization === undefined || config.api_key === null) return others;
  const { key_header } = dialectRow(config.dialect ?? 'vllm');
  return { [key_header]: key_header === 'api-key' ? config.api_key : authorization, ...others };
}

/** The result of a health check. */
export type Probe = {
  /** The server answers with the expected API and accepts the credentials. */
  readonly reachable: boolean;
  /** Whether the server lists the configured model; `null` = unknown. */
  readonly model_present: boolean | null;
  readonly failure: JudgeFailure | null;
};

const PROBE_DEADLINE_MS = 5_000;
const MAX_MODEL_LIST_BYTES = 1024 * 1024;

const modelListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

type ProbedServer = Pick<VllmConfig, keyof ServerConfig | 'model' | 'dialect' | 'api_version'>;

/** The result of a health check whose fault is not yet a failure of a judge or a generator. */
type ServerState = Omit<Probe, 'failure'> & { readonly fault: SharedFault | null };

/** Checks the server of a judge. Never rejects. */
export async function probeServer(config: ProbedServer, transport: Transport): Promise<Probe> {
  const { reachable, model_present, fault } = await askServer(config, transport);
  return { reachable, model_present, failure: fault === null ? null : judgeFailureOf(fault) };
}

/** Asks the server for its models (`GET /models`), which costs no GPU time. Never rejects. */
export async function askServer(config: ProbedServer, transport: Transport): Promise<ServerState> {
  const result = await withDeadline(PROBE_DEADLINE_MS, (signal) => listModels(config, transport, signal));
  if (result.expired) return unreachable(backendFault('timeout', 'the list of models did not come in time'));
  return result.value;
}

async function listModels(config: ProbedServer, transport: Transport, signal: AbortSignal): Promise<ServerState> {
  let text: string | null;
  try {
    const response = await transport(modelsUrl(config), {
      headers: { accept: 'application/json', ...serverHeaders(config) },
      redirect: 'manual',
      signal,
    });
    if (response.status !== 200) return unreachable(faultOfStatus(response.status, null, null));
    text = await readText(response.body, MAX_MODEL_LIST_BYTES);
  } catch {
    return unreachable(backendFault('unreachable', 'the backend cannot be reached'));
  }
  const listed = text === null ? null : modelsIn(text);
  if (listed === null) return unreachable(backendFault('not_an_api', 'no list of models came back'));
  // Azure names models, and requests name deployments.
  const model_present = config.dialect === 'azure' ? null : listed.includes(config.model);
  return { reachable: true, model_present, fault: null };
}

function modelsIn(text: string): readonly string[] | null {
  const parsed = modelListSchema.safeParse(parsedJson(text));
  return parsed.success ? parsed.data.data.map(({ id }) => id) : null;
}

function unreachable(fault: SharedFault): ServerState {
  return { reachable: false, model_present: null, fault };
}
