/** API reference: renders /openapi.json route by route. */
import { useState } from 'preact/hooks';
import { useApi } from '../api/use-api.ts';
import { plural } from '../display/number-text.ts';
import { WhenLoaded } from '../display/when-loaded.tsx';
import '../styles/docs.css';
import { type OpenApi, type Operation, type Route, routeGroups } from './openapi.ts';
import { SchemaFields } from './schema-fields.tsx';

export function DocsPage() {
  const loading = useApi<OpenApi>('/openapi.json');
  return (
    <main class="page">
      <div class="page-head">
        <h1>API</h1>
        <a href="/openapi.json">openapi.json</a>
      </div>
      <WhenLoaded loading={loading}>{(api) => <Routes api={api} />}</WhenLoaded>
    </main>
  );
}

function Routes({ api }: { api: OpenApi }) {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().trim();
  const isShown = ({ method, path, operation }: Route): boolean =>
    `${method} ${path} ${operation.summary ?? ''}`.toLowerCase().includes(words);
  const groups = [...routeGroups(api)].flatMap(([name, routes]) => {
    const shown = routes.filter(isShown);
    return shown.length === 0 ? [] : [{ name, shown }];
  });
  return (
    <>
      <label class="field docs-search">
        <span>Find a route</span>
        <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </label>
      <p class="visually-hidden" aria-live="polite">
        {plural(
          groups.reduce((sum, { shown }) => sum + shown.length, 0),
          'route',
        )}
      </p>
      {groups.map(({ name, shown }) => (
        <section key={name} class="card" aria-label={name}>
          <header class="card-head">
            <h2>{name}</h2>
          </header>
          {shown.map((route) => (
            <RouteEntry key={`${route.method} ${route.path}`} route={route} api={api} />
          ))}
        </section>
      ))}
    </>
  );
}

function RouteEntry({ route: { method, path, operation }, api }: { route: Route; api: OpenApi }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="route" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class={`method is-${method.toLowerCase()}`}>{method}</span>
        <code class="route-path">{path}</code>
        <span class="route-summary">{operation.summary}</span>
      </summary>
      {isOpen && <RouteBody operation={operation} api={api} />}
    </details>
  );
}

function RouteBody({ operation, api }: { operation: Operation; api: OpenApi }) {
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  const responses = Object.entries(operation.responses);
  const isProblem = ([, { content }]: (typeof responses)[number]): boolean =>
    content !== undefined && 'application/problem+json' in content;
  const problems = responses.filter(isProblem);
  const replies = responses.filter((response) => !isProblem(response));
  return (
    <div class="route-body">
      {operation.description !== undefined && <p>{operation.description}</p>}
      {(operation.parameters ?? []).length > 0 && (
        <>
          <h3>Parameters</h3>
          <SchemaFields
            api={api}
            fields={(operation.parameters ?? []).map((parameter) => ({
              name: parameter.name,
              required: parameter.required === true,
              schema: {
                ...parameter.schema,
                ...(parameter.description === undefined ? {} : { description: parameter.description }),
              },
            }))}
          />
        </>
      )}
      {bodies.map(([type, { schema }]) => (
        <div key={type}>
          <h3>
            Body <small>{type}</small>
          </h3>
          {schema !== undefined && <SchemaFields api={api} schema={schema} />}
        </div>
      ))}
      {replies.map(([status, { description, content }]) => (
        <Reply key={status} status={status} description={description ?? ''} content={content ?? {}} api={api} />
      ))}
      {problems.length > 0 && (
        <p class="muted">
          Problems: {problems.map(([status]) => status).join(', ')}; the field <code>reason</code> distinguishes them.
        </p>
      )}
    </div>
  );
}

type ReplyProps = {
  status: string;
  description: string;
  content: NonNullable<Operation['responses'][string]['content']>;
  api: OpenApi;
};

function Reply({ status, description, content, api }: ReplyProps) {
  const [[type, body] = []] = Object.entries(content);
  if (type === undefined || body?.schema === undefined) {
    return (
      <p class="reply">
        <b>{status}</b> {description}
      </p>
    );
  }
  return (
    <details class="reply">
      <summary>
        <b>{status}</b> {description} <small>{type}</small>
      </summary>
      <SchemaFields api={api} schema={body.schema} />
    </details>
  );
}
