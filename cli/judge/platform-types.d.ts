/**
 * The one platform type that the backends' modules name in passing (functions/backends/bindings.ts). The Node project does
 * not load the Worker's types, and the command line binds no such service: it reaches model servers by their URL.
 */
declare type Fetcher = { readonly fetch: typeof fetch };
