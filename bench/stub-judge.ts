/**
 * A judge for benchmarks, as a process of its own: it answers each request after a delay with the first verdicts that
 * the schema allows, as one event. The first segment of the path is the delay in milliseconds: `/50/v1/…`.
 */
import { createServer } from 'node:http';
import * as z from 'zod';
import { replyForSchema } from '../fake-ai/schema-reply.ts';

/** The name of its model. */
export const STUB_MODEL = 'stub-judge';

const bodySchema = z.object({ response_format: z.object({ json_schema: z.object({ schema: z.unknown() }) }) });

function serveJudge(port: number): void {
  /** Replies by schema: a benchmark sends few different ones. */
  const replies = new Map<string, string>();
  const server = createServer((request, response) => {
    const delay_ms = Number(request.url?.split('/')[1]);
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const { schema } = bodySchema.parse(JSON.parse(text)).response_format.json_schema;
      const key = JSON.stringify(schema);
      const reply = replies.get(key) ?? eventsOf(schema);
      replies.set(key, reply);
      const answer = (): void => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(reply);
      };
      if (delay_ms > 0) setTimeout(answer, delay_ms);
      else answer();
    });
  });
  server.listen(port, '127.0.0.1');
}

function eventsOf(schema: unknown): string {
  const content = JSON.stringify(replyForSchema(schema));
  const usage = { prompt_tokens: 6_000, completion_tokens: 600, total_tokens: 6_600 };
  const chunk = { model: STUB_MODEL, choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }], usage };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}

if (process.argv[1] === import.meta.filename) serveJudge(Number(process.argv[2]));
