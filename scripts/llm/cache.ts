/**
 * Paths and build inputs of the LLM server for contract tests. The cache is outside the checkout, so that `git clean`
 * or a second checkout does not cost another seven-minute build. The folder name contains version, platform and flags,
 * so a change of these triggers a separate build.
 */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The npm package that contains the source of llama.cpp as a git bundle, and the digest of its tarball. */
export const SOURCE_PACKAGE = {
  name: 'node-llama-cpp',
  version: '3.22.1',
  integrity: 'sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==',
  bundle: 'package/llama/gitRelease.bundle',
} as const;

export const CMAKE_FLAGS: readonly string[] = [
  '-DCMAKE_BUILD_TYPE=Release',
  // The model has 135,552 parameters: more optimisation only makes the build longer.
  '-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG',
  '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG',
  // Not tuned to this processor, because CI may restore the cache on another machine.
  '-DGGML_NATIVE=OFF',
  '-DBUILD_SHARED_LIBS=OFF',
  '-DLLAMA_BUILD_TESTS=OFF',
  '-DLLAMA_BUILD_EXAMPLES=OFF',
  '-DLLAMA_BUILD_APP=OFF',
  '-DLLAMA_BUILD_UI=OFF',
  // Without this flag the build downloads a prebuilt web page.
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

/** The files of a finished build. The folder appears only when it is complete. */
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
