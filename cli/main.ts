#!/usr/bin/env node
/**
 * Starts the `citeward` command. Node caches the compiled code of the modules that are imported after
 * `enableCompileCache`, so this file imports nothing else before it.
 */
import { enableCompileCache } from 'node:module';

enableCompileCache();

// Node 22 calls SQLite experimental on standard error, where `serve` writes JSON lines. Other warnings are kept.
const warn = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') for (const listener of warn) listener(warning);
});

// The reader of standard output has closed it (`citeward … | head`), so there is nothing left to do.
process.stdout.on('error', (error: Error & { readonly code?: string }) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const { main } = await import('./dispatch.ts');
process.exitCode = await main(process.argv.slice(2), process);
