/**
 * `npm run backend:check -- --url URL --key KEY`: checks whether an OpenAI-compatible backend meets the Worker's
 * requirements. About 60 small requests and half a minute; it sends only its own texts. Exit code 0 = nothing failed, 1
 * = a requirement failed, 2 = wrong usage.
 */
import { parseArgs } from 'node:util';
import { findingText, summaryText } from './report.ts';
import { type CheckOptions, runChecks } from './run-checks.ts';

const USAGE = `usage: npm run backend:check -- --url URL [options]

  --url URL          base URL, with or without /v1
  --key KEY          bearer key; default: the variable VLLM_API_KEY
  --model NAME       default: the first that is served
  --header 'N: V'    a further header of every request, such as CF-Access-Client-Id; may be repeated
  --metrics URL      the engine's own Prometheus page, where the proxy hides it
  --min-context N    tokens that the context must hold (default 16384)
  --timeout S        seconds that one request may take (default 60)
  --limit S          seconds after which no further check is started (default 300)
  --json             the report as one JSON object`;

class UsageError extends Error {}

function readOptions(args: readonly string[]): { readonly options: CheckOptions; readonly json: boolean } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      model: { type: 'string' },
      header: { type: 'string', multiple: true },
      metrics: { type: 'string' },
      'min-context': { type: 'string', default: '16384' },
      timeout: { type: 'string', default: '60' },
      limit: { type: 'string', default: '300' },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.url === undefined) throw new UsageError('--url is missing');
  const key = values.key ?? process.env['VLLM_API_KEY'] ?? '';
  return {
    json: values.json,
    options: {
      target: {
        url: baseUrl(values.url),
        key: key === '' ? null : key,
        headers: Object.fromEntries((values.header ?? []).map(header)),
        timeout_ms: 1_000 * positive('--timeout', values.timeout),
      },
      model: values.model ?? null,
      min_context_tokens: positive('--min-context', values['min-context']),
      metrics_url: values.metrics === undefined ? null : httpUrl('--metrics', values.metrics).href,
      limit_ms: 1_000 * positive('--limit', values.limit),
    },
  };
}

function httpUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`${option}: not an http(s) URL`);
  return url;
}

function baseUrl(text: string): string {
  const url = httpUrl('--url', text);
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
}

function header(text: string): [string, string] {
  const colon = text.indexOf(':');
  if (colon <= 0) throw new UsageError('--header: expected "Name: value"');
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new UsageError(`${option}: expected a positive number`);
  return value;
}

async function main(args: readonly string[]): Promise<void> {
  const { options, json } = readOptions(args);
  const colours = process.stdout.isTTY === true && (process.env['NO_COLOR'] ?? '') === '';
  const report = await runChecks({
    ...options,
    ...(json ? {} : { onFinding: (finding) => console.log(findingText(finding, colours)) }),
  });
  console.log(json ? JSON.stringify(report, null, 2) : `\n${summaryText(report)}`);
  process.exitCode = report.ok ? 0 : 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
  if (!isUsage) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
