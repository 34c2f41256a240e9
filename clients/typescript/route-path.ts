/** The paths of the Worker's routes. A route that the Worker does not have does not compile. */
import { pathSegment } from '../../src/text/path-segment.ts';
import type { RouteName } from '../../src/wire/openapi/routes.ts';

type ParametersIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersIn<Rest>
  : never;

/** The parameters in the path of a route: `id` of `GET /v1/runs/{id}`. */
type PathParameters<Name extends RouteName> = Readonly<Record<ParametersIn<Name>, string>>;

/** Fields of a query; those without a value are left out. */
type QueryFields = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The path of a route without its first slash, with its parameters and query.
 *
 * @example routePath('GET /v1/runs/{id}', { id: 'a/b' }, { limit: 5 }) // 'v1/runs/a%2Fb?limit=5'
 */
export function routePath<Name extends RouteName>(
  name: Name,
  parameters: PathParameters<Name>,
  query: QueryFields = {},
): string {
  const values = new Map<string, string>(Object.entries(parameters));
  const path = name
    .slice(name.indexOf('/') + 1)
    .replaceAll(/\{([a-z_]+)\}/g, (_all, parameter: string) => pathSegment(values.get(parameter) ?? ''));
  const fields = new URLSearchParams();
  for (const [field, value] of Object.entries(query)) if (value !== undefined) fields.set(field, String(value));
  return fields.size === 0 ? path : `${path}?${fields}`;
}
