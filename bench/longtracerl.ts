/** LongTraceRL's public reward server: a request of `POST /evaluate`, and a minimal FastAPI server with its shape. */
import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { freePort } from './load.ts';
import type { Server } from './local-worker.ts';
import { typicalRollout } from './typical-rollout.ts';

/** The path of the adapter. */
export const LONGTRACERL_PATH = '/v1/adapters/longtracerl/evaluate';

/** Debian's packages belong to its own Python, which another `python3` on the path can hide. */
const PYTHONS = ['python3', '/usr/bin/python3'] as const;

/** Says why a ratio to FastAPI is missing. */
export const NO_FASTAPI = 'skipped: no python3 has fastapi and uvicorn (Debian: python3-fastapi, python3-uvicorn)';

/** Starts the FastAPI server; `null` if no Python has FastAPI and uvicorn. */
export async function startFastApi(): Promise<(Server & { readonly stop: () => void }) | null> {
  const script = resolve(import.meta.dirname, 'longtracerl-server.py');
  const python = PYTHONS.find((name) => spawnSync(name, ['-c', 'import fastapi, uvicorn']).status === 0);
  if (python === undefined) return null;
  const port = await freePort();
  const server = spawn(python, [script, String(port)], { stdio: 'ignore' });
  return { port, pid: server.pid ?? null, stop: () => server.kill('SIGKILL') };
}

/** A request with about `chars` characters of context. */
export function longTraceBody(chars: number): string {
  const { tool_output } = typicalRollout();
  const context = tool_output.repeat(Math.ceil(chars / tool_output.length)).slice(0, chars);
  return JSON.stringify({
    label: 'the Aare',
    extra_reward_info: {
      question: 'Which river flows through Bern?',
      dataset_name: 'longqa',
      rubrics: ['Aare', 'Bern', 'Koblenz', 'Rhine'],
      rubric_reward_ratio: 0.3,
      rubric_use_reasoning_content: false,
      rubric_use_content: true,
    },
    history: [
      { role: 'user', content: `${context} Which river flows through Bern?` },
      { role: 'assistant', reasoning_content: 'It joins the Rhine near Koblenz.', content: 'The Aare, in Bern.' },
    ],
  });
}
