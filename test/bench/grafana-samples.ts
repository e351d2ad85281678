/**
 * Series that the panels of Grafana's dashboards select and distinguish, and their samples: counters with resets,
 * gauges, classic histograms, series that begin late, have gaps, or end with a staleness marker, and values that are
 * not numbers.
 */
import { parse } from '../../queries/promql/index.ts';
import { compileTest } from '../../queries/promql/syntax/matchers.ts';
import { type Expression, type VectorSelector, visitExpressions } from '../../queries/promql/syntax/tree.ts';
import type { TimeSeries } from '../end-to-end/conformance.ts';
import { type Choice, type Fields, fieldsIn, grafanaText, isFields, panelsIn, variablesIn } from './grafana-filling.ts';

export type Labels = Readonly<Record<string, string>>;

const intervalMs = 15_000;
const les = ['0.1', '1', '10', '+Inf'];
/** Values of labels that expressions do not name, with characters of regular expressions, as in real devices. */
const values = ['n-1.example:9100', 'eth0@if(3)+'] as const;
/** The maximum number of series per metric. */
const maxPerMetric = 60;
/** The staleness marker of Prometheus. */
const stale = new Float64Array(new BigUint64Array([0x7ff0_0000_0000_0002n]).buffer)[0] as number;

/** A value that satisfies the matchers, if one of their texts does. */
const valueFor = (matchers: VectorSelector['matchers'], name: string, variant: number): string | undefined => {
  const own = matchers.filter((each) => each.name === name);
  const texts = own.flatMap(({ value }) => [value, ...value.replace(/[()^$?]/g, '').split('|')]);
  const plain = texts.map((text) => text.replaceAll(/\.[*+]|\\/g, ''));
  return [values[variant] ?? '', ...values, ...texts, ...plain, ...plain.map((text) => `${text}1`), '200', 'x'].find(
    (text) => own.every((matcher) => compileTest(matcher)(text)),
  );
};

const groupedBy = (node: Expression): readonly string[] => {
  if (node.kind === 'aggregation') return node.without ? [] : node.grouping;
  if (node.kind !== 'binary' || node.matching === undefined) return [];
  return [...(node.matching.on ? node.matching.labels : []), ...node.matching.include];
};

/** Labels that an expression groups or matches by. */
const groupingsOf = (expression: Expression): readonly string[] => {
  const names = new Set(['instance', 'job']);
  visitExpressions(expression, (node) => {
    for (const name of groupedBy(node)) names.add(name);
  });
  return [...names].filter((name) => name !== 'le' && name !== '__name__');
};

export const keyOf = (labels: Labels): string =>
  JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Generated series by their labels. */
class GeneratedSeries {
  readonly series = new Map<string, Labels>();
  readonly #ofMetric = new Map<string, number>();

  #add(labels: Labels): void {
    const metric = labels['__name__'] ?? '';
    const count = this.#ofMetric.get(metric) ?? 0;
    if (this.series.has(keyOf(labels)) || count >= maxPerMetric) return;
    this.#ofMetric.set(metric, count + 1);
    this.series.set(keyOf(labels), labels);
  }

  #addFor({ matchers }: VectorSelector, groupings: readonly string[], variant: number): void {
    const labelNames = new Set([...groupings, ...matchers.map(({ name }) => name)]);
    const pairs = [...labelNames].map((name) => [name, valueFor(matchers, name, variant) ?? ''] as const);
    const labels: Labels = Object.fromEntries(pairs.filter(([, value]) => value !== ''));
    const { __name__: metric, le: own } = labels;
    if (metric === undefined) return;
    const isBuckets = metric.endsWith('_bucket') && !les.includes(own ?? '');
    for (const le of isBuckets ? les : ['']) this.#add({ ...labels, ...(le && { le }) });
  }

  /** Adds two series for each selector of a valid expression. */
  addAll(text: string): void {
    let expression: Expression;
    try {
      ({ expression } = parse(text));
    } catch {
      return;
    }
    const groupings = groupingsOf(expression);
    visitExpressions(expression, (node) => {
      if (node.kind === 'selector' && !node.hasLabelsOnly)
        for (const variant of [0, 1]) this.#addFor(node, groupings, variant);
    });
  }
}

/** The value of a variable while series are generated. */
const choiceOf = (variable: Fields, variant: string): Choice => {
  const { type, current, query } = variable;
  const first = String(query ?? '').split(',')[0] ?? '';
  const [, , own = first] = /^(.+?)\s:\s(.+)$/s.exec(first) ?? [];
  const value = isFields(current) && typeof current['value'] === 'string' ? current['value'] : '';
  if (type === 'query') return { values: [variant], isAll: false };
  return { values: [value === '' || value.startsWith('$__') ? own.trim() : value], isAll: false };
};

/** The query of a variable as an expression that returns its values. */
const queryTextOf = (variable: Fields): string => {
  const query = isFields(variable['query']) ? variable['query']['query'] : variable['query'];
  const text = typeof query === 'string' ? query.trim() : '';
  const [, match = 'up', label = ''] = /^label_values\((?:(.*),)?\s*(\w+)\s*\)$/s.exec(text) ?? [];
  if (label !== '') return `count by (${label}) (${match})`;
  return /^query_result\((.*)\)$/s.exec(text)?.[1] ?? text;
};

/** Generates series for all queries of the dashboards. */
export const generateSeriesFor = (dashboards: readonly Fields[]): readonly Labels[] => {
  const created = new GeneratedSeries();
  for (const dashboard of dashboards) {
    const variables = variablesIn(dashboard);
    const texts = [
      ...variables.filter(({ type }) => type === 'query').map(queryTextOf),
      ...panelsIn(dashboard).flatMap(({ targets }) =>
        fieldsIn(targets).flatMap(({ expr }) => (typeof expr === 'string' ? [expr] : [])),
      ),
    ];
    const times = { fromMs: 0, toMs: 3_600_000, stepMs: 60_000, scrapeMs: undefined };
    for (const variant of values) {
      const choices = new Map(variables.map((each) => [String(each['name']), choiceOf(each, variant)]));
      for (const text of texts) created.addAll(grafanaText(text, variables, choices, times));
    }
  }
  return [...created.series.values()];
};

const hashOf = (text: string): number => {
  let hash = 7;
  for (const char of text) hash = (hash * 31 + char.charCodeAt(0)) % 1_000_003;
  return hash;
};

const isCounter = (metric: string): boolean => /_(?:total|count|sum|bucket)$/.test(metric);

/** The samples of a series. All buckets of a histogram are reset at the same times. */
export const samplesOf = (labels: Labels, startMs: number, endMs: number): TimeSeries => {
  const { le, ...own } = labels;
  const hash = hashOf(keyOf(own));
  const metric = labels['__name__'] ?? '';
  const offsetMs = hash % intervalMs;
  const count = Math.floor((endMs - startMs - offsetMs) / intervalMs) + 1;
  const resets = hash % 3 === 0 ? [41, 77] : [];
  const growth = le === undefined ? 1 + (hash % 7) : 2 + les.indexOf(le);
  const valueAt = (step: number): number => {
    if (!isCounter(metric)) return hash % 23 === 0 && step % 9 === 4 ? Number.NaN : ((hash + step * 17) % 100) / 4 - 3;
    const since = resets.findLast((at) => at <= step) ?? 0;
    return (step - since) * growth + (le === undefined ? (((hash + step) * 13) % 10) / 16 : 0);
  };
  const first = hash % 13 === 5 ? 30 : 0;
  const end = hash % 11 === 4 ? Math.floor(count * 0.75) : count;
  const samples = Array.from({ length: count }, (_, step) => step)
    .filter((step) => step >= first && step <= end && !(hash % 7 === 3 && step > 50 && step < 80))
    .map((step) => ({
      value: step === end ? stale : valueAt(step),
      timestamp: startMs + offsetMs + step * intervalMs,
    }));
  return { labels: Object.entries(labels), samples };
};
