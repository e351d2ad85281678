/** Conversion between queries of the builder and PromQL, for the forms that both have */
import type { TimeAggregation } from '../../editors/query-form.ts';
import type { SeriesAggregation } from './aggregations.ts';

/** Query of the builder */
export interface BuilderQuery {
  readonly metric: string;
  readonly overTime: TimeAggregation;
  readonly across: SeriesAggregation;
  readonly groupBy: readonly string[];
  /** Search on labels */
  readonly filter: string;
}

/** A metric with its names in PromQL, as the catalog has them */
export interface NamedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly promqlName: string;
  readonly promqlLabels: readonly string[];
}

type Conversion<Value> = { readonly value: Value } | { readonly reason: string };

interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Part of a histogram: its buckets, the number of observations, or their sum */
type Part = '' | '_bucket' | '_count' | '_sum';

const window = '5m';
const overTimeFunctions: Readonly<Partial<Record<TimeAggregation, string>>> = {
  rate: 'rate',
  increase: 'increase',
  avg: 'avg_over_time',
  last: 'last_over_time',
  min: 'min_over_time',
  max: 'max_over_time',
  sum: 'sum_over_time',
  count: 'count_over_time',
};
const quantile = '0.95';

/** The builder sums rates, and averages other values, unless another aggregation is selected. */
export const getDefaultAcross = (overTime: TimeAggregation): SeriesAggregation =>
  overTime === 'rate' || overTime === 'increase' ? 'sum' : 'avg';

/** Field `service` of searches: PromQL has it as the job */
const serviceLabel = 'service';
const jobLabel = 'job';

const toPromqlLabel = ({ labels, promqlLabels }: NamedMetric, name: string): string | undefined => {
  const label = promqlLabels[labels.indexOf(name)];
  if (label !== undefined) return label === '' ? undefined : label;
  return name === serviceLabel ? jobLabel : undefined;
};

const toBuilderLabel = ({ labels, promqlLabels }: NamedMetric, promqlLabel: string): string | undefined =>
  labels[promqlLabels.indexOf(promqlLabel)] ?? (promqlLabel === jobLabel ? serviceLabel : undefined);

const condition =
  /^(NOT\s+)?([\w./-]{1,256}):(?:"((?:[^"\\]|\\.){0,1024})"|([^\s"*?()<>[\]{}:]{1,1024}))(?:\s+(?:AND\s+)?|$)/;

/** Returns the conditions of a search that has only equalities; `undefined` for others. */
const parseConditions = (search: string): readonly Matcher[] | undefined => {
  const matchers: Matcher[] = [];
  let rest = search.trim();
  while (rest !== '') {
    const [matched, not, label, quoted, plain] = condition.exec(rest) ?? [];
    if (matched === undefined || label === undefined) return undefined;
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '';
    matchers.push({ label, operator: not === undefined ? '=' : '!=', value });
    rest = rest.slice(matched.length);
  }
  return matchers;
};

const quote = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;
/** A name that PromQL writes without quotes */
const isPlainName = (name: string): boolean => /^[A-Za-z_:][\w:]*$/.test(name);
const formatLabel = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : quote(name));

const formatSelector = (name: string, matchers: readonly Matcher[]): string => {
  const conditions = matchers.map(({ label, operator, value }) => `${formatLabel(label)}${operator}${quote(value)}`);
  if (!isPlainName(name)) return `{${[quote(name), ...conditions].join(', ')}}`;
  return conditions.length === 0 ? name : `${name}{${conditions.join(', ')}}`;
};

const aggregate = (across: SeriesAggregation, labels: readonly string[], inner: string): string => {
  if (across === 'none') return inner;
  return labels.length === 0
    ? `${across}(${inner})`
    : `${across} by (${labels.map(formatLabel).join(', ')}) (${inner})`;
};

const isHistogram = ({ type }: NamedMetric): boolean => type === 'histogram';

/** Returns the names in PromQL, or the first name that is not a label there. */
const toPromqlLabels = (metric: NamedMetric, names: readonly string[]): Conversion<readonly string[]> => {
  const labels = names.map((name) => toPromqlLabel(metric, name));
  const missing = labels.indexOf(undefined);
  return missing < 0 ? { value: labels as string[] } : { reason: `${names[missing]} is not a label in PromQL` };
};

/** Returns why a query has no expression, without its labels; `undefined` if it has one. */
const findObstacle = ({ across, groupBy }: BuilderQuery, { promqlName, type }: NamedMetric): string | undefined => {
  if (promqlName === '') return 'The metric has no name in PromQL';
  if (/exponential|summary/.test(type)) return `A metric of the type ${type} has no such query in PromQL`;
  return across === 'none' && groupBy.length > 0
    ? 'Series that are not aggregated cannot be grouped in PromQL'
    : undefined;
};

interface ExpressionParts {
  readonly labels: readonly string[];
  readonly select: (part: Part) => string;
}

const buildHistogramExpression = (
  { overTime, across }: BuilderQuery,
  { labels, select }: ExpressionParts,
): Conversion<string> => {
  if (overTime === 'rate' || overTime === 'increase')
    return { value: aggregate(across, labels, `${overTime}(${select('_count')})`) };
  if (across !== getDefaultAcross(overTime)) return { reason: 'Averages of histograms are weighted in PromQL' };
  const sumRate = (part: Part, grouping = labels): string => aggregate('sum', grouping, `rate(${select(part)})`);
  if (overTime === 'avg') return { value: `${sumRate('_sum')} / ${sumRate('_count')}` };
  if (overTime === 'quantile')
    return { value: `histogram_quantile(${quantile}, ${sumRate('_bucket', ['le', ...labels])})` };
  return { reason: 'Histograms have rate, increase, average and p95 in PromQL' };
};

/** Returns the PromQL expression of a query, or why there is none. */
export const toPromql = (query: BuilderQuery, metric: NamedMetric): Conversion<string> => {
  const { overTime, across, groupBy, filter } = query;
  const obstacle = findObstacle(query, metric);
  if (obstacle !== undefined) return { reason: obstacle };
  const conditions = parseConditions(filter);
  if (conditions === undefined) return { reason: 'Only filters such as label:value have an equivalent in PromQL' };
  const names = conditions.map(({ label }) => label);
  const converted = toPromqlLabels(metric, [...names, ...groupBy]);
  if ('reason' in converted) return converted;
  const matchers = conditions.map((one, index) => ({ ...one, label: converted.value[index] ?? '' }));
  const parts: ExpressionParts = {
    labels: converted.value.slice(names.length),
    select: (part) => `${formatSelector(`${metric.promqlName}${part}`, matchers)}[${window}]`,
  };
  if (isHistogram(metric)) return buildHistogramExpression(query, parts);
  const inner =
    overTime === 'quantile'
      ? `quantile_over_time(${quantile}, ${parts.select('')})`
      : `${overTimeFunctions[overTime]}(${parts.select('')})`;
  return { value: aggregate(across, parts.labels, inner) };
};

/** An expression of one of the forms of the builder, with names of PromQL */
export interface PromqlForm {
  /** Name of the metric, with the suffix of a part */
  readonly name: string;
  readonly function: string;
  readonly quantile: string | undefined;
  readonly across: SeriesAggregation;
  readonly labels: readonly string[];
  readonly matchers: readonly Matcher[];
}

const tokenPattern =
  /\s*("(?:[^"\\]|\\.){0,1024}"|[A-Za-z_:][\w:]{0,511}|\d{1,9}(?:\.\d{1,9})?[a-z]{0,2}|!=|[=(){}[\],/])/y;

/** Returns the tokens of an expression; `undefined` if it has others than the forms of the builder. */
const scan = (expression: string): readonly string[] | undefined => {
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  const end = expression.trimEnd().length;
  while (tokenPattern.lastIndex < end) {
    const start = tokenPattern.lastIndex;
    const [, token] = tokenPattern.exec(expression) ?? [];
    if (token === undefined || tokens.length > 500) return undefined;
    tokens.push(token);
    if (tokenPattern.lastIndex === start) return undefined;
  }
  return tokens;
};

class UnknownForm extends Error {}

const unquote = (token: string): string => token.slice(1, -1).replace(/\\(.)/g, '$1');
const acrossNames: ReadonlySet<string> = new Set(['sum', 'avg', 'min', 'max', 'count']);

/** Reads tokens from left to right. Throws `UnknownForm` for an expression that the builder cannot have. */
class FormReader {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  #next(): string {
    const token = this.#tokens[this.#position++];
    if (token === undefined) throw new UnknownForm();
    return token;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#position] !== token) return false;
    this.#position++;
    return true;
  }

  #require(token: string): void {
    if (!this.#take(token)) throw new UnknownForm();
  }

  #readName(): string {
    const token = this.#next();
    if (token.startsWith('"')) return unquote(token);
    if (!/^[A-Za-z_:]/.test(token)) throw new UnknownForm();
    return token;
  }

  #readLabels(): string[] {
    const labels: string[] = [];
    this.#require('(');
    while (!this.#take(')')) {
      labels.push(this.#readName());
      if (!this.#take(',')) {
        this.#require(')');
        break;
      }
    }
    return labels;
  }

  /** Reads a condition in braces: a matcher, or a name in quotes. */
  #readMatcher(): Matcher | string {
    const label = this.#readName();
    const operator = this.#take('=') ? '=' : this.#take('!=') ? '!=' : undefined;
    if (operator === undefined) return label;
    const value = this.#next();
    if (!value.startsWith('"')) throw new UnknownForm();
    return label === '__name__' && operator === '=' ? unquote(value) : { label, operator, value: unquote(value) };
  }

  #readMatchers(): { readonly name: string | undefined; readonly matchers: Matcher[] } {
    const read: (Matcher | string)[] = [];
    while (!this.#take('}')) {
      read.push(this.#readMatcher());
      if (this.#take(',')) continue;
      this.#require('}');
      break;
    }
    return {
      name: read.find((one) => typeof one === 'string'),
      matchers: read.filter((one) => typeof one !== 'string'),
    };
  }

  #readSelector(): Pick<PromqlForm, 'name' | 'matchers'> {
    const written = this.#take('{') ? undefined : this.#readName();
    const hasBraces = written === undefined || this.#take('{');
    const { name, matchers } = hasBraces ? this.#readMatchers() : { name: undefined, matchers: [] };
    this.#require('[');
    this.#require(window);
    this.#require(']');
    const metric = written ?? name;
    if (metric === undefined || (written !== undefined && name !== undefined)) throw new UnknownForm();
    return { name: metric, matchers };
  }

  #readFunction(): Pick<PromqlForm, 'function' | 'quantile' | 'name' | 'matchers'> {
    const name = this.#readName();
    this.#require('(');
    const isQuantile = name === 'quantile_over_time';
    if (isQuantile) {
      this.#require(quantile);
      this.#require(',');
    }
    const selector = this.#readSelector();
    this.#require(')');
    return { function: name, quantile: isQuantile ? quantile : undefined, ...selector };
  }

  #readAggregate(): PromqlForm {
    const across = this.#tokens[this.#position] ?? '';
    if (!acrossNames.has(across)) return { ...this.#readFunction(), across: 'none', labels: [] };
    this.#position++;
    let labels = this.#take('by') ? this.#readLabels() : [];
    this.#require('(');
    const inner = this.#readFunction();
    this.#require(')');
    // The grouping may also follow the aggregated expression.
    if (labels.length === 0 && this.#take('by')) labels = this.#readLabels();
    return { ...inner, across: across as SeriesAggregation, labels };
  }

  readForms(): readonly PromqlForm[] {
    if (this.#take('histogram_quantile')) {
      this.#require('(');
      this.#require(quantile);
      this.#require(',');
      const form = this.#readAggregate();
      this.#require(')');
      this.#requireEnd();
      return [{ ...form, function: 'histogram_quantile', quantile }];
    }
    const form = this.#readAggregate();
    const forms = this.#take('/') ? [form, this.#readAggregate()] : [form];
    this.#requireEnd();
    return forms;
  }

  #requireEnd(): void {
    if (this.#position < this.#tokens.length) throw new UnknownForm();
  }
}

/** Returns the parts of an expression that the builder could have; `undefined` for others. */
export const parsePromqlForms = (expression: string): readonly PromqlForm[] | undefined => {
  const tokens = scan(expression);
  if (tokens === undefined || tokens.length === 0) return undefined;
  try {
    return new FormReader(tokens).readForms();
  } catch (error) {
    if (error instanceof UnknownForm) return undefined;
    throw error;
  }
};

const formatValue = (value: string): string => (/^[^\s"*?()<>[\]{}:\\]+$/.test(value) ? value : quote(value));

/** Returns the query of the builder with the same expression; `undefined` if the builder has none. */
export const toBuilderQuery = (expression: string, metrics: readonly NamedMetric[]): BuilderQuery | undefined => {
  const forms = parsePromqlForms(expression);
  const form = forms?.[0];
  if (form === undefined) return undefined;
  const baseName = form.name.replace(/_(?:bucket|count|sum)$/, '');
  const metric =
    metrics.find(({ promqlName }) => promqlName === form.name) ??
    metrics.find((candidate) => candidate.promqlName === baseName && isHistogram(candidate));
  if (metric === undefined) return undefined;
  const labels = form.labels.filter((label) => label !== 'le').map((label) => toBuilderLabel(metric, label));
  const conditions = form.matchers.map(({ label, operator, value }) => {
    const name = toBuilderLabel(metric, label);
    return name === undefined ? undefined : `${operator === '!=' ? 'NOT ' : ''}${name}:${formatValue(value)}`;
  });
  if (labels.includes(undefined) || conditions.includes(undefined)) return undefined;
  const overTimes = Object.keys({ ...overTimeFunctions, quantile: '' }) as TimeAggregation[];
  const candidates = overTimes.flatMap((overTime) =>
    [form.across, getDefaultAcross(overTime)].map(
      (across): BuilderQuery => ({
        metric: metric.name,
        overTime,
        across,
        groupBy: labels as string[],
        filter: conditions.join(' AND '),
      }),
    ),
  );
  // A query of the builder is the one whose expression has the same forms.
  const serializedForms = JSON.stringify(forms);
  const isSame = (candidate: BuilderQuery): boolean => {
    const converted = toPromql(candidate, metric);
    return 'value' in converted && JSON.stringify(parsePromqlForms(converted.value)) === serializedForms;
  };
  return candidates.find(isSame);
};
