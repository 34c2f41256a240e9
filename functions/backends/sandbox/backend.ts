/** The sandbox as a backend: its judge, run and counted by the JudgeDesk, and its health. */
import type { Backend, BackendHealth } from '../backend.ts';
import type { SandboxConfig } from '../config.ts';
import { type BindingOf, transportOf } from '../vllm/transport.ts';
import { createSandboxJudge, type SandboxClock } from './judge.ts';
import { probeSandbox } from './probe.ts';

const CLOCK: SandboxClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/** The backend of a configuration. */
export function sandboxBackend(config: SandboxConfig, bindingOf: BindingOf, clock: SandboxClock = CLOCK): Backend {
  const transport = transportOf(config.vpc_binding, bindingOf);
  const judge = createSandboxJudge(config, transport, clock);
  let last: string | null = null;
  return {
    judge: {
      ...judge,
      async judge(request, options) {
        const reply = await judge.judge(request, options);
        // What a comparison leaves open is no fault of the sandbox.
        if (!reply.ok && reply.failure.reason !== 'equivalence_undecided') last = reply.failure.reason;
        return reply;
      },
    },
    runs_in: 'desk',
    slots: config.slots,
    async health(): Promise<BackendHealth> {
      const failure = await probeSandbox(config, transport);
      return {
        reachable: failure === null,
        model_present: null,
        last_error: failure?.reason ?? last,
        routes: [],
      };
    },
  };
}
