/** An agent whose turns and sandbox replies are scripted by the test. */
import { type LoopOptions, NO_OBSERVER, runTrajectory } from '../../../service/trajectory.ts';
import type { ToolOutput } from '../../../src/agent/code-interpreter.ts';
import { AgentLoop, type CodeOutcome } from '../../../src/agent/loop.ts';
import type { GenerationEnd, GenerationEvent, Generator } from '../../../src/generation/generator.ts';
import type { TokenUsage } from '../../../src/judgments/protocol/failure.ts';
import type { RunCode } from '../../../src/judgments/sandbox/run-code.ts';
import { scripted } from '../generation/scripted-generator.ts';
import { type AgentSettingsInput, settingsWith } from './settings.ts';

export type Turn = readonly (GenerationEvent | GenerationEnd)[];

/** A Hermes call in the text. */
export function callText(code: string): string {
  return `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`;
}

/** A turn of text. @param usage the server's count; absent = it counts none. */
export function says(text: string, finish_reason = 'stop', usage?: TokenUsage): Turn {
  return [
    { type: 'text', choice: 0, text },
    { type: 'finish', choice: 0, finish_reason },
    ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
  ];
}

/** A turn whose calls the server parsed. */
export function callsNatively(
  text: string,
  ...calls: readonly { id: string; name: string; arguments: string }[]
): Turn {
  return [
    { type: 'text', choice: 0, text },
    ...calls.map((call) => ({ type: 'tool_call', choice: 0, call }) as const),
    { type: 'finish', choice: 0, finish_reason: 'tool_calls' },
  ];
}

export function prints(text: string): CodeOutcome {
  return { ok: true, output: { outcome: 'finished', text } };
}

export function ends(outcome: ToolOutput['outcome'], text: string): CodeOutcome {
  return { ok: true, output: { outcome, text } };
}

export const SANDBOX_DOWN: CodeOutcome = {
  ok: false,
  failure: { reason: 'sandbox_unreachable', detail: 'the sandbox cannot be reached', retryable: true },
};

export const GENERATOR_DOWN: GenerationEnd = {
  ok: false,
  error: { reason: 'generator_unreachable', detail: 'the backend cannot be reached', retryable: true },
};

export type Played = {
  readonly loop: AgentLoop;
  /** Programs that ran, in order. */
  readonly runs: readonly RunCode[];
  readonly calls: ReturnType<typeof scripted>['calls'];
  readonly events: readonly { readonly name: string; readonly data: unknown }[];
};

export type Play = {
  readonly turns: readonly Turn[];
  readonly outputs?: readonly CodeOutcome[];
  readonly settings?: AgentSettingsInput;
  readonly generator?: Partial<Generator>;
  readonly options?: Partial<LoopOptions>;
};

/** Plays the script to its end. @throws Error if the agent continues beyond it. */
export async function played({
  turns,
  outputs = [],
  settings = {},
  generator = {},
  options = {},
}: Play): Promise<Played> {
  const { generator: made, calls } = scripted((_, call) => {
    const turn = turns[call];
    if (turn === undefined) throw new Error(`no turn ${call + 1} in the script`);
    return turn;
  }, generator);
  const runs: RunCode[] = [];
  const events: { name: string; data: unknown }[] = [];
  const loop = new AgentLoop(settingsWith(settings), made);
  await runTrajectory(loop, {
    generator: made,
    runCode: async (run) => {
      runs.push(run);
      const output = outputs[runs.length - 1];
      if (output === undefined) throw new Error(`no output ${runs.length} in the script`);
      return output;
    },
    observer: { ...NO_OBSERVER, send: (name, data) => void events.push({ name, data }) },
    caller: new AbortController().signal,
    deadline_ms: 60_000,
    elapsed: () => 0,
    ...options,
  });
  return { loop, runs, calls, events };
}

/** The stop condition, and the contents of the messages. */
export function outcomeOf({ loop }: Played) {
  const { step } = loop;
  if (step.kind !== 'stopped') throw new Error('the loop goes on');
  return { stop: step.stop, failure: step.failure?.reason ?? null, num_turns: loop.numTurns };
}

export function toolMessages({ loop }: Played) {
  return loop.messages.flatMap((message) => (message.role === 'tool' ? [message] : []));
}

export function assistantMessages({ loop }: Played) {
  return loop.messages.flatMap((message) => (message.role === 'assistant' ? [message] : []));
}
