/** The entrypoint of a process that has Durable Objects: other processes call its objects through it. */
import { WorkerEntrypoint } from 'cloudflare:workers';
import { ERROR_MARKS, type ObjectAnswer, type ObjectCall, type ObjectMethods } from './object-calls.ts';

type ObjectsEnvironment = { readonly SERVE_CLOCK: Pick<ObjectMethods, 'start'> };

export class ObjectsEntry extends WorkerEntrypoint<ObjectsEnvironment> implements ObjectMethods {
  async call({ binding, name, method, args }: ObjectCall): Promise<ObjectAnswer> {
    const namespace: unknown = Reflect.get(this.env, binding);
    if (!isNamespace(namespace)) throw new Error(`ObjectsEntry: ${binding} is no namespace of objects`);
    try {
      return { ok: true, value: await namespace.getByName(name)[method]?.(...args) };
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
