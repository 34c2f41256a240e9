/**
 * Checks gpu-backend/compose.yaml as data: pinned images, health checks, no published ports, every variable documented.
 * `docker compose config` needs Docker, which test machines do not have.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ensureDebianPackage } from './debian.ts';

const folder = resolve(import.meta.dirname, '../../gpu-backend');
const text = readFileSync(resolve(folder, 'compose.yaml'), 'utf8');

const serviceSchema = z.object({
  image: z.string(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.unknown()).default({}),
  ports: z.array(z.string()).optional(),
  expose: z.array(z.string()).optional(),
  networks: z.array(z.string()),
  volumes: z.array(z.string()).optional(),
  ipc: z.string().optional(),
  privileged: z.boolean().optional(),
  healthcheck: z.object({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() }),
});
const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.unknown()),
});
type Compose = z.infer<typeof composeSchema>;

/** Reads YAML with anchors and merge keys through Python; one test does not justify an npm dependency. */
async function parseYaml(): Promise<unknown> {
  const program = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))';
  const read = (python: string): unknown =>
    JSON.parse(execFileSync(python, ['-c', program], { input: text }).toString());
  if (hasYaml('python3')) return read('python3');
  if (!hasYaml('/usr/bin/python3')) await ensureDebianPackage('python3-yaml');
  return read('/usr/bin/python3');
}

function hasYaml(python: string): boolean {
  try {
    execFileSync(python, ['-c', 'import yaml'], { stdio: 'ignore' });
    return true;
  } catch {
    // The interpreter or its module is missing: try the next one.
    return false;
  }
}

const ENGINES = ['judge', 'judge-a', 'judge-b', 'refiner', 'longtrace', 'tool-agent'];

let compose: Compose;
let services: [string, Compose['services'][string]][];

function service(name: string): Compose['services'][string] {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

beforeAll(async () => {
  compose = composeSchema.parse(await parseYaml());
  services = Object.entries(compose.services);
});

describe('every service', () => {
  it('is pinned by a variable with an exact default', () => {
    for (const [name, { image }] of services) {
      expect(image, name).toMatch(/^\$\{[A-Z]+_IMAGE:-[a-z0-9/-]+:[a-z0-9.-]*\d[a-z0-9.-]*\}$/);
      expect(image, name).not.toMatch(/latest|nightly/);
    }
  });

  it('has a health check that asks itself', () => {
    for (const [name, { healthcheck }] of services) {
      expect(healthcheck.test[0], name).toMatch(/^CMD/);
      expect(healthcheck.test.join(' '), name).toContain('127.0.0.1');
    }
  });

  it('publishes nothing; the proxy alone, on this host', () => {
    const published = services.filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(['proxy']);
    expect(service('proxy').ports).toEqual([`127.0.0.1:\${PROXY_PORT:-8000}:8000`]);
    expect(services.filter(([, { privileged }]) => privileged === true)).toEqual([]);
    expect(text).not.toContain('docker.sock');
    expect(text).not.toContain('network_mode');
  });

  it('is a profile of its own, but for the proxy and the parts of the fleet', () => {
    const fleet = ['judge-a', 'judge-b', 'router'];
    for (const [name, { profiles }] of services) {
      expect(profiles, name).toEqual(name === 'proxy' ? undefined : [fleet.includes(name) ? 'fleet' : name]);
    }
  });
});

describe('networks', () => {
  it('the sandbox meets the proxy only, and has no way out', () => {
    expect(compose.networks['sandbox']?.internal).toBe(true);
    const neighbours = services.filter(([, { networks }]) => networks.includes('sandbox')).map(([name]) => name);
    expect(neighbours).toEqual(['sandbox', 'proxy']);
    expect(service('sandbox').networks).toEqual(['sandbox']);
  });

  it('the tunnel meets the proxy only', () => {
    expect(service('tunnel').networks).toEqual(['edge']);
    for (const name of ENGINES) expect(service(name).networks, name).toEqual(['engines']);
  });
});

describe('engines', () => {
  it('are vLLM with a key, caches, shared memory, bounded length and bounded queues', () => {
    for (const name of ENGINES) {
      const { command, environment, volumes, ipc, image } = service(name);
      expect(image).toContain('vllm/vllm-openai');
      expect(environment['VLLM_API_KEY']).toBe(`\${VLLM_API_KEY:?set it in .env}`);
      expect(environment['VLLM_MAX_N_SEQUENCES']).toBe('64');
      expect(environment).not.toHaveProperty('VLLM_SERVER_DEV_MODE');
      expect(volumes).toEqual(['huggingface:/root/.cache/huggingface', 'vllm:/root/.cache/vllm']);
      expect(ipc).toBe('host');
      for (const flag of [
        '--served-model-name',
        '--max-model-len',
        '--max-num-seqs',
        '--max-num-queued-reqs',
        '--generation-config',
      ]) {
        expect(
          command?.filter((argument) => argument.startsWith(`${flag}=`)),
          `${name} ${flag}`,
        ).toHaveLength(1);
      }
    }
  });

  it('the judge does not think, and says what came from the cache', () => {
    const { command } = service('judge');
    expect(command?.[0]).toBe(`\${JUDGE_MODEL:-Qwen/Qwen3.5-35B-A3B-FP8}`);
    for (const argument of [
      '--default-chat-template-kwargs={"enable_thinking":false}',
      '--reasoning-parser=qwen3',
      '--enable-prompt-tokens-details',
      '--language-model-only',
    ]) {
      expect(command).toContain(argument);
    }
  });

  it('the engines of a fleet are equal, and their router keeps a group on one of them', () => {
    for (const name of ['judge-a', 'judge-b']) expect(service(name).command).toEqual(service('judge').command);
    const { command, networks, expose } = service('router');
    expect(command?.join(' ')).toContain('--policy consistent_hash');
    expect(command?.join(' ')).toContain('--worker-urls http://judge-a:8000 http://judge-b:8000');
    expect({ networks, expose }).toEqual({ networks: ['engines'], expose: ['8001'] });
  });

  it('the tool agent speaks Hermes', () => {
    expect(service('tool-agent').command).toEqual(
      expect.arrayContaining(['--enable-auto-tool-choice', '--tool-call-parser=hermes']),
    );
  });
});

describe('variables', () => {
  const example = readFileSync(resolve(folder, '.env.example'), 'utf8');
  const explained = new Map(
    [...example.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  const used = [...text.matchAll(/\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g)];

  it('are all in .env.example, and nothing else is', () => {
    expect(new Set(used.map(([, name]) => name))).toEqual(new Set(explained.keys()));
  });

  it('have the default there that they have here', () => {
    for (const [, name = '', kind, fallback = ''] of used) {
      if (kind === '-') expect(explained.get(name), name).toBe(fallback);
      else expect(explained.get(name), name).toBe('');
    }
  });

  it('the proxy is given every variable that its template uses', () => {
    const template = readFileSync(resolve(folder, 'proxy/llm.conf.template'), 'utf8');
    const names = new Set([...template.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name = '']) => name));
    const { environment } = service('proxy');
    expect([...names].filter((name) => !(name in environment))).toEqual([]);
    const filter = new RegExp(z.string().parse(environment['NGINX_ENVSUBST_FILTER']));
    expect([...names].filter((name) => !filter.test(name))).toEqual([]);
  });
});
