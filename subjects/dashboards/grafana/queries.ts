/** Queries of panels, in both directions. */

import { parseFormula } from '../../../queries/formula/parse.ts';
import { getPromql } from '../../../queries/query-kind.ts';
import { parseDuration } from '../../../queries/time.ts';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { Panel } from '../document.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import type { QueryRenames } from './query-renames.ts';
import { guessSource, type SourceKind, type Sources } from './sources.ts';

type PanelQuery = Panel['queries'][number];

/** Converted queries of a panel. */
export interface ReadQueries {
  readonly queries: object[];
  readonly formulas: object[];
  /** New names of queries by original name. */
  readonly renamed: QueryRenames;
  /** Types of unsupported data sources. */
  readonly foreign: readonly string[];
  /** Texts of unsupported queries. */
  readonly texts: readonly string[];
}

const maxQueries = 26;
const alphabet = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));

const toQueryName = (text: string): string =>
  /^[A-Za-z_]\w{0,59}$/.test(text)
    ? text
    : text
        .replaceAll(/\W/g, '_')
        .replace(/^(?=\d)/, '_')
        .slice(0, 60);

/** Returns a name by which formulas can reference the query. */
export const chooseQueryName = (refId: unknown, usedNames: ReadonlySet<string>): string => {
  const preferredName = typeof refId === 'string' ? toQueryName(refId) : '';
  if (preferredName !== '' && !usedNames.has(preferredName)) return preferredName;
  return alphabet.find((name) => !usedNames.has(name)) ?? `Q${usedNames.size}`;
};

export const readStep = (value: unknown): string | undefined => {
  if (typeof value !== 'string' || value.length > 32) return undefined;
  // A plain number is in seconds.
  const text = /^[1-9]\d{0,9}$/.test(value) ? `${value}s` : value;
  return parseDuration(text) !== undefined || /^\$(?:\w{1,64}|\{\w{1,64}\})$/.test(text) ? text : undefined;
};

const readFactor = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 2 && (value as number) <= 1000 ? (value as number) : undefined;

/** Returns the text of a query for display. */
const getQueryText = (target: Fields): string => {
  const { datasource: _, refId: __, hide: ___, ...fields } = target;
  const text = ['expr', 'query', 'rawSql', 'rawQuery', 'expression', 'queryText'].map((key) => fields[key]);
  const [firstText] = text.filter((candidate) => typeof candidate === 'string' && candidate !== '');
  return String(firstText ?? JSON.stringify(fields)).slice(0, 65_536);
};

/** Grafana panels that need one table of all series. Others draw each series separately, without a format. */
const tablePanelTypes = ['table', 'barchart'];
const getTargetFormat = (isTable: boolean, type: unknown): string =>
  isTable && tablePanelTypes.includes(String(type)) ? 'table' : 'time_series';

const readResultForm = (target: Fields, type: unknown, ledger: Ledger): 'series' | 'table' => {
  const { instant, range, format } = target;
  const isInstant = instant === true && range !== true;
  if (instant === isInstant) ledger.carry(target, 'instant');
  if (typeof range === 'boolean' && (range === !isInstant || (instant === undefined && range)))
    ledger.carry(target, 'range');
  if (format === getTargetFormat(isInstant, type)) ledger.carry(target, 'format');
  return isInstant ? 'table' : 'series';
};

/** Settings of Grafana's editor that have no effect on the query. */
const editorFields = ['metric', 'step', 'refId'];

const readPromql = (
  target: Fields,
  name: string,
  { panel, ledger }: Pick<QueryConversion, 'panel' | 'ledger'>,
): object => {
  const { expr, legendFormat, hide, exemplar } = target;
  ledger.carry(target, 'expr', 'datasource');
  if (target['refId'] === name) ledger.carry(target, 'refId');
  const legend = typeof legendFormat === 'string' && legendFormat.length <= 1024 ? legendFormat : '';
  if (legend === legendFormat) ledger.carry(target, 'legendFormat');
  if (typeof hide === 'boolean') ledger.carry(target, 'hide');
  if (typeof exemplar === 'boolean') ledger.carry(target, 'exemplar');
  const step = readStep(target['interval']);
  if (step !== undefined) ledger.carry(target, 'interval');
  const stepFactor = readFactor(target['intervalFactor']);
  if (stepFactor !== undefined) ledger.carry(target, 'intervalFactor');
  return {
    name,
    query: { kind: 'promql', expression: expr },
    answers: readResultForm(target, panel['type'], ledger),
    ...(step !== undefined && { minStep: step }),
    ...(stepFactor !== undefined && { stepFactor }),
    exemplars: exemplar === true,
    hidden: hide === true,
    legend,
  };
};

/** Grafana's arithmetic over queries: `$A / $B`. */
const readFormula = (target: Fields, name: string, ledger: Ledger): object | undefined => {
  const { type, expression, hide } = target;
  if (type !== 'math' || typeof expression !== 'string' || expression.length > 1024) return undefined;
  const convertedExpression = expression.replaceAll(/\$\{?(\w+)\}?/g, '$1');
  if (`${convertedExpression}`.replaceAll(/[A-Za-z_]\w*/g, '$$$&') !== expression || !isFormula(convertedExpression))
    return undefined;
  ledger.carry(target, 'type', 'expression', 'datasource', 'refId', 'hide');
  return { name, expression: convertedExpression, hidden: hide === true, legend: '' };
};
const isFormula = (text: string): boolean => {
  try {
    parseFormula(text);
    return true;
  } catch {
    return false;
  }
};

const determineSource = (target: Fields, panel: Fields, sources: Sources): SourceKind => {
  const targetSource = sources.findKind(target['datasource']);
  const inheritedSource = targetSource === 'unknown' ? sources.findKind(panel['datasource']) : targetSource;
  const kind =
    targetSource === 'unknown' && inheritedSource !== 'mixed' && inheritedSource !== 'unknown'
      ? inheritedSource
      : targetSource;
  if (kind === 'unknown' || kind === 'mixed') return guessSource(target);
  return kind === 'metrics' && typeof target['expr'] !== 'string'
    ? { foreign: 'prometheus without an expression' }
    : kind;
};

/** Converts one query and adds it to the previous ones. */
const readTarget = (target: Fields, name: string, conversion: QueryConversion): object | undefined => {
  const { panel, sources, ledger, queries, formulas } = conversion;
  const kind = determineSource(target, panel, sources);
  if (kind === 'metrics') {
    if (!hasExpression(target) || queries.length >= maxQueries) return undefined;
    const query = readPromql(target, name, { panel, ledger });
    queries.push(query);
    return query;
  }
  const formula = kind === 'expression' && formulas.length < maxQueries ? readFormula(target, name, ledger) : undefined;
  if (formula !== undefined) formulas.push(formula);
  else if (!isEmptyTarget(target)) {
    conversion.foreign.push(isFields(kind) ? String(kind['foreign']) : String(kind));
    conversion.texts.push(getQueryText(target));
  }
  return formula;
};

interface QueryConversion {
  readonly panel: Fields;
  readonly sources: Sources;
  readonly ledger: Ledger;
  readonly queries: object[];
  readonly formulas: object[];
  readonly foreign: string[];
  readonly texts: string[];
}

/** Converts the queries of a panel. Unsupported queries are reported and not converted. */
export const readQueries = (panel: Fields, sources: Sources, ledger: Ledger): ReadQueries => {
  const conversion: QueryConversion = { panel, sources, ledger, queries: [], formulas: [], foreign: [], texts: [] };
  const usedNames = new Set<string>();
  const renames = new Map<string, string>();
  for (const target of toFieldsList(panel['targets'])) {
    const { refId } = target;
    const name = chooseQueryName(refId, usedNames);
    if (readTarget(target, name, conversion) === undefined) continue;
    // For duplicate names, references mean the first query.
    if (typeof refId === 'string' && refId !== '' && refId !== name && !usedNames.has(refId) && !renames.has(refId))
      renames.set(refId, name);
    usedNames.add(name);
  }
  if (conversion.queries.length > 0 && readStep(panel['interval']) !== undefined) ledger.carry(panel, 'interval');
  if (conversion.queries.length > 0 && conversion.foreign.length === 0) ledger.carry(panel, 'datasource');
  return { ...conversion, renamed: renames };
};

const hasExpression = ({ expr }: Fields): boolean => typeof expr === 'string' && expr !== '' && expr.length <= 16_384;

/** Targets that contain nothing but their name. */
const isEmptyTarget = (target: Fields): boolean =>
  Object.keys(target).every((key) => ['refId', 'datasource', 'hide', ...editorFields].includes(key));

const writePromql = (query: PanelQuery, type: unknown, datasource: object): Fields => {
  const isTable = query.answers === 'table';
  const format = getTargetFormat(isTable, type);
  return {
    datasource,
    expr: (query.query && getPromql(query.query)) ?? '',
    refId: query.name,
    ...(query.legend !== '' && { legendFormat: query.legend }),
    ...(query.hidden && { hide: true }),
    ...(query.exemplars && { exemplar: true }),
    ...(query.minStep !== undefined && { interval: query.minStep }),
    ...(query.stepFactor !== undefined && { intervalFactor: query.stepFactor }),
    ...(isTable ? { instant: true, range: false } : { range: true }),
    ...(format === 'table' && { format }),
  };
};

const expressionDatasource = { type: '__expr__', uid: '__expr__' };

/** Returns whether Grafana can run all queries of a panel. */
export const canBeQueried = ({ queries }: Panel): boolean =>
  queries.every(({ query }) => query !== undefined && getPromql(query) !== undefined);

/** Writes the queries of a panel for a Grafana panel type. */
export const writeQueries = (
  { queries, formulas }: Panel,
  type: unknown,
  datasource: object,
): Record<string, unknown>[] => [
  ...queries.map((query) => ({ ...writePromql(query, type, datasource) })),
  ...formulas.map(({ name, expression, hidden }) => ({
    datasource: expressionDatasource,
    refId: name,
    type: 'math',
    expression: expression.replaceAll(/[A-Za-z_]\w*/g, '$$$&'),
    ...(hidden && { hide: true }),
  })),
];
