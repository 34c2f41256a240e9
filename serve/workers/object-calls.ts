/** Calls of Durable Objects that are in another process: what goes over the socket. */

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
