/** What every model backend is configured with, whether it judges or generates. */

export type ModelConfig = {
  readonly name: string;
  /** As the backend knows it. */
  readonly model: string;
  /**
   * What judgments are pinned to, and what generations say of their model; `null` = the model. Judges with the same one
   * may stand in for each other.
   */
  readonly identity: string | null;
  /** The name that the backend gives in its replies; `null` = the model. */
  readonly answers_as: string | null;
  /** Calls that it takes at once; of a generator, those that one request makes at once where choices need their own. */
  readonly slots: number;
  /** Context that prompt and reply share, in tokens; `null` = unlimited. */
  readonly context_tokens: number | null;
};

export type Generating = {
  /** Whether the server parses tool calls by itself (`native`), or they are read from the text (Hermes). */
  readonly tools: ToolReading;
};

export type ToolReading = 'native' | 'text';

/** What judgments of this backend are pinned to, and what its generations say of their model. */
export function pinnedModel({ identity, model }: Pick<ModelConfig, 'identity' | 'model'>): string {
  return identity ?? model;
}
