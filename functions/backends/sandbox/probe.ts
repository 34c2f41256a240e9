/** Asking a sandbox how it is: a ping with our credentials. Runs nothing. */
import type { JudgeFailure } from '../../../src/judgments/types.ts';
import type { SandboxConfig } from '../config.ts';
import { withDeadline } from '../deadline.ts';
import { BrokenBodyError, readText } from '../vllm/bounded-body.ts';
import { credentials } from '../vllm/request.ts';
import type { Transport } from '../vllm/transport.ts';
import { faultOfStatus, type SandboxFault, sandboxFailure } from './failures.ts';

const PROBE_DEADLINE_MS = 5_000;
const MAX_PONG_BYTES = 64;
/** SandboxFusion's own path, and the one under which gpu-backend/proxy shows it. */
const PATHS = ['/v1/ping', '/health'] as const;

/** Why the sandbox is not there; `null` if it answers as one. Never rejects. */
export async function probeSandbox(config: SandboxConfig, transport: Transport): Promise<JudgeFailure | null> {
  const result = await withDeadline(PROBE_DEADLINE_MS, async (signal) => {
    let fault: SandboxFault | null = null;
    for (const path of PATHS) {
      fault = await ping(`${config.base_url}${path}`, config, transport, signal);
      if (fault !== 'refused') break;
    }
    return fault;
  });
  const fault = result.expired ? 'timed_out' : result.value;
  return fault === null ? null : sandboxFailure(fault);
}

async function ping(
  url: string,
  config: SandboxConfig,
  transport: Transport,
  signal: AbortSignal,
): Promise<SandboxFault | null> {
  let response: Response;
  try {
    response = await transport(url, { headers: credentials(config), redirect: 'manual', signal });
  } catch {
    return signal.aborted ? 'timed_out' : 'unreachable';
  }
  if (response.status !== 200) return faultOfStatus(response.status);
  try {
    const text = await readText(response.body, MAX_PONG_BYTES);
    return text !== null && ['pong', '"pong"'].includes(text.trim()) ? null : 'not_an_api';
  } catch (error) {
    if (!(error instanceof BrokenBodyError)) throw error;
    return signal.aborted ? 'timed_out' : 'broke_off';
  }
}
