/**
 * The stores of `citeward serve`, which report each operation to the test before it begins, and each write once it is
 * done. The test answers, or kills the process instead (test/slow/kill-points.ts).
 */
import { D1Entry as WholeD1, QueueEntry as WholeQueue, R2Entry as WholeR2 } from '../../serve/workers/stores.ts';

export * from '../../serve/workers/stores.ts';
export { default } from '../../serve/workers/stores.ts';

/** Where the test listens; defined by the build. */
declare const KILL_POINTS_URL: string;

/** What an operation does, in a line, and whether it may write. */
type Operation = { readonly name: string; readonly writes: boolean };

async function reported(operation: Operation, work: () => Promise<Response>): Promise<Response> {
  await report(`before ${operation.name}`);
  const reply = await work();
  if (operation.writes) await report(`after ${operation.name}`);
  return reply;
}

async function report(point: string): Promise<void> {
  await (await fetch(KILL_POINTS_URL, { method: 'POST', body: point })).arrayBuffer();
}

export class R2Entry extends WholeR2 {
  override async fetch(request: Request): Promise<Response> {
    const header = request.headers.get('cf-r2-request');
    const body = header === null ? await request.arrayBuffer() : null;
    const size = Number(request.headers.get('cf-r2-metadata-size') ?? 0);
    const text = header ?? new TextDecoder().decode(body?.slice(0, size));
    const { method, object, objects }: { method: string; object?: string; objects?: string[] } = JSON.parse(text);
    const operation = { name: `R2 ${method} ${object ?? objects?.join(' ')}`, writes: !READS.has(method) };
    return reported(operation, () => super.fetch(body === null ? request : new Request(request, { body })));
  }
}

const READS: ReadonlySet<string> = new Set(['get', 'head', 'list']);

export class D1Entry extends WholeD1 {
  override async fetch(request: Request): Promise<Response> {
    const body = await request.text();
    const sent: { sql: string } | { sql: string }[] = JSON.parse(body);
    const [first] = Array.isArray(sent) ? sent : [sent];
    const name = `D1 ${first?.sql.trim().split(/\s+/u).slice(0, 3).join(' ')}`;
    const writes = !name.startsWith('D1 SELECT');
    return reported({ name, writes }, () => super.fetch(new Request(request, { body })));
  }
}

export class QueueEntry extends WholeQueue {
  override async fetch(request: Request): Promise<Response> {
    return reported({ name: 'queue send', writes: true }, () => super.fetch(request));
  }
}
