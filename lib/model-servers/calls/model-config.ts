/** The configuration that every model backend has, whether it judges or generates. */

export type ModelConfig = {
  readonly name: string;
  /** The model's name on the backend. */
  readonly model: string;
  /**
   * The name of the model in judgments and generations; `null` = `model`. Backends with the same identity may replace
   * each other as routes of one judge.
   */
  readonly identity: string | null;
  /** The name of the model in the backend's replies; `null` = `model`. */
  readonly answers_as: string | null;
  /**
   * Maximum number of concurrent calls. For a judge: calls of the whole deployment. For a generator that makes one call
   * per choice: calls of one request.
   */
  readonly slots: number;
  /** Context that prompt and reply share, in tokens; `null` = unlimited. */
  readonly context_tokens: number | null;
};

/** The time limits of a backend that judges. */
export type JudgeTimes = {
  /** Seconds that one call may take. Default: the caller's deadline alone. */
  readonly timeout_s?: number;
  /** Seconds until the first byte of a reply. Default: as long as the call. */
  readonly first_byte_s?: number;
};

export type Generating = {
  /** `native` = the server parses tool calls. `text` = the Worker reads them from the text (Hermes format). */
  readonly tools: ToolReading;
};

type ToolReading = 'native' | 'text';

/** The name of the model in judgments and generations. */
export function pinnedModel({ identity, model }: Pick<ModelConfig, 'identity' | 'model'>): string {
  return identity ?? model;
}
