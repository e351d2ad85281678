/** Takes out of answers what people outside of the organization are not to see: all that is not a figure, a time, or listed. */
import type { Result } from '../../../queries/result.ts';
import type { Panel } from '../document.ts';

/** What the maker of a snapshot lets out. */
export interface LetOut {
  /** Names of labels and fields whose values stay. */
  readonly labels: readonly string[];
  /** Whether bodies of log records stay. */
  readonly bodies: boolean;
}

/** Ids by which records are found; they stay out even where they are listed. */
const ids: ReadonlySet<string> = new Set([
  ...['id', 'traceId', 'spanId', 'parentSpanId', 'trace_id', 'span_id', 'parent_span_id'],
  ...['resource', 'attributes', 'attribute', 'scope', 'resourceId', 'projectId', 'tenantId', 'events', 'links'],
]);
const bodyNames: ReadonlySet<string> = new Set(['body', 'message']);

const stays = (name: string, { labels, bodies }: LetOut): boolean =>
  bodyNames.has(name) ? bodies : labels.includes(name) && !ids.has(name);

/** What a series is called: as its query says, with labels that stay; otherwise by the query's name, since its own may hold the query. */
const nameOf = (legend: string, name: string, labels: Readonly<Record<string, string>>): string => {
  if (legend === '' || legend.startsWith('__') || /[$]|\[\[/.test(legend)) return name;
  const values = new Map(Object.entries(labels));
  return legend.replace(/\{\{([^{}]{1,512})\}\}/g, (_, label: string) => values.get(label.trim()) ?? '');
};

const figures: ReadonlySet<string> = new Set(['number', 'duration', 'time']);

/** An answer of a query or formula without what does not stay. */
export const stripped =
  (panel: Panel, letOut: LetOut) =>
  (name: string, result: Result): Result => {
    const legend = [...panel.queries, ...panel.formulas].find((each) => each.name === name)?.legend ?? '';
    const columnIndexes = result.columns.flatMap((column, at) =>
      (figures.has(column.type) && !ids.has(column.name)) || stays(column.name, letOut) ? [at] : [],
    );
    const { hint: _, ...plain } = result;
    return {
      ...plain,
      series: result.series.map((series) => {
        const labels = Object.fromEntries(Object.entries(series.labels).filter(([label]) => stays(label, letOut)));
        return { ...series, labels, name: nameOf(legend, name, labels) };
      }),
      columns: columnIndexes.map((at) => result.columns[at] as Result['columns'][number]),
      rows: result.rows.map((row) => columnIndexes.map((at) => row[at])),
      cost: { rowsRead: 0, bytesRead: 0, elapsedMs: 0, isCached: false },
      freshness: { value: null, reason: 'it is a snapshot' },
      partial: result.partial.map(({ code }) => ({ code, message: 'the answer is not complete' })),
    };
  };
