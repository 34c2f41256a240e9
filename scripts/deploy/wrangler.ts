/** Runs wrangler as a child process: login state, bundling and deployment. It never prompts. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { parsedJson } from '../../src/json.ts';
import type { Result } from '../../src/result.ts';

const root = resolve(import.meta.dirname, '../..');

const accountsSchema = z.object({
  loggedIn: z.literal(true),
  accounts: z.array(z.object({ name: z.string(), id: z.string() })).default([]),
});
const deployedSchema = z.object({ type: z.literal('deploy'), targets: z.array(z.string()).default([]) });
const CUSTOM_DOMAIN = /^(?<domain>\S+) \(custom domain/u;

export type Login = Result<readonly { readonly name: string; readonly id: string }[], string>;

/** The URL of the Worker; `null` if it has neither a workers.dev address nor a custom domain. */
export type Deployed = Result<string | null, string>;

/** How a command ended. `output`: standard output, if it was captured. */
type Ended = { readonly code: number | null; readonly output: string };

export class Wrangler {
  readonly #program: string;
  readonly #environment: string;

  /**
   * @param program path of wrangler's JavaScript, which runs under this Node.
   * @param environment of wrangler.toml; empty = the top level.
   */
  constructor(program: string, environment: string) {
    this.#program = program;
    this.#environment = environment;
  }

  /** Asks whether wrangler may act for an account. Needs the network. */
  async login(): Promise<Login> {
    const { code, output } = await this.#run(['whoami', '--json'], { capture: true });
    const read = accountsSchema.safeParse(jsonIn(output));
    if (read.success) return { ok: true, value: read.data.accounts };
    return { ok: false, error: `wrangler whoami ended with ${code}` };
  }

  /** Bundles the Worker, without account or network. */
  async bundle(): Promise<{ readonly ok: boolean }> {
    const output = await mkdtemp(join(tmpdir(), 'citeward-bundle-'));
    try {
      const { code } = await this.#run(['deploy', '--dry-run', '--outdir', output, ...this.#inEnvironment()]);
      return { ok: code === 0 };
    } finally {
      rmSync(output, { recursive: true, force: true });
    }
  }

  /** Creates what is missing in the account, and publishes the Worker together with the secrets. */
  async deploy(secrets: Readonly<Record<string, string>>): Promise<Deployed> {
    const directory = await mkdtemp(join(tmpdir(), 'citeward-deploy-'));
    try {
      const report = join(directory, 'report.jsonl');
      const secretsFile = join(directory, 'secrets.json');
      const args = ['deploy', ...this.#inEnvironment()];
      if (Object.keys(secrets).length > 0) {
        // Readable for this user only; mkdtemp made the directory so, too.
        writeFileSync(secretsFile, JSON.stringify(secrets), { mode: 0o600 });
        args.push('--secrets-file', secretsFile);
      }
      const { code } = await this.#run(args, { env: { WRANGLER_OUTPUT_FILE_PATH: report } });
      return code === 0
        ? { ok: true, value: urlIn(report) }
        : { ok: false, error: `wrangler deploy ended with ${code}` };
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  /** Always named: wrangler warns if it has to choose between several environments. */
  #inEnvironment(): string[] {
    return [`--env=${this.#environment}`];
  }

  #run(
    args: readonly string[],
    { capture = false, env = {} }: { readonly capture?: boolean; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<Ended> {
    return new Promise((ended, failed) => {
      const child = spawn(process.execPath, [this.#program, ...args], {
        cwd: root,
        // Without a terminal wrangler neither asks questions nor writes ids into wrangler.toml.
        stdio: ['ignore', capture ? 'pipe' : 'inherit', 'inherit'],
        env: { ...process.env, WRANGLER_SEND_METRICS: 'false', ...env },
      });
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      child.once('error', failed);
      child.once('close', (code) => ended({ code, output }));
    });
  }
}

/** The address of the Worker in wrangler's report: a custom domain, else workers.dev. */
function urlIn(report: string): string | null {
  let text: string;
  try {
    text = readFileSync(report, 'utf8');
  } catch {
    // Wrangler wrote no report; the deployment itself succeeded.
    return null;
  }
  const targets = text.split('\n').flatMap((line) => {
    const read = deployedSchema.safeParse(jsonIn(line));
    return read.success ? read.data.targets : [];
  });
  const domain = targets.map((target) => CUSTOM_DOMAIN.exec(target)?.groups?.['domain']).find((name) => name);
  if (domain !== undefined) return `https://${domain}`;
  return targets.find((target) => /^https?:\/\/\S+$/u.test(target)) ?? null;
}

/** The JSON of a text that may have other lines before it; `undefined` if there is none. */
function jsonIn(text: string): unknown {
  const start = text.indexOf('{');
  return start < 0 ? undefined : parsedJson(text.slice(start));
}
