/** Determines which kind of Grafana data source a panel, query or variable uses. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { toFieldsList } from './ledger.ts';

/** Kind of a data source. `metrics`: PromQL. `unknown`: determined from the query. */
export type SourceKind = 'metrics' | 'unknown' | 'mixed' | 'expression' | 'internal' | { readonly foreign: string };

const promqlSourceTypes: ReadonlySet<string> = new Set([
  ...['prometheus', 'grafana-amazonprometheus-datasource', 'grafana-azureprometheus-datasource'],
  ...['victoriametrics-metrics-datasource', 'victoriametrics-datasource', 'cortex', 'mimir', 'thanos'],
]);

export const isPromqlSource = (type: unknown): boolean => promqlSourceTypes.has(String(type));

/** Extracts the name from `$name`, `${name}`, `${name:raw}` and `[[name]]`. */
const extractVariable = (text: string): string | undefined =>
  /^(?:\$(\w+)|\$\{(\w+)(?::\w+)?\}|\[\[(\w+)(?::\w+)?\]\])$/
    .exec(text)
    ?.slice(1)
    .find((name) => name !== undefined);

const findKindByType = (type: string): SourceKind => {
  if (isPromqlSource(type)) return 'metrics';
  if (type === '__expr__') return 'expression';
  return type === 'grafana' || type === 'datasource' ? 'internal' : { foreign: type };
};

/** Converts a data source name to a reference, as in Grafana since version 8; returns any other value unchanged. */
export const toSourceReference = (value: unknown): unknown => (typeof value === 'string' ? { uid: value } : value);

/** The data sources that a dashboard references. */
export class Sources {
  readonly #types = new Map<string, string>();

  constructor(variables: unknown, inputs: unknown) {
    for (const { name, type, pluginId } of toFieldsList(inputs))
      if (type === 'datasource') this.#types.set(String(name), String(pluginId));
    for (const { name, type, query } of toFieldsList(variables))
      if (type === 'datasource' && typeof query === 'string') this.#types.set(String(name), query);
  }

  findKind(reference: unknown): SourceKind {
    if (typeof reference === 'string') return this.#findKindByName(reference);
    if (!isFields(reference)) return 'unknown';
    const { type, uid } = reference;
    const kindByUid = typeof uid === 'string' ? this.#findKindByName(uid) : 'unknown';
    if (kindByUid === 'mixed' || kindByUid === 'expression') return kindByUid;
    return typeof type === 'string' && type !== '' ? findKindByType(type) : kindByUid;
  }

  #findKindByName(name: string): SourceKind {
    if (name === '-- Mixed --') return 'mixed';
    if (name === '-- Grafana --' || name === 'grafana') return 'internal';
    if (name === '-- Dashboard --') return { foreign: 'dashboard' };
    if (name === '__expr__') return 'expression';
    const type = this.#types.get(extractVariable(name) ?? '');
    return type === undefined ? 'unknown' : findKindByType(type);
  }
}

/** Returns whether an expression is LogQL instead of PromQL. */
const isLogQl = (expression: string): boolean =>
  /\|[=~]|\|\s*(?:json|logfmt|pattern|regexp|unpack|unwrap|line_format|label_format|decolorize)\b/.test(expression) ||
  /\}\s*!=\s*[`"]/.test(expression);

/** Guesses the kind of data source from a query without one. */
export const guessSource = ({ expr }: Fields): SourceKind =>
  typeof expr === 'string' && !isLogQl(expr) ? 'metrics' : { foreign: 'unknown' };
