/** Sends telemetry of the demo shop over OTLP/HTTP: a history at once, and then as time passes. */
import { setTimeout as delay } from 'node:timers/promises';
import { Outbox } from './otlp-json.ts';
import { addSecurityRecords } from './security.ts';
import { Shop } from './shop.ts';

const signals = [
  ['logs', 'resourceLogs', 'scopeLogs', 'logRecords'],
  ['metrics', 'resourceMetrics', 'scopeMetrics', 'metrics'],
  ['traces', 'resourceSpans', 'scopeSpans', 'spans'],
] as const;

export type SentCounts = Readonly<Record<(typeof signals)[number][0], number>>;

export interface SendOptions {
  /** Base URL of OTLP over HTTP */
  readonly endpoint: string;
  readonly key: string;
  /** Seconds before now whose telemetry is sent first */
  readonly historySeconds: number;
  /** Seconds from now whose telemetry is sent as it happens */
  readonly liveSeconds: number;
  /** Visits per second */
  readonly visits: number;
  /** Shares of the history, or of the live time without one, at which the bad release begins and ends */
  readonly incident?: { readonly start: number; readonly end: number };
  readonly signal?: AbortSignal;
  /** Called every ten seconds of the shop's time. */
  readonly onProgress?: (counts: SentCounts) => void;
}

const metricIntervalSeconds = 10;
const clusterIntervalSeconds = 30;
const securityIntervalSeconds = 60;
const defaultIncident = { start: 0.45, end: 0.75 } as const;

/** Resolves with the number of sent records; when `signal` aborts, with those sent so far. */
export const sendShopTelemetry = async ({
  endpoint,
  key,
  historySeconds,
  liveSeconds,
  visits,
  incident = defaultIncident,
  signal = new AbortController().signal,
  onProgress = () => undefined,
}: SendOptions): Promise<SentCounts> => {
  const outboxes = { logs: new Outbox(), metrics: new Outbox(), traces: new Outbox() };
  const startMs = Date.now() - historySeconds * 1_000;
  // The incident is in the history if there is one, so that it can be found at once.
  const spanMs = (historySeconds > 0 ? historySeconds : liveSeconds) * 1_000;
  const shop = new Shop(outboxes, startMs, {
    startMs: startMs + incident.start * spanMs,
    endMs: startMs + incident.end * spanMs,
  });
  const recorders: readonly (readonly [intervalSeconds: number, record: (nowMs: number) => void])[] = [
    [metricIntervalSeconds, () => shop.recordMetrics()],
    [clusterIntervalSeconds, () => shop.recordCluster()],
    [securityIntervalSeconds, (nowMs) => addSecurityRecords(outboxes.logs, nowMs)],
  ];
  const counts = { logs: 0, metrics: 0, traces: 0 };
  const sendAll = async (): Promise<void> => {
    for (const [name, group, scope, list] of signals) {
      const { count } = outboxes[name];
      if (count === 0) continue;
      await sendExportRequest(`${endpoint}/v1/${name}`, key, outboxes[name].drain(group, scope, list));
      counts[name] += count;
    }
  };
  for (let second = 0; second < historySeconds + liveSeconds && !signal.aborted; second++) {
    shop.simulateSecond(startMs + second * 1_000, visits);
    for (const [intervalSeconds, record] of recorders)
      if (second % intervalSeconds === 0) record(startMs + second * 1_000);
    const isIntervalEnd = second % metricIntervalSeconds === metricIntervalSeconds - 1;
    const isLast = second === historySeconds + liveSeconds - 1;
    // Sending the history takes time, so the first live seconds are in the past too.
    const waitMs = startMs + (second + 1) * 1_000 - Date.now();
    if (waitMs <= 0 && !isIntervalEnd && !isLast) continue;
    await sendAll();
    if (isIntervalEnd) onProgress(counts);
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
  return counts;
};

const sendExportRequest = async (url: string, key: string, body: string): Promise<void> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-license-key': key },
    body,
  }).catch((cause: unknown) => {
    throw new Error(`${url} is unreachable: is an instance running?`, { cause });
  });
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
};
