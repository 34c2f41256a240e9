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

await import('./dispatch.ts');
