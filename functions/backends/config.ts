/** The model backends of a deployment, as settings.ts has read and checked them. */

type Common = {
  readonly name: string;
  /** As the backend knows it. */
  readonly model: string;
  /** What judgments are pinned to; `null` = the model. Backends with the same one may stand in for each other. */
  readonly identity: string | null;
  /** The name that the backend gives in its replies; `null` = the model. */
  readonly answers_as: string | null;
  /** Calls that it takes at once. */
  readonly slots: number;
  /** Prompt and reply together. */
  readonly context_tokens: number;
};

/** An OpenAI-compatible server. */
export type VllmConfig = Common & {
  readonly kind: 'vllm';
  /** Everything before `/chat/completions`, without a slash at the end. */
  readonly base_url: string;
  /** The Workers VPC service to go through; `null` = the public way. */
  readonly vpc_binding: string | null;
  readonly api_key: string | null;
  /** A Cloudflare Access service token. */
  readonly access: { readonly client_id: string; readonly client_secret: string } | null;
  /** The field that the server takes the length of a reply from. */
  readonly length_field: 'max_completion_tokens' | 'max_tokens';
};

/** A model of Workers AI. */
export type WorkersAiConfig = Common & {
  readonly kind: 'workers-ai';
  /** The AI Gateway to go through; `null` = none. */
  readonly gateway_id: string | null;
  /** How the model wants its JSON schema (workers-ai/families.ts). */
  readonly schema_shape: SchemaShape;
};

/** `flat`: `json_schema` is the schema. `wrapped`: OpenAI's `{name, schema, strict}`. */
export type SchemaShape = 'flat' | 'wrapped';

export type BackendConfig = VllmConfig | WorkersAiConfig;

/** A judge and the backends behind it, in the order they are tried. All have the same identity. */
export type JudgeConfig = {
  readonly name: string;
  readonly routes: readonly [BackendConfig, ...BackendConfig[]];
};

export type BackendsConfig = {
  readonly judges: readonly JudgeConfig[];
  /** Which of them answers where a request names none; `null` = none of them. */
  readonly default_judge: string | null;
};

/** What judgments of this backend are pinned to. */
export function pinnedModel({ identity, model }: Pick<Common, 'identity' | 'model'>): string {
  return identity ?? model;
}
