/** Where the clients of the replaced APIs put their key. `Authorization: Bearer` is accepted on every route. */
import { vendorOf } from './compat-errors.ts';

/** A key is at most this long. */
const MAX_KEY_CHARS = 256;

/**
 * SigV4: the access key id is the API key, before the four parts of the scope. The signature is not checked, because
 * its secret is not stored; the key alone admits the request, as a bearer token does.
 */
const SIGV4 = /^AWS4-HMAC-SHA256 +Credential=([^\s,]+)\/\d{8}\/[^/\s,]+\/[^/\s,]+\/aws4_request,/;

/** The key in the way of the vendor whose route the path is; `null` = none. */
export function vendorKey(path: string, header: (name: string) => string | undefined): string | null {
  const key = keyIn(path, header);
  return key === undefined || key === '' || key.length > MAX_KEY_CHARS ? null : key;
}

function keyIn(path: string, header: (name: string) => string | undefined): string | undefined {
  switch (vendorOf(path)) {
    case 'azure':
      return header('ocp-apim-subscription-key');
    case 'google':
      return header('x-goog-api-key');
    case 'bedrock':
      return SIGV4.exec(header('authorization') ?? '')?.[1];
    default:
      return undefined;
  }
}
