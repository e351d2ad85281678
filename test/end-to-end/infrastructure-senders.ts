/**
 * Telemetry that agents send about hosts and clusters: names, attributes, units and kinds are those of the collector's
 * receivers (contrib 0.155), node_exporter, cAdvisor and kube-state-metrics; the numbers are the test's.
 */
import { compressSnappy } from '../../schemas/compression.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { landIn, logsRequest, messageOf, metricsRequest, writeRequest } from '../cases/sink-tables.ts';

export type Labels = Readonly<Record<string, string>>;

/** One series: labels and values by time in epoch milliseconds. */
export interface Points {
  readonly labels?: Labels;
  readonly values: readonly (readonly [atMs: number, value: number])[];
  /** The span in which the first value was measured. */
  readonly measuredIn?: { readonly trace: string; readonly span: string };
}

export interface Metric {
  readonly name: string;
  readonly unit?: string;
  /** A gauge, or a sum: a counter, its deltas, or a non-monotonic sum. */
  readonly kind: 'gauge' | 'counter' | 'delta' | 'amount';
  readonly points: readonly Points[];
}

const attributesOf = (labels: Labels): object[] =>
  Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } }));

const nanoseconds = (ms: number): string => `${Math.round(ms)}000000`;

const exemplarOf = (atMs: number, value: number, { trace, span }: NonNullable<Points['measuredIn']>): object => ({
  timeUnixNano: nanoseconds(atMs),
  asDouble: value,
  traceId: Buffer.from(trace, 'hex'),
  spanId: Buffer.from(span, 'hex'),
});

const metricOf = ({ name, unit = '', kind, points }: Metric): object => {
  const dataPoints = points.flatMap(({ labels = {}, values, measuredIn }) =>
    values.map(([atMs, value], index) => ({
      attributes: attributesOf(labels),
      startTimeUnixNano: nanoseconds(1),
      timeUnixNano: nanoseconds(atMs),
      asDouble: value,
      exemplars: measuredIn === undefined || index > 0 ? [] : [exemplarOf(atMs, value, measuredIn)],
    })),
  );
  if (kind === 'gauge') return { name, unit, gauge: { dataPoints } };
  const aggregationTemporality = kind === 'delta' ? 1 : 2;
  return { name, unit, sum: { dataPoints, aggregationTemporality, isMonotonic: kind !== 'amount' } };
};

export interface SentLog {
  readonly atMs: number;
  readonly body: object;
  readonly attributes?: Labels;
  readonly severityNumber?: number;
  readonly severityText?: string;
}

/** Stores telemetry of the agents of one organization. */
export const agentOf = (columns: Columns, tenantId: string, { projectId = 'shop' }: { projectId?: string } = {}) => {
  const land = landIn(columns);
  let offset = tenantId.charCodeAt(0) * 1_000_000 + projectId.charCodeAt(0) * 1000;
  const send = async (body: Uint8Array, sink: string, receivedAtMs: number, headers: object): Promise<void> => {
    const member = { length: body.length, size: body.length, records: 1, receivedAtMs, source: '', traceparent: '' };
    const message = messageOf([body], { offset: ++offset, tenantId, projectId, members: [member], ...headers });
    const { rejected } = await land([message], { sink });
    if (rejected.length > 0) throw new Error(`not stored: ${JSON.stringify(rejected)}`);
  };
  return {
    /** OTLP metrics of one resource. */
    metrics: (resource: Labels, metrics: readonly Metric[], receivedAtMs = Date.now()): Promise<void> =>
      send(
        metricsRequest({
          resourceMetrics: [
            { resource: { attributes: attributesOf(resource) }, scopeMetrics: [{ metrics: metrics.map(metricOf) }] },
          ],
        }),
        'metrics',
        receivedAtMs,
        { signal: 'metrics' },
      ),
    /** Remote-write 1.0; the metric names are in `__name__`. */
    remoteWrite: (series: readonly (Points & { readonly name: string })[], receivedAtMs = Date.now()): Promise<void> =>
      send(
        compressSnappy(
          writeRequest(1, {
            timeseries: series.map(({ name, labels = {}, values }) => ({
              labels: Object.entries({ __name__: name, ...labels })
                .map(([key, value]) => ({ name: key, value }))
                .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
              samples: values.map(([atMs, value]) => ({ value, timestamp: String(atMs) })),
            })),
          }),
        ),
        'metrics',
        receivedAtMs,
        { signal: 'metrics', format: 'remote-write-1', encoding: 'snappy' },
      ),
    /** OTLP log records of one resource and scope. */
    logs: (resource: Labels, records: readonly SentLog[], scope = '', receivedAtMs = Date.now()): Promise<void> =>
      send(
        logsRequest({
          resourceLogs: [
            {
              resource: { attributes: attributesOf(resource) },
              scopeLogs: [
                {
                  scope: { name: scope },
                  logRecords: records.map(({ atMs, body, attributes = {}, severityNumber, severityText }) => ({
                    timeUnixNano: nanoseconds(atMs),
                    observedTimeUnixNano: nanoseconds(atMs),
                    body,
                    attributes: attributesOf(attributes),
                    severityNumber: severityNumber ?? 0,
                    severityText: severityText ?? '',
                  })),
                },
              ],
            },
          ],
        }),
        'logs',
        receivedAtMs,
        { signal: 'logs' },
      ),
  };
};

export type Agent = ReturnType<typeof agentOf>;

/** The same value at each time. */
export const flat = (times: readonly number[], value: number): Points['values'] => times.map((atMs) => [atMs, value]);
/** A counter with a start value and a constant rate. */
export const growing = (times: readonly number[], perSecond: number, start = 1000): Points['values'] =>
  times.map((atMs) => [atMs, start + (perSecond * (atMs - (times[0] ?? 0))) / 1000]);
