/** Checks that the backend is reachable, requires a key, and serves the model with enough context for judge prompts. */
import { shortened, unexpected } from '../chat.ts';
import { type Reply, send, type Target } from '../connection.ts';
import { type Finding, fail, notReported, pass, type Requirement } from '../finding.ts';
import type { Probe } from '../probe.ts';
import { readModels, type ServedModel } from '../wire.ts';

export const HEALTH: Requirement = {
  id: 'health',
  title: 'GET /health answers 200',
  change: 'Start the engine, or wait: loading a model takes minutes. 503 = the engine has died; restart the container.',
};

export async function checkHealth(target: Target): Promise<Finding> {
  const reply = await send(target, { method: 'GET', path: '/health' });
  if (reply.status === 200) return pass(HEALTH, `200 in ${Math.round(reply.ms)} ms`);
  // The server of llama-cpp-python and others have no such path.
  if (reply.status === 404) return notReported(HEALTH, 'HTTP 404', 'Watch another path of this server.');
  const accessHint = 'Cloudflare Access answered in place of the backend: pass --header for its service token.';
  const redirected = reply.status >= 300 && reply.status < 400;
  return fail(HEALTH, unexpected(reply).message, redirected || isHtml(reply) ? accessHint : undefined);
}

function isHtml({ type }: Reply): boolean {
  return type.includes('text/html');
}

export const KEY: Requirement = {
  id: 'key',
  title: 'requests without the key are refused',
  change: 'Start vLLM with --api-key, or set VLLM_API_KEY in .env.',
};

export async function checkKey({ target, model }: Probe): Promise<Finding> {
  const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 };
  const reply = await send(target, { method: 'POST', path: '/v1/chat/completions', body, authorized: false });
  if (reply.status === 401 || reply.status === 403) return pass(KEY, `HTTP ${reply.status} without a key`);
  return fail(KEY, `HTTP ${reply.status} without a key`);
}

export const CLOSED_PATHS: Requirement = {
  id: 'closed_paths',
  title: 'paths without key protection are closed',
  change: 'Put the allow-listing proxy of gpu-backend/proxy in front: vLLM guards /v1 only.',
};

/** Paths of vLLM that its API key does not protect, and that use the GPU, reveal secrets or stop the engine. */
const UNGUARDED = [
  { method: 'POST', path: '/invocations', body: {} },
  { method: 'POST', path: '/tokenize', body: {} },
  { method: 'POST', path: '/score', body: {} },
  { method: 'GET', path: '/server_info' },
  { method: 'GET', path: '/metrics' },
] as const;

export async function checkClosedPaths({ target }: Probe): Promise<Finding> {
  const open: string[] = [];
  for (const call of UNGUARDED) {
    const { status } = await send(target, { ...call, authorized: false });
    // A 400 or 422 comes from the handler: the path is open, and the handler refused only the empty body.
    if (![401, 403, 404, 405].includes(status)) open.push(`${call.method} ${call.path} (${status})`);
  }
  if (open.length === 0) return pass(CLOSED_PATHS, `${UNGUARDED.length} paths refused without a key`);
  return fail(CLOSED_PATHS, `open without a key: ${open.join(', ')}`);
}

export const MODEL: Requirement = {
  id: 'model',
  title: 'the model is served under its name',
  change: 'Start vLLM with --served-model-name NAME, and use the same name in the Worker.',
};

export type ServedModels =
  | { readonly ok: true; readonly model: ServedModel; readonly finding: Finding }
  | { readonly ok: false; readonly finding: Finding };

/** Finds the requested model, or the first one. */
export async function checkModel(target: Target, wanted: string | null): Promise<ServedModels> {
  const reply = await send(target, { method: 'GET', path: '/v1/models' });
  const models = reply.status === 200 ? readModels(reply.json) : null;
  if (models === null) {
    const hint = reply.status === 401 ? 'Pass the right --key.' : undefined;
    return { ok: false, finding: fail(MODEL, unexpected(reply).message, hint) };
  }
  const names = models.map(({ id }) => shortened(id)).join(', ');
  const model = wanted === null ? models[0] : models.find(({ id }) => id === wanted);
  if (model === undefined) {
    return { ok: false, finding: fail(MODEL, names === '' ? 'no model is served' : `served are: ${names}`) };
  }
  return { ok: true, model, finding: pass(MODEL, `${shortened(model.id)}${models.length > 1 ? ` of ${names}` : ''}`) };
}

const CONTEXT: Requirement = {
  id: 'context',
  title: 'the context holds a judge prompt',
  change: 'Start vLLM with --max-model-len 32768.',
};

export function checkContext({ context_tokens }: ServedModel, needed: number): Finding {
  if (context_tokens === null) return notReported(CONTEXT, 'the list of models does not say how long the context is');
  const saw = `${context_tokens} tokens; ${needed} are needed`;
  return context_tokens >= needed ? pass(CONTEXT, saw) : fail(CONTEXT, saw);
}
