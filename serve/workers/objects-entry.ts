/** The entrypoint of a process that has Durable Objects: other processes call its objects through it. */
import { WorkerEntrypoint } from 'cloudflare:workers';

/** A method of the object of that name. */
export type ObjectCall = {
  /** The binding of the object's namespace. */
  readonly binding: string;
  readonly name: string;
  readonly method: string;
  readonly args: readonly unknown[];
};

/** The properties with which the platform says what an error of a call means. RPC passes on the message only. */
export const ERROR_MARKS = ['overloaded', 'retryable', 'durableObjectReset', 'remote'] as const;

export type ObjectAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly marks: readonly (typeof ERROR_MARKS)[number][] };

/** The RPC methods of the process that has the objects. */
export type ObjectMethods = {
  call(call: ObjectCall): Promise<ObjectAnswer>;
  /** Starts the cron triggers. */
  start(): Promise<void>;
};

type ObjectsEnvironment = { readonly SERVE_CLOCK: Pick<ObjectMethods, 'start'> };

export class ObjectsEntry extends WorkerEntrypoint<ObjectsEnvironment> implements ObjectMethods {
  async call({ binding, name, method, args }: ObjectCall): Promise<ObjectAnswer> {
    const namespace: unknown = Reflect.get(this.env, binding);
    if (!isNamespace(namespace)) throw new Error(`ObjectsEntry: ${binding} is no namespace of objects`);
    try {
      const called = namespace.getByName(name)[method];
      if (called === undefined) throw new Error(`ObjectsEntry: ${binding} has no method ${method}`);
      return { ok: true, value: await called(...args) };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return {
        ok: false,
        message: error.message,
        marks: ERROR_MARKS.filter((mark) => Reflect.get(error, mark) === true),
      };
    }
  }

  async start(): Promise<void> {
    await this.env.SERVE_CLOCK.start();
  }
}

type Namespace = {
  getByName(name: string): Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
};

function isNamespace(value: unknown): value is Namespace {
  return typeof value === 'object' && value !== null && 'getByName' in value;
}
