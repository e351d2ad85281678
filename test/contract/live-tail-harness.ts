/** Shared by tests of live tail: messages as receivers publish them, and a listener that stores its events. */
import { setTimeout as delay } from 'node:timers/promises';
import type { OpenListener } from '../../queries/live-tail/live-tail.ts';
import type { Positions } from '../../queries/live-tail/positions.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { encodeHeaders, type TelemetryHeaders } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { buildTenantKey } from '../../schemas/tenant-key.ts';
import { topics } from '../../schemas/topics.ts';
import { requestTypes } from '../cases/proto/load.ts';

export interface Sent {
  readonly tenantId: string;
  readonly projectId?: string;
  readonly service?: string;
  readonly shards?: number;
  readonly shardIndex?: number;
  readonly headers?: Partial<TelemetryHeaders>;
}

const messageOf = (signal: Signal, request: object, records: number, sent: Sent): Message => {
  const type = requestTypes[signal];
  const value = type.encode(type.fromObject(request)).finish();
  const { tenantId, projectId = 'default', shards = 1, shardIndex = 0, headers = {} } = sent;
  const member = {
    length: value.length,
    size: value.length,
    records,
    receivedAtMs: Date.now(),
    source: '',
    traceparent: '',
  };
  return {
    topic: topics[signal].name,
    key: buildTenantKey(tenantId, shards, shardIndex),
    value,
    headers: encodeHeaders({
      tenantId,
      projectId,
      keyId: 'key',
      signal,
      format: 'otlp',
      encoding: 'identity',
      members: [member],
      ...headers,
    }),
  };
};

const resourceOf = (service: string): object => ({
  attributes: [{ key: 'service.name', value: { stringValue: service } }],
});

/** A message with a log record for each body, or with the given records. */
export const logsOf = (records: readonly (string | object)[], sent: Sent): Message =>
  messageOf(
    'logs',
    {
      resourceLogs: [
        {
          resource: resourceOf(sent.service ?? 'shop'),
          scopeLogs: [
            {
              logRecords: records.map((record) =>
                typeof record === 'string' ? { severityNumber: 9, body: { stringValue: record } } : record,
              ),
            },
          ],
        },
      ],
    },
    records.length,
    sent,
  );

/** A message with the given spans. */
export const spansOf = (spans: readonly object[], sent: Sent): Message =>
  messageOf(
    'traces',
    { resourceSpans: [{ resource: resourceOf(sent.service ?? 'shop'), scopeSpans: [{ spans }] }] },
    spans.length,
    sent,
  );

/** Resolves in a later millisecond, so that messages published before and after it have different times. */
export const anotherMillisecond = async (): Promise<void> => {
  for (const nowMs = Date.now(); Date.now() === nowMs; ) await delay(1);
};

/** Texts `prefix 0`, `prefix 1` … */
export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`);

export interface Received {
  readonly bodies: string[];
  dropped: number;
  skipped: number;
  gaps: number;
  live: boolean;
  positions: Positions;
}

/** Reads all pending data. */
export const receive = (listening: OpenListener, received: Received = silence()): Received => {
  while (listening.hasPendingData) {
    const { records, dropped, skipped, gap, live, positions } = listening.nextBatch(1024 * 1024);
    // biome-ignore lint/suspicious/noExplicitAny: records of both signals
    for (const record of records.map((text) => JSON.parse(text) as any))
      received.bodies.push(record.body ?? record.name);
    received.dropped += dropped;
    received.skipped += skipped;
    received.gaps += Number(gap);
    received.live = live;
    received.positions = positions;
  }
  return received;
};

export const silence = (): Received => ({
  bodies: [],
  dropped: 0,
  skipped: 0,
  gaps: 0,
  live: false,
  positions: new Map(),
});
