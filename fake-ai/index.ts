/**
 * A fake of Workers AI for local development. scripts/dev.ts binds it as AI, because the real binding needs an
 * account. Its only model name says that it is a fake, so its judgments cannot be mistaken for
 * those of a model. Its verdicts are the first values that the schema allows, and its answers say that they are fake
 * (speech.ts).
 */
import { WorkerEntrypoint } from 'cloudflare:workers';
import { replyForSchema } from './schema-reply.ts';
import { spokenStream, spokenText } from './speech.ts';

/** The only model. A judge on it needs `"json_schema_shape": "flat"`. */
const FAKE_MODEL = '@fake/first-allowed';

/** Default length of Workers AI. */
const DEFAULT_MAX_TOKENS = 256;
/** An estimate, so that usage is never zero. */
const CHARS_PER_TOKEN = 4;

type Inputs = {
  readonly messages?: readonly { readonly content: string }[];
  readonly response_format?: { readonly json_schema?: unknown };
  readonly stream?: boolean;
  readonly max_tokens?: number;
};

export default class FakeAi extends WorkerEntrypoint {
  async run(model: string, inputs: Inputs): Promise<unknown> {
    // The message of the real binding.
    if (model !== FAKE_MODEL) throw new Error(`5007: No such model ${model} or task`);
    const tokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);
    const prompt = (inputs.messages ?? []).reduce((sum, { content }) => sum + tokens(content), 0);
    const { response_format, stream = false, max_tokens = DEFAULT_MAX_TOKENS } = inputs;
    if (stream) return spokenStream(max_tokens, prompt);
    const response =
      response_format === undefined ? spokenText(max_tokens) : replyForSchema(response_format.json_schema);
    const completion = tokens(JSON.stringify(response));
    return {
      response,
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    };
  }

  override async fetch(): Promise<Response> {
    return new Response('the fake AI worker answers AI.run only', { status: 404 });
  }
}
