/** Sends prompts to an OpenAI-compatible server with one output token each, to read its count of prompt tokens. */

export type Server = { readonly url: string; readonly model: string; readonly key: string | null };

export type ServerUsage = {
  readonly calls: number;
  readonly prompt_tokens: number;
  /** `null` if the server does not report it. */
  readonly cached_tokens: number | null;
};

/**
 * Sends the prompts in sequence, so that each call can use the cache of the previous ones. They begin with a line of
 * their own, so none uses the cache of another series.
 */
export async function usageOf(server: Server, prompts: readonly string[]): Promise<ServerUsage> {
  const series = crypto.randomUUID();
  let prompt_tokens = 0;
  let cached_tokens: number | null = 0;
  for (const prompt of prompts) {
    const usage = await usageOfOne(server, `${series}\n${prompt}`);
    prompt_tokens += usage.prompt;
    cached_tokens = cached_tokens === null || usage.cached === null ? null : cached_tokens + usage.cached;
  }
  return { calls: prompts.length, prompt_tokens, cached_tokens };
}

async function usageOfOne(
  { url, model, key }: Server,
  prompt: string,
): Promise<{ prompt: number; cached: number | null }> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: prompt }], max_tokens: 1, temperature: 0 }),
  });
  if (!reply.ok) throw new Error(`the server answered ${reply.status}`);
  const body: unknown = await reply.json();
  const prompt_tokens = numberAt(body, ['usage', 'prompt_tokens']);
  if (prompt_tokens === null) throw new Error('the server reports no usage');
  return { prompt: prompt_tokens, cached: numberAt(body, ['usage', 'prompt_tokens_details', 'cached_tokens']) };
}

function numberAt(value: unknown, path: readonly string[]): number | null {
  let at: unknown = value;
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return null;
    at = Reflect.get(at, name);
  }
  return typeof at === 'number' ? at : null;
}
