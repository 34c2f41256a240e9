/** The model backends of a deployment, as settings.ts has read and checked them. */

type Common = {
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
  /** Prompt and reply together. */
  readonly context_tokens: number;
};

/** A server of one's own, and how it lets us in. */
export type ServerConfig = {
  /** Everything before `/chat/completions` or `/run_code`, without a slash at the end. */
  readonly base_url: string;
  /** The Workers VPC service to go through; `null` = the public way. */
  readonly vpc_binding: string | null;
  readonly api_key: string | null;
  /** A Cloudflare Access service token. */
  readonly access: { readonly client_id: string; readonly client_secret: string } | null;
};

type Vllm = Common &
  ServerConfig & {
    readonly kind: 'vllm';
    /** The field that the server takes the length of a reply from. */
    readonly length_field: 'max_completion_tokens' | 'max_tokens';
  };

type WorkersAi = Common & {
  readonly kind: 'workers-ai';
  /** The AI Gateway to go through; `null` = none. */
  readonly gateway_id: string | null;
};

/** An OpenAI-compatible server that judges. */
export type VllmConfig = Vllm;

/** A model of Workers AI that judges. */
export type WorkersAiConfig = WorkersAi & {
  /** How the model wants its JSON schema (workers-ai/families.ts). */
  readonly schema_shape: SchemaShape;
};

type Generating = {
  /** Whether the server parses tool calls by itself (`native`), or they are read from the text (Hermes). */
  readonly tools: ToolReading;
};

export type ToolReading = 'native' | 'text';

/** An OpenAI-compatible server that generates. */
export type VllmGeneratorConfig = Vllm &
  Generating & {
    /** Whether it answers one request with `n` choices; otherwise each choice is a request of its own. */
    readonly native_n: boolean;
  };

/** A model of Workers AI that generates. */
export type WorkersAiGeneratorConfig = WorkersAi & Generating;

export type GeneratorConfig = VllmGeneratorConfig | WorkersAiGeneratorConfig;

/** `flat`: `json_schema` is the schema. `wrapped`: OpenAI's `{name, schema, strict}`. */
export type SchemaShape = 'flat' | 'wrapped';

export type BackendConfig = VllmConfig | WorkersAiConfig;

/** A judge and the backends behind it, in the order they are tried. All have the same identity. */
export type JudgeConfig = {
  readonly name: string;
  readonly routes: readonly [BackendConfig, ...BackendConfig[]];
};

/** A server with SandboxFusion's `/run_code`. */
export type SandboxConfig = ServerConfig & {
  readonly name: string;
  /** What runs there, as the operator names it (interpreter, library versions): verdicts are pinned to it. */
  readonly runtime: string;
  /** Judgments that it takes at once; a judgment runs a few programs side by side. */
  readonly slots: number;
};

export type BackendsConfig = {
  /** Where programs run and answers are compared; `null` = none. */
  readonly sandbox: SandboxConfig | null;
  readonly judges: readonly JudgeConfig[];
  /** Which of them answers where a request names none; `null` = none of them. */
  readonly default_judge: string | null;
  readonly generators: readonly GeneratorConfig[];
  /** Which of them generates where a request names none; `null` = none of them. */
  readonly default_generator: string | null;
};

/** What judgments of this backend are pinned to, and what its generations say of their model. */
export function pinnedModel({ identity, model }: Pick<Common, 'identity' | 'model'>): string {
  return identity ?? model;
}
