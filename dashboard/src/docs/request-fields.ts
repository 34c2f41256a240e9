/** The fields of a route's example, and the request that they make. */
import { pathSegment } from '../../../src/text/path-segment.ts';
import type { CurlBody } from '../api/curl.ts';
import type { Operation, Route } from './openapi.ts';

export type ExampleField = {
  /** Unique in its route: place and name. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Whether it takes lines of text. */
  readonly isLong: boolean;
};

const FORM = 'multipart/form-data';
const BODY = 'body';
/** The fields of forms that are files. */
const FILES = ['file', 'data'];

/** The fields of the example: path, query, and the body or the fields of the form. Empty query fields are not sent. */
export function exampleFields({ parameters = [], requestBody }: Operation): readonly ExampleField[] {
  const inUrl = parameters.map(
    ({ name, in: place, example }): ExampleField => ({
      name: `${place} ${name}`,
      label: place === 'path' ? name : `${name} (query, optional)`,
      value: typeof example === 'string' ? example : '',
      isLong: false,
    }),
  );
  const [[type, { example }] = ['', { example: undefined }]] = Object.entries(requestBody?.content ?? {});
  if (example === undefined) return inUrl;
  if (type !== FORM || typeof example !== 'object' || example === null) {
    const value = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
    return [...inUrl, { name: BODY, label: `Body, ${type}`, value, isLong: true }];
  }
  const inForm = Object.entries(example).map(([name, value]): ExampleField => {
    return { name: `form ${name}`, label: `${name} (form)`, value: String(value), isLong: FILES.includes(name) };
  });
  return [...inUrl, ...inForm];
}

/** The request that the fields make. `path` begins with `/` and has the query. */
export function requestOf(
  { path, operation }: Route,
  fields: readonly ExampleField[],
): { readonly path: string; readonly body: CurlBody | null } {
  const values = new Map(fields.map(({ name, value }) => [name, value]));
  const filled = path.replaceAll(/\{([a-z_]+)\}/gu, (_braces, name: string) =>
    pathSegment(values.get(`path ${name}`) ?? ''),
  );
  const query = valuesIn(values, 'query').filter(([, value]) => value !== '');
  const whole = query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
  const [type] = Object.keys(operation.requestBody?.content ?? {});
  return { path: whole, body: type === undefined ? null : bodyOf(type, values) };
}

function bodyOf(type: string, values: ReadonlyMap<string, string>): CurlBody {
  if (type !== FORM) return { kind: 'text', type, text: values.get(BODY) ?? '' };
  const fields = valuesIn(values, 'form');
  const [name = '', content = ''] = fields.find(([field]) => FILES.includes(field)) ?? [];
  const others = fields.filter(([field]) => field !== name);
  return { kind: 'form', fields: Object.fromEntries(others), file: { name, content } };
}

function valuesIn(values: ReadonlyMap<string, string>, place: string): [string, string][] {
  return [...values].flatMap(([name, value]): [string, string][] =>
    name.startsWith(`${place} `) ? [[name.slice(place.length + 1), value]] : [],
  );
}

/** The recorded reply of a success; `undefined` if there is none. */
export function exampleReply({ responses }: Operation): unknown {
  const contents = Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}));
  return contents.find(({ example }) => example !== undefined)?.example;
}

export function isPublic({ security }: Operation): boolean {
  return security?.length === 0;
}

/** Whether a webhook signature takes the place of the key. */
export function isSigned({ security = [] }: Operation): boolean {
  return security.some((one) => 'signature' in one);
}
