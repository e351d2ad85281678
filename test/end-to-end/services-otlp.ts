/** Services of two organizations and two projects as OTLP, and figures computed by hand from raw spans. */
import { randomBytes } from 'node:crypto';
import type { Columns } from '../../schemas/ports/columns.ts';
import { randomOf } from '../cases/random.ts';
import { text } from '../cases/sink-tables.ts';
import { landOtlp, resourceOf } from './land-otlp.ts';

export const minuteMs = 60_000;
/** The start of a minute that has ended. */
export const minute = (Math.floor(Date.now() / minuteMs) - 20) * minuteMs;

const random = randomOf(5);

interface Instance {
  readonly service: string;
  readonly id: string;
  readonly version: string;
  readonly environment: string;
  readonly tenantId?: string;
  readonly projectId?: string;
  readonly spans: number;
}

/** A name that must be encoded in URLs. */
export const odd = 'a/b ü%?#';
const instances: readonly Instance[] = [
  { service: 'cart', id: 'cart-1', version: '1.0', environment: 'live', spans: 300 },
  { service: 'cart', id: 'cart-2', version: '1.1', environment: 'test', spans: 200 },
  { service: 'web', id: 'web-1', version: '7', environment: 'live', spans: 150 },
  { service: 'web', id: 'web-1', version: '7', environment: 'live', projectId: 'money', spans: 50 },
  { service: odd, id: 'odd-1', version: '1', environment: 'live', projectId: 'money', spans: 40 },
  { service: odd, id: 'odd-1', version: '2', environment: 'live', projectId: 'money', spans: 10 },
  { service: 'canary-b', id: 'canary-b', version: 'canary-b', environment: 'canary-b', tenantId: 'b', spans: 20 },
  { service: 'cart', id: 'canary-b', version: 'canary-b', environment: 'canary-b', tenantId: 'b', spans: 20 },
];

const spanOf = (number: number) => {
  const startMs = minute + Math.floor(random() * 10 * minuteMs);
  const durationNs = Math.floor(1e6 * 10 ** (random() * 4));
  const isRoot = random() < 0.3;
  return {
    traceId: randomBytes(16),
    spanId: randomBytes(8),
    ...(isRoot ? {} : { parentSpanId: randomBytes(8) }),
    name: `call ${number % 3}`,
    kind: number % 6,
    startTimeUnixNano: `${startMs}000000`,
    endTimeUnixNano: String(BigInt(startMs) * 1_000_000n + BigInt(durationNs)),
    ...(random() < 0.2 ? { status: { code: 2 } } : {}),
    attributes: number % 2 === 0 ? [text('http.route', `/items/${number % 4}`)] : [],
  };
};

/** Stores spans of all services, logs of `mute` and `cart`, and a metric of `meter`. */
export const landServices = async (columns: Columns): Promise<void> => {
  for (const { service, id, version, environment, tenantId = 'a', projectId = 'shop', spans } of instances) {
    const resource = resourceOf({
      'service.name': service,
      'service.instance.id': id,
      'service.version': version,
      [service === 'web' ? 'deployment.environment' : 'deployment.environment.name']: environment,
      'telemetry.sdk.language': 'go',
      'process.runtime.name': 'go',
      'process.runtime.version': '1.26',
    });
    const request = {
      resourceSpans: [{ resource, scopeSpans: [{ spans: Array.from({ length: spans }, (_, at) => spanOf(at)) }] }],
    };
    await landOtlp(columns, { tenantId, projectId, signal: 'traces', request });
  }
  const logRecords = Array.from({ length: 7 }, (_, at) => ({
    timeUnixNano: `${minute + at}000000`,
    severityNumber: 9,
    body: { stringValue: 'x' },
  }));
  for (const service of ['mute', 'cart'])
    await landOtlp(columns, {
      signal: 'logs',
      request: {
        resourceLogs: [
          { resource: resourceOf({ 'service.name': service, 'service.version': '9' }), scopeLogs: [{ logRecords }] },
        ],
      },
    });
  const gauge = { dataPoints: [{ timeUnixNano: `${minute}000000`, asDouble: 1 }] };
  await landOtlp(columns, {
    signal: 'metrics',
    request: {
      resourceMetrics: [
        { resource: resourceOf({ 'service.name': 'meter' }), scopeMetrics: [{ metrics: [{ name: 'm', gauge }] }] },
      ],
    },
  });
};

/** Figures of organization `a`, computed by hand over raw spans. */
export const byHand = async (columns: Columns, condition: string, group = 'service') => {
  const isRequest = "(kind = 2 OR kind = 5 OR (kind <= 1 AND parent_span_id = toFixedString('', 8)))";
  const exact = (share: number): string => `arraySort(groupArray(duration))[toUInt64(ceil(${share} * count()))]`;
  const rows = await columns.query<Record<string, string | number>>(
    `SELECT ${group} AS name, toFloat64(count()) AS requests, toFloat64(countIf(status_code = 2)) AS errors, avg(duration) AS mean, toFloat64(max(duration)) AS max,
      toFloat64(${exact(0.5)}) AS p50, toFloat64(${exact(0.95)}) AS p95, toFloat64(${exact(0.99)}) AS p99, groupArray(toString(duration)) AS durations, groupArray(status_code) AS codes
    FROM spans WHERE tenant_id = 'a' AND ${isRequest} AND ${condition} GROUP BY name ORDER BY name`,
  );
  return rows as unknown as {
    readonly name: string;
    readonly requests: number;
    readonly errors: number;
    readonly mean: number;
    readonly max: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly durations: readonly string[];
    readonly codes: readonly number[];
  }[];
};
export type ByHand = Awaited<ReturnType<typeof byHand>>[number];

export interface Given {
  readonly requests: number;
  readonly errors: number;
  readonly ratePerSecond: number;
  readonly errorRate: number;
  readonly duration: {
    readonly mean: number;
    readonly max: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
  };
  readonly apdex: {
    readonly value: number;
    readonly effectiveThresholdMs: number;
    readonly thresholdMs: number;
    readonly satisfied: number;
    readonly tolerated: number;
    readonly frustrated: number;
  };
}

/** Differences between figures and those computed by hand. */
export const wrongWith = (input: Given, hand: ByHand, seconds: number): string[] => {
  const wrong: string[] = [];
  const near = (name: string, value: number, expected: number, share: number): void => {
    if (!(Math.abs(value - expected) <= share * expected))
      wrong.push(`${hand.name} ${name}: ${value}, and it is ${expected}`);
  };
  near('requests', input.requests, hand.requests, 0);
  near('errors', input.errors, hand.errors, 0);
  near('rate', input.ratePerSecond, hand.requests / seconds, 1e-9);
  near('error rate', input.errorRate, hand.errors / hand.requests, 1e-9);
  near('mean', input.duration.mean, hand.mean, 1e-9);
  near('max', input.duration.max, hand.max, 0);
  for (const name of ['p50', 'p95', 'p99'] as const) near(name, input.duration[name], hand[name], 0.044);
  const { effectiveThresholdMs, thresholdMs, ...apdex } = input.apdex;
  near('threshold', effectiveThresholdMs, thresholdMs, 0.0443);
  const shorter = (ms: number): number =>
    hand.durations.filter((duration, at) => hand.codes[at] !== 2 && Number(duration) + 1 < ms * 1e6 + 1).length;
  const satisfied = shorter(effectiveThresholdMs);
  const tolerated = shorter(4 * effectiveThresholdMs) - satisfied;
  near('satisfied', apdex.satisfied, satisfied, 0);
  near('tolerated', apdex.tolerated, tolerated, 0);
  near('frustrated', apdex.frustrated, hand.requests - satisfied - tolerated, 0);
  near('apdex', apdex.value, (satisfied + tolerated / 2) / hand.requests, 1e-9);
  return wrong;
};
export const secondsOf = ({ from, to }: { from: string; to: string }): number =>
  (Date.parse(to) - Date.parse(from)) / 1000;
