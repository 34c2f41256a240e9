/** What this project needs of the bindings that backends go through, and how to tell that a value is one. */

export type AiRunOptions = {
  readonly signal: AbortSignal;
  readonly gateway?: {
    readonly id: string;
    readonly skipCache: boolean;
    readonly collectLog: boolean;
    readonly retries: { readonly maxAttempts: 1 };
  };
};

/** Of the AI binding. `Ai` of workers-types knows each model by name; the fake of local development has this as well. */
export type AiBinding = {
  run(model: string, inputs: Readonly<Record<string, unknown>>, options: AiRunOptions): Promise<unknown>;
};

/** Of a Workers VPC service: the same call as the global one. Named so, as the command line uses these modules in Node. */
export type Service = { readonly fetch: typeof fetch };

/** Whether a value of the environment can be used as the AI binding. */
export function isAiBinding(value: unknown): value is AiBinding {
  return hasMethod(value, 'run');
}

/** Whether a value of the environment can be used as a Workers VPC service. */
export function isService(value: unknown): value is Service {
  return hasMethod(value, 'fetch');
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}
