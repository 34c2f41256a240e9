/**
 * Limits the connections of a process that wait for response headers. A call enters before it sends its request, and
 * its time limit starts then, so that waiting for a connection is never mistaken for a slow server.
 */

export interface Connections {
  /**
   * Waits until one more connection may be opened. The caller calls the returned function when the headers of the reply
   * have arrived, or at the end of the call; once is enough, and more do nothing.
   */
  enter(): Promise<() => void>;
}

/** The options of a call of a judge or a chat backend. */
export type CallOptions = {
  /**
   * Time in milliseconds after which the call has given up and freed its resources. It starts when the call has its
   * connection.
   */
  readonly deadline_ms: number;
  /** Absent = as many connections as wanted. */
  readonly connections?: Connections;
  /**
   * Names the part of the prompt that the calls of a group share, so that a router can send them to one engine, whose
   * prefix cache then has it. Sent as `x-session-id`. Absent = none.
   */
  readonly session?: string;
  /**
   * Takes the log-probabilities of the tokens of a finished reply, as the server writes them (`logprobs.content` of
   * OpenAI's chat API); empty = it gave none. A call with it asks the server for them. Absent = they are not asked for.
   */
  readonly onLogprobs?: (tokens: readonly unknown[]) => void;
};

export const UNLIMITED_CONNECTIONS: Connections = { enter: async () => () => undefined };
