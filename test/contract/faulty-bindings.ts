/**
 * Wraps R2 and D1 with faults on demand: a call fails, or takes effect and reports a failure. All other calls go to the
 * real binding. The wrapper counts multipart uploads that were started and not ended, because R2 does not list them.
 */
export type Fault = 'fails' | 'lost_acknowledgement';

/** Methods of bindings that make no call. */
const IMMEDIATE: ReadonlySet<string> = new Set(['prepare', 'bind', 'withSession', 'resumeMultipartUpload']);

export class Faults {
  /** Every call, in order. */
  readonly calls: string[] = [];
  /** Ids of the multipart uploads that have not ended. */
  readonly openUploads = new Set<string>();
  #fault: { readonly call: string; readonly kind: Fault; skipped: number } | null = null;
  readonly #targets = new WeakMap<object, object>();

  /** Makes a call of that name fail, after `skipped` successful ones. */
  plan(call: string, kind: Fault, skipped = 0): void {
    this.#fault = { call, kind, skipped };
  }

  /** Whether the planned fault has not occurred yet. */
  get pending(): boolean {
    return this.#fault !== null;
  }

  clear(): void {
    this.#fault = null;
    this.calls.length = 0;
  }

  /** The binding, or a part that one of its methods returned. */
  wrap<T extends object>(target: T): T {
    const proxy = new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function' || typeof name !== 'string') return value;
        return (...given: unknown[]): unknown => {
          const invoke = (): unknown =>
            Reflect.apply(
              value,
              target,
              given.map((argument) => this.#unwrap(argument)),
            );
          return IMMEDIATE.has(name) ? this.#wrapMade(invoke()) : this.#run(name, target, invoke);
        };
      },
    });
    this.#targets.set(proxy, target);
    return proxy;
  }

  async #run(name: string, target: object, invoke: () => unknown): Promise<unknown> {
    this.calls.push(name);
    const kind = this.#take(name);
    if (kind === 'fails') throw failure(name);
    const result = await invoke();
    if (name === 'createMultipartUpload') this.openUploads.add(uploadIdOf(result));
    if (name === 'complete' || name === 'abort') this.openUploads.delete(uploadIdOf(target));
    if (kind === 'lost_acknowledgement') throw failure(name);
    return this.#wrapMade(result);
  }

  #take(name: string): Fault | null {
    const fault = this.#fault;
    if (fault === null || fault.call !== name) return null;
    if (fault.skipped-- > 0) return null;
    this.#fault = null;
    return fault.kind;
  }

  /** Wraps statements and multipart uploads, which have methods of their own; other results are plain data. */
  #wrapMade(made: unknown): unknown {
    if (typeof made !== 'object' || made === null) return made;
    return 'uploadPart' in made || 'bind' in made ? this.wrap(made) : made;
  }

  #unwrap(argument: unknown): unknown {
    if (Array.isArray(argument)) return argument.map((entry) => this.#unwrap(entry));
    return typeof argument === 'object' && argument !== null ? (this.#targets.get(argument) ?? argument) : argument;
  }
}

function failure(name: string): Error {
  return new Error(`${name}: We encountered an internal error. Please try again. (10001)`);
}

function uploadIdOf(upload: unknown): string {
  if (typeof upload === 'object' && upload !== null && 'uploadId' in upload) return String(upload.uploadId);
  throw new Error('not a multipart upload');
}
