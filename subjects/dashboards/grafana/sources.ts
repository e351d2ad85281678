/** Grafana data source of an object. */
import { type Fields, fieldsIn, isFields } from './ledger.ts';

/** Kind of a data source. `metrics`: PromQL. `unknown`: determined from the query. */
export type SourceKind = 'metrics' | 'unknown' | 'mixed' | 'expression' | 'internal' | { readonly foreign: string };

const ofMetrics: ReadonlySet<string> = new Set([
  ...['prometheus', 'grafana-amazonprometheus-datasource', 'grafana-azureprometheus-datasource'],
  ...['victoriametrics-metrics-datasource', 'victoriametrics-datasource', 'cortex', 'mimir', 'thanos'],
]);

export const isOfMetrics = (type: unknown): boolean => ofMetrics.has(String(type));

/** Extracts the name from `$name`, `${name}`, `${name:raw}` and `[[name]]`. */
const variableIn = (text: string): string | undefined =>
  /^(?:\$(\w+)|\$\{(\w+)(?::\w+)?\}|\[\[(\w+)(?::\w+)?\]\])$/
    .exec(text)
    ?.slice(1)
    .find((name) => name !== undefined);

const ofType = (type: string): SourceKind => {
  if (isOfMetrics(type)) return 'metrics';
  if (type === '__expr__') return 'expression';
  return type === 'grafana' || type === 'datasource' ? 'internal' : { foreign: type };
};

/** The data sources that a dashboard references. */
export class Sources {
  readonly #types = new Map<string, string>();

  constructor(variables: unknown, inputs: unknown) {
    for (const { name, type, pluginId } of fieldsIn(inputs))
      if (type === 'datasource') this.#types.set(String(name), String(pluginId));
    for (const { name, type, query } of fieldsIn(variables))
      if (type === 'datasource' && typeof query === 'string') this.#types.set(String(name), query);
  }

  kindOf(reference: unknown): SourceKind {
    if (typeof reference === 'string') return this.#ofName(reference);
    if (!isFields(reference)) return 'unknown';
    const { type, uid } = reference;
    const named = typeof uid === 'string' ? this.#ofName(uid) : 'unknown';
    if (named === 'mixed' || named === 'expression') return named;
    return typeof type === 'string' && type !== '' ? ofType(type) : named;
  }

  #ofName(name: string): SourceKind {
    if (name === '-- Mixed --') return 'mixed';
    if (name === '-- Grafana --' || name === 'grafana') return 'internal';
    if (name === '-- Dashboard --') return { foreign: 'dashboard' };
    if (name === '__expr__') return 'expression';
    const type = this.#types.get(variableIn(name) ?? '');
    return type === undefined ? 'unknown' : ofType(type);
  }
}

/** Returns whether an expression is LogQL instead of PromQL. */
const isLogQl = (expression: string): boolean =>
  /\|[=~]|\|\s*(?:json|logfmt|pattern|regexp|unpack|unwrap|line_format|label_format|decolorize)\b/.test(expression) ||
  /\}\s*!=\s*[`"]/.test(expression);

/** Guesses the kind of data source from a query without one. */
export const guessed = ({ expr }: Fields): SourceKind =>
  typeof expr === 'string' && !isLogQl(expr) ? 'metrics' : { foreign: 'unknown' };
