#!/usr/bin/env node
/**
 * Starts the `citeward` command (dispatch.ts). What Node compiles is kept between runs, in its own folder for temporary
 * files: reading the sources anew takes longer than most commands do. Only what is imported afterwards is kept, so this
 * file imports nothing else.
 */
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./dispatch.ts');
