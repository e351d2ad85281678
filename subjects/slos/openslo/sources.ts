/** Converts OpenSLO data source queries to queries: PromQL, or our own form */
import { z } from 'zod';
import { Query } from '../../../queries/query.ts';
import { parseDurationMs } from '../../alerts/durations.ts';
import { hasWindowPlaceholder, insertWindow, minScrapedWindow, rewriteAsIncrease, rewriteRates } from './counters.ts';
import type { Fields } from './objects.ts';

/** Requests of a service, counted as in the short form */
const Requests = z.strictObject({
  requests: z.enum(['good', 'all']),
  latencyThresholdMs: z.number().nullable().default(null),
});
export type Requests = z.output<typeof Requests>;

/** Options of a part: `counter` means that the metric increases, and its increase over a slice is used. */
export interface PartRequest {
  readonly counter: boolean;
  readonly slice: string;
}

/** One part of an indicator; `undefined` if it is unsupported, which is reported */
export interface IndicatorPart {
  (request: PartRequest): Query | Requests | undefined;
  /** Returns the slice for an objective that does not specify one, if it must be longer than usual. */
  getDefaultSlice?(counter: boolean): string | undefined;
}

/**
 * Parses PromQL, and reports errors with `fail`. Sloth's window placeholder is replaced by the slice, and rates over
 * that window become increases.
 */
export const createPromqlPart = (text: string, fail: (message: string) => undefined): IndicatorPart => {
  const toQuery = ({ counter, slice }: PartRequest) => {
    if (!counter && !hasWindowPlaceholder(text)) return { kind: 'promql', expression: text } as const;
    const rewritten = hasWindowPlaceholder(text)
      ? rewriteRates(insertWindow(text, slice), parseDurationMs(slice))
      : rewriteAsIncrease(text, parseDurationMs(slice));
    return 'problem' in rewritten
      ? fail(rewritten.problem)
      : ({ kind: 'promql', expression: rewritten.expression } as const);
  };
  return Object.assign(toQuery, {
    getDefaultSlice: (counter: boolean) => (counter || hasWindowPlaceholder(text) ? minScrapedWindow : undefined),
  });
};

/** Parses a query in our own form, or requests. */
const parseNativePart =
  (value: unknown, fail: (message: string) => undefined): IndicatorPart =>
  ({ counter }) => {
    const isRequests = typeof value === 'object' && value !== null && 'requests' in value;
    const { success, data, error } = (isRequests ? Requests : Query).safeParse(value);
    if (!success)
      return fail(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; '));
    if (!counter) return data;
    return 'overTime' in data
      ? { ...data, overTime: 'increase' }
      : fail('must be of the kind metric if counter is true: other kinds have no increase');
  };

/** Parses the `spec` of a metric for a type of data source. */
export const parseSpecPart = (type: string, metric: Fields): IndicatorPart | undefined => {
  if (type === 'oiq') return parseNativePart(metric.value('spec'), (message) => metric.fail('spec', message));
  const spec = metric.map('spec');
  const key = spec?.has('promql') ? 'promql' : 'query';
  const text = spec?.text(key);
  spec?.reportUnread();
  return text === undefined ? undefined : createPromqlPart(text, (message) => spec?.fail(key, message));
};

/** Parses a v1alpha metric: source, query type and query text. */
export const parseTextPart = (metric: Fields): IndicatorPart | undefined => {
  const [source, type, text] = [metric.text('source'), metric.text('queryType'), metric.text('query')];
  metric.reportUnread();
  if (source === undefined || type === undefined || text === undefined) return undefined;
  const fail = (message: string): undefined => metric.fail('query', message);
  if (source.toLowerCase() === 'prometheus')
    return ['promql', 'query'].includes(type.toLowerCase())
      ? createPromqlPart(text, fail)
      : metric.fail('queryType', 'must be promql');
  if (source.toLowerCase() !== 'oiq')
    return metric.fail('source', `is ${source}: only prometheus and oiq are supported`);
  if (type.toLowerCase() !== 'json') return metric.fail('queryType', 'must be json');
  try {
    return parseNativePart(JSON.parse(text), fail);
  } catch (error) {
    return fail(`must be JSON: ${(error as Error).message}`);
  }
};
