/** Telemetry as the senders of `golden-names.txt` send it, and records of services, models and databases. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricDefinitions } from '../../../schemas/ports/metrics.ts';
import type { ScanMessage } from '../../../sinks/scan/scanner.ts';
import {
  logsRequest,
  messageOf,
  metricsRequest,
  receivedAtMs,
  type Tables,
  text,
  tracesRequest,
} from '../sink-tables.ts';

/** The conventions of a name: current ones, those of older senders, or both. */
export type Generation = 'current' | 'former';

export interface GoldenMetric {
  readonly name: string;
  readonly kind: 'c' | 'u' | 'g' | 'h';
  readonly generations: readonly Generation[];
  /** Attributes and their values. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
  readonly resource: readonly string[];
}

const generationsOf: Readonly<Record<string, readonly Generation[]>> = {
  '+': ['current'],
  '-': ['former'],
  '=': ['current', 'former'],
};

const listOf = (names = ''): readonly string[] => names.split(',').filter((name) => name !== '');

const ownKinds = { counter: 'c', gauge: 'g', histogram: 'h' } as const;

/** Metrics that the platform declares. */
const own = Object.entries(metricDefinitions).map(
  ([name, { type, labels }]): GoldenMetric => ({
    name,
    kind: ownKinds[type],
    generations: ['current', 'former'],
    resource: [],
    attributes: new Map(labels.map((label) => [label, ['x']])),
  }),
);

const listed = ((): readonly GoldenMetric[] => {
  let resource: readonly string[] = [];
  return readFileSync(join(import.meta.dirname, 'golden-names.txt'), 'utf8')
    .split('\n')
    .flatMap((line): GoldenMetric[] => {
      const sender = /^\[[^\]]+\] ?(.*)$/.exec(line);
      if (sender !== null) resource = listOf(sender[1]);
      const found = /^([-+=]) (\S+) ([cugh])(?: (\S+))?$/.exec(line);
      if (found === null) return [];
      const [, sign = '', name = '', kind, attributes] = found;
      const generations = generationsOf[sign] ?? [];
      const named = listOf(attributes).map((each) => each.split('='));
      const values = named.map(([key = '', all = 'x']) => [key, all.split('|')] as const);
      return [{ name, kind: kind as GoldenMetric['kind'], generations, attributes: new Map(values), resource }];
    });
})();

/** Metrics from the documentation of their senders. */
export const goldenMetrics: readonly GoldenMetric[] = [...listed, ...own];

const points = 6;
const atMs = (lastMs: number, index: number): number => lastMs - (points - 1 - index) * 60_000;
const nanoseconds = (milliseconds: number): string => String(BigInt(milliseconds) * 1_000_000n);

/** The time range of all golden telemetry. */
export const goldenRange = {
  from: BigInt(nanoseconds(receivedAtMs - (points + 1) * 60_000)),
  to: BigInt(nanoseconds(receivedAtMs)),
};

/** Sets of attributes, as many as the attribute with the most values has. */
const setsOf = ({ attributes }: GoldenMetric): object[][] => {
  const maxCount = Math.max(1, ...[...attributes.values()].map(({ length }) => length));
  return Array.from({ length: maxCount }, (_, index) =>
    [...attributes].map(([key, values]) => text(key, values[index % values.length] ?? '')),
  );
};

const pointsOf = (metric: GoldenMetric, lastMs: number): object[] =>
  setsOf(metric).flatMap((attributes) =>
    Array.from({ length: points }, (_, index) => ({
      attributes,
      startTimeUnixNano: nanoseconds(atMs(lastMs, 0) - 60_000),
      timeUnixNano: nanoseconds(atMs(lastMs, index)),
      ...(metric.kind === 'h'
        ? {
            count: String(4 * (index + 1)),
            sum: index + 1,
            explicitBounds: [0.1, 1],
            bucketCounts: [2, 1, 1].map((n) => String(n * (index + 1))),
          }
        : { asDouble: metric.kind === 'c' ? 10 * (index + 1) : 5 }),
    })),
  );

const metricOf = (metric: GoldenMetric, lastMs: number): object => {
  const dataPoints = pointsOf(metric, lastMs);
  const shared = { aggregationTemporality: 2, dataPoints };
  if (metric.kind === 'h') return { name: metric.name, histogram: shared };
  return metric.kind === 'g'
    ? { name: metric.name, gauge: { dataPoints } }
    : { name: metric.name, sum: { ...shared, isMonotonic: metric.kind === 'c' } };
};

const goldenValueOf = (key: string): string => (key === 'service.name' ? 'cart' : 'x');

/** Attributes of spans by generation; numbers are tokens. */
const spanAttributes: Readonly<Record<Generation, readonly object[]>> = {
  current: [
    ...[text('db.system.name', 'postgresql'), text('db.operation.name', 'SELECT')],
    ...[text('gen_ai.provider.name', 'a'), text('gen_ai.operation.name', 'chat'), text('gen_ai.request.model', 'm')],
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '7' } },
    { key: 'gen_ai.usage.output_tokens', value: { intValue: '8' } },
    text('error.type', 'timeout'),
  ],
  former: [
    ...[text('db.system', 'postgresql'), text('db.operation', 'SELECT')],
    ...[text('gen_ai.system', 'a'), text('gen_ai.operation.name', 'chat'), text('gen_ai.request.model', 'm')],
    { key: 'gen_ai.usage.prompt_tokens', value: { intValue: '7' } },
    { key: 'gen_ai.usage.completion_tokens', value: { intValue: '8' } },
  ],
};

const resourceOf = (names: readonly string[]): object => ({
  attributes: names.map((key) => text(key, goldenValueOf(key))),
});

const spansOf = (generation: Generation, lastMs: number): object[] =>
  [2, 3].map((kind, index) => ({
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, kind),
    name: 'work',
    kind,
    startTimeUnixNano: nanoseconds(lastMs),
    endTimeUnixNano: nanoseconds(lastMs + 5),
    status: { code: index === 1 ? 2 : 1, message: 'failed' },
    attributes: spanAttributes[generation],
  }));

/** A message that was received at a time. */
const messageAt = (body: Uint8Array, nowMs: number, headers: Parameters<typeof messageOf>[1]): ScanMessage => {
  const { length } = body;
  const member = { length, size: length, records: 1, receivedAtMs: nowMs, source: '', traceparent: '' };
  return { ...messageOf([body], { ...headers, members: [member] }), timestampMs: nowMs };
};

/** Stores all telemetry of a generation for a tenant, up to a minute before `nowMs`. */
export const landGolden = async (
  { land, columns }: Pick<Tables, 'land' | 'columns'>,
  tenantId: string,
  generation: Generation,
  nowMs = receivedAtMs,
): Promise<void> => {
  const lastMs = nowMs - 60_000;
  const scope = { name: 'golden' };
  const resourceMetrics = goldenMetrics
    .filter(({ generations }) => generations.includes(generation))
    .map((metric) => ({
      resource: resourceOf(metric.resource),
      scopeMetrics: [{ scope, metrics: [metricOf(metric, lastMs)] }],
    }));
  const resource = resourceOf(['service.name', 'host.name']);
  const logRecords = [9, 17].map((severityNumber) => ({
    timeUnixNano: nanoseconds(lastMs),
    severityNumber,
    body: { stringValue: 'order accepted' },
  }));
  const resourceSpans = [{ resource, scopeSpans: [{ scope, spans: spansOf(generation, lastMs) }] }];
  const bodies = {
    metrics: metricsRequest({ resourceMetrics }),
    traces: tracesRequest({ resourceSpans }),
    logs: logsRequest({ resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] }),
  };
  for (const signal of ['metrics', 'traces', 'logs'] as const)
    await land([messageAt(bodies[signal], nowMs, { tenantId, signal })], { sink: signal });
  const time = `fromUnixTimestamp64Milli(${lastMs}, 'UTC')`;
  await columns.execute(
    `INSERT INTO signals (tenant_id, project_id, received_at, partition, offset, id, kind, time, rule_id, rule_version, rule_title, severity, risk_score, events, event_count, entities, tactics, techniques, group_by, suppressed_by) VALUES
    ('${tenantId}', 'shop', ${time}, 0, 0, 'one', 'rule', ${time}, 'rule', 1, 'Rule', 'high', 70, '[]', 1, ['user ann'], ['execution'], ['T1059'], map(), '')`,
  );
};
