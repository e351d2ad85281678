/** What OpenSLO asks of a source of telemetry, as a query: PromQL, or our own form. */
import { z } from 'zod';
import { Query } from '../../../queries/query.ts';
import { msOf } from '../../alerts/durations.ts';
import { hasWindow, increaseOf, ratesAsIncreases, scrapedSlice, withWindow } from './counters.ts';
import type { Fields } from './objects.ts';

/** The requests of a service as the short form counts them. */
const Requests = z.strictObject({
  requests: z.enum(['good', 'all']),
  latencyThresholdMs: z.number().nullable().default(null),
});
export type Requests = z.output<typeof Requests>;

/** How it is asked: `counter` says that what is asked grows, and that its increase over a slice is meant. */
export interface PartRequest {
  readonly counter: boolean;
  readonly slice: string;
}

/** One part of an indicator. Undefined where it cannot be carried, which is told. */
export interface Part {
  (request: PartRequest): Query | Requests | undefined;
  /** The slice where an objective says none. */
  readonly defaultSlice?: string;
}

/** PromQL, which `fail` refuses. Where it has the window of Sloth, that is a slice, and rates over it are increases. */
export const promqlPart = (text: string, fail: (message: string) => undefined): Part => {
  const toQuery = ({ counter, slice }: PartRequest) => {
    if (!counter && !hasWindow(text)) return { kind: 'promql', expression: text } as const;
    const read = hasWindow(text)
      ? ratesAsIncreases(withWindow(text, slice), msOf(slice))
      : increaseOf(text, msOf(slice));
    return 'problem' in read ? fail(read.problem) : ({ kind: 'promql', expression: read.expression } as const);
  };
  return hasWindow(text) ? Object.assign(toQuery, { defaultSlice: scrapedSlice }) : toQuery;
};

/** A query in our own form, or requests. */
const ownPart =
  (value: unknown, fail: (message: string) => undefined): Part =>
  ({ counter }) => {
    const isRequests = typeof value === 'object' && value !== null && 'requests' in value;
    const { success, data, error } = (isRequests ? Requests : Query).safeParse(value);
    if (!success)
      return fail(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; '));
    if (!counter) return data;
    return 'kind' in data && data.kind === 'metric'
      ? { ...data, overTime: 'increase' }
      : fail('must be of the kind metric where counter is true: others have no increase');
  };

/** What `spec` of a metric asks a source of that type. */
export const partOfSpec = (type: string, metric: Fields): Part | undefined => {
  if (type === 'oiq') return ownPart(metric.value('spec'), (message) => metric.fail('spec', message));
  const spec = metric.map('spec');
  const key = spec?.has('promql') ? 'promql' : 'query';
  const text = spec?.text(key);
  spec?.done();
  return text === undefined ? undefined : promqlPart(text, (message) => spec?.fail(key, message));
};

/** What v1alpha asks: source, type of the query and its text. */
export const partOfText = (metric: Fields): Part | undefined => {
  const [source, type, text] = [metric.text('source'), metric.text('queryType'), metric.text('query')];
  metric.done();
  if (source === undefined || type === undefined || text === undefined) return undefined;
  const fail = (message: string): undefined => metric.fail('query', message);
  if (source.toLowerCase() === 'prometheus')
    return ['promql', 'query'].includes(type.toLowerCase())
      ? promqlPart(text, fail)
      : metric.fail('queryType', 'must be promql');
  if (source.toLowerCase() !== 'oiq')
    return metric.fail('source', `is ${source}: only prometheus and oiq are asked here`);
  if (type.toLowerCase() !== 'json') return metric.fail('queryType', 'must be json');
  try {
    return ownPart(JSON.parse(text), fail);
  } catch (error) {
    return fail(`must be JSON: ${(error as Error).message}`);
  }
};
