/**
 * R2 and D1 that misbehave on demand: a call that fails, or one that takes place although it reports a failure.
 * Everything else goes to the real binding. Multipart uploads that were begun and not ended are counted, as R2 lists
 * none.
 */
export type Fault = 'fails' | 'lost_acknowledgement';

/** Methods of bindings that make no call. */
const IMMEDIATE: ReadonlySet<string> = new Set(['prepare', 'bind', 'withSession', 'resumeMultipartUpload']);

export class Faults {
  /** Every call, in order. */
  readonly calls: string[] = [];
  /** Ids of multipart uploads that take up space. */
  readonly openUploads = new Set<string>();
  #fault: { readonly call: string; readonly kind: Fault; skipped: number } | null = null;
  readonly #targets = new WeakMap<object, object>();

  /** The call of that name goes wrong, after `skipped` of them that went well. */
  plan(call: string, kind: Fault, skipped = 0): void {
    this.#fault = { call, kind, skipped };
  }

  /** Whether what was planned has not happened. */
  get pending(): boolean {
    return this.#fault !== null;
  }

  clear(): void {
    this.#fault = null;
    this.calls.length = 0;
  }

  /** The binding, or what one of its methods gave. */
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

  /** Statements and multipart uploads have calls of their own; what holds data has none that matter here. */
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
