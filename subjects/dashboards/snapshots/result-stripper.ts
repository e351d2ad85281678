/** Strips results for viewers outside of the organization: only numbers, times and listed values remain. */
import type { Result } from '../../../queries/result.ts';
import type { Panel } from '../document.ts';

/** Data that the creator of a snapshot discloses. */
export interface Disclosure {
  /** Names of labels and fields whose values remain. */
  readonly labels: readonly string[];
  /** Whether bodies of log records remain. */
  readonly bodies: boolean;
}

/** IDs of records; they are removed even if they are listed. */
const idFields: ReadonlySet<string> = new Set([
  ...['id', 'traceId', 'spanId', 'parentSpanId', 'trace_id', 'span_id', 'parent_span_id'],
  ...['resource', 'attributes', 'attribute', 'scope', 'resourceId', 'projectId', 'tenantId', 'events', 'links'],
]);
const bodyNames: ReadonlySet<string> = new Set(['body', 'message']);

const isDisclosed = (name: string, { labels, bodies }: Disclosure): boolean =>
  bodyNames.has(name) ? bodies : labels.includes(name) && !idFields.has(name);

/**
 * Returns the name of a series, from the query's legend with the remaining labels. Without a legend, it is the name of
 * the query, because the original name may contain the query text.
 */
const renderSeriesName = (legend: string, name: string, labels: Readonly<Record<string, string>>): string => {
  if (legend === '' || legend.startsWith('__') || /[$]|\[\[/.test(legend)) return name;
  const values = new Map(Object.entries(labels));
  return legend.replace(/\{\{([^{}]{1,512})\}\}/g, (_, label: string) => values.get(label.trim()) ?? '');
};

const numericTypes: ReadonlySet<string> = new Set(['number', 'duration', 'time']);

/** Returns the result of a query or formula without undisclosed data. */
export const createResultStripper =
  (panel: Panel, disclosure: Disclosure) =>
  (name: string, result: Result): Result => {
    const legend = [...panel.queries, ...panel.formulas].find((each) => each.name === name)?.legend ?? '';
    const columnIndexes = result.columns.flatMap((column, index) =>
      (numericTypes.has(column.type) && !idFields.has(column.name)) || isDisclosed(column.name, disclosure)
        ? [index]
        : [],
    );
    const { hint: _, ...resultFields } = result;
    return {
      ...resultFields,
      series: result.series.map((series) => {
        const labels = Object.fromEntries(
          Object.entries(series.labels).filter(([label]) => isDisclosed(label, disclosure)),
        );
        return { ...series, labels, name: renderSeriesName(legend, name, labels) };
      }),
      columns: columnIndexes.map((index) => result.columns[index] as Result['columns'][number]),
      rows: result.rows.map((row) => columnIndexes.map((index) => row[index])),
      cost: { rowsRead: 0, bytesRead: 0, elapsedMs: 0, isCached: false },
      freshness: { value: null, reason: 'it is a snapshot' },
      partial: result.partial.map(({ code }) => ({ code, message: 'the result is not complete' })),
    };
  };
