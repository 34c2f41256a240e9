/** One process of workerd: its start, its log and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { HTTP_SOCKET } from './configuration.ts';
import { type LogLine, onLogLine } from './log-lines.ts';
import type { ServeProcess } from './processes.ts';

export type WorkerdProcess = {
  readonly plan: ServeProcess;
  readonly pid: number;
  /** Resolves when all its sockets listen, with the port of the one for callers; `null` = it has none. */
  readonly listening: Promise<number | null>;
  /** Resolves when it has ended, with what ended it. */
  readonly ended: Promise<string>;
  signal(signal: NodeJS.Signals): void;
};

export type WorkerdOptions = {
  readonly workerd: string;
  readonly plan: ServeProcess;
  /** Absolute path of its configuration. */
  readonly configuration: string;
  /** The number of its sockets. */
  readonly sockets: number;
  /** File descriptor of the socket for callers; `null` = the configuration has its address. */
  readonly descriptor: number | null;
  /** The folder that paths of sockets start from. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly onLog: (line: LogLine) => void;
};

/** File descriptors of the child. */
const CONTROL = 3;
const SHARED_SOCKET = 4;

export function startWorkerd(options: WorkerdOptions): WorkerdProcess {
  const { workerd, plan, configuration, sockets, descriptor, folder, variables, onLog } = options;
  const shared = plan.answers ? descriptor : null;
  const args = [
    ...['serve', '--experimental', '--import-path=/', `--control-fd=${CONTROL}`],
    ...(shared === null ? [] : [`--socket-fd=${HTTP_SOCKET}=${SHARED_SOCKET}`]),
    configuration,
  ];
  const child = spawn(workerd, args, {
    // A group of its own: Ctrl-C reaches this process, which then stops workerd in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(shared === null ? [] : [shared])],
    cwd: folder,
    env: { ...process.env, ...variables },
  });
  const ended = new Promise<string>((end) => {
    child.once('error', (error) => end(`workerd could not be started: ${error.message}`));
    child.once('exit', (code, signal) => end(`workerd ended with ${signal ?? `exit code ${code}`}`));
  });
  onLogLine(child, onLog);
  return {
    plan,
    // 0 = it could not be started; `ended` says why.
    pid: child.pid ?? 0,
    listening: listeningOf(child, sockets),
    ended,
    signal: (signal) => {
      child.kill(signal);
    },
  };
}

/** Waits until workerd has reported all its sockets on its control channel. */
function listeningOf(child: ChildProcess, sockets: number): Promise<number | null> {
  // A child that could not be started has no streams.
  const { stdio }: Partial<ChildProcess> = child;
  const control = stdio?.[CONTROL];
  return new Promise((done) => {
    let [text, left] = ['', sockets];
    let http: number | null = null;
    control?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const event: { readonly event?: unknown; readonly socket?: unknown; readonly port?: unknown } =
          JSON.parse(line);
        if (event.event !== 'listen') continue;
        if (event.socket === HTTP_SOCKET && typeof event.port === 'number') http = event.port;
        left--;
      }
      if (left <= 0) done(http);
    });
  });
}
