#!/usr/bin/env node
/**
 * Starts the `citeward` command. Node caches the compiled code of the modules that are imported after
 * `enableCompileCache`, so this file imports nothing else before it.
 */
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./dispatch.ts');
