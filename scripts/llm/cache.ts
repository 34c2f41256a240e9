/**
 * Where the LLM server of the contract tests lives and what it is made of. Outside the checkout, so that `git clean` and a
 * second checkout do not cost another seven-minute build; the folder name holds everything that the binary depends on, so
 * that a change of version, platform or flags builds anew by itself and never mixes with what is there.
 */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The npm package that carries the source of llama.cpp as a git bundle, and the digest of its tarball. */
export const SOURCE_PACKAGE = {
  name: 'node-llama-cpp',
  version: '3.22.1',
  integrity: 'sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==',
  bundle: 'package/llama/gitRelease.bundle',
} as const;

export const CMAKE_FLAGS: readonly string[] = [
  '-DCMAKE_BUILD_TYPE=Release',
  // The model has 135,552 parameters: optimising more buys no speed here, only a longer build.
  '-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG',
  '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG',
  // Not tuned to this processor: a cache that CI restores on another machine must not die of an illegal instruction.
  '-DGGML_NATIVE=OFF',
  '-DBUILD_SHARED_LIBS=OFF',
  '-DLLAMA_BUILD_TESTS=OFF',
  '-DLLAMA_BUILD_EXAMPLES=OFF',
  '-DLLAMA_BUILD_APP=OFF',
  '-DLLAMA_BUILD_UI=OFF',
  // Without this the build tries to download a prebuilt web page.
  '-DLLAMA_USE_PREBUILT_UI=OFF',
  '-DLLAMA_OPENSSL=OFF',
];

/** `$CITEWARD_CACHE/llm`, by default `~/.cache/citeward/llm`. */
export function llmCacheFolder(): string {
  const configured = process.env['CITEWARD_CACHE'];
  const base = configured === undefined || configured === '' ? join(homedir(), '.cache', 'citeward') : configured;
  return resolve(base, 'llm');
}

/** Names one build: version, platform, flags. */
export function buildName(): string {
  const flags = createHash('sha256').update(CMAKE_FLAGS.join('\n')).digest('hex').slice(0, 8);
  return `${SOURCE_PACKAGE.version}-${process.platform}-${process.arch}-${flags}`;
}

/** The files of a finished build. The folder exists only once all of them are in it. */
export type ServerFiles = {
  readonly folder: string;
  readonly binary: string;
  /** Qwen3's chat template, from which the server derives the grammar of tool calls. */
  readonly toolTemplate: string;
};

export function serverFiles(): ServerFiles {
  const folder = join(llmCacheFolder(), buildName());
  return { folder, binary: join(folder, 'llama-server'), toolTemplate: join(folder, 'qwen3-tools.jinja') };
}
