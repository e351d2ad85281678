/** Telemetry with known values, and SLOs that are measured from it as the schedule does. */

import { sloMeasurement } from '../../../processors/slos/slo-measurement.ts';
import type { PlatformEvent } from '../../../schemas/events.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { StoredSlo } from '../../../schemas/resources/slo.ts';
import type { SloSlices } from '../../../schemas/slo-slices.ts';
import { landIn, logsRequest, messageOf, text, tracesRequest } from '../sink-tables.ts';

export const minuteMs = 60_000;
const ns = (ms: number): string => String(BigInt(ms) * 1_000_000n);
const resource = (service: string) => ({ attributes: [text('service.name', service)] });

/** A number of log records at one time, some of them errors. */
export interface Logged {
  readonly atMs: number;
  readonly good: number;
  readonly bad: number;
}

const recordsOf = ({ atMs, good, bad }: Logged): object[] =>
  Array.from({ length: good + bad }, (_, index) => ({
    timeUnixNano: ns(atMs + index),
    severityNumber: index < bad ? 17 : 9,
    body: { stringValue: 'a line' },
  }));

export const telemetryIn = (columns: Columns) => {
  const land = landIn(columns);
  let offset = 0;
  const landed = async (
    signal: 'logs' | 'traces',
    body: Uint8Array,
    tenantId: string,
    receivedAtMs = Date.now(),
  ): Promise<void> => {
    const member = { length: body.length, size: body.length, records: 1, receivedAtMs, source: '' };
    const headers = { tenantId, projectId: '', signal, offset: offset++, members: [{ ...member, traceparent: '' }] };
    const { rejected } = await land([messageOf([body], headers)], { sink: signal });
    if (rejected.length > 0) throw new Error(rejected[0]?.message);
  };
  return {
    logs: (service: string, logged: readonly Logged[], tenantId = 'a', receivedAtMs?: number) =>
      landed(
        'logs',
        logsRequest({
          resourceLogs: [{ resource: resource(service), scopeLogs: [{ logRecords: logged.flatMap(recordsOf) }] }],
        }),
        tenantId,
        receivedAtMs,
      ),
    /** Requests of a server, each with a duration in milliseconds. */
    requests: (service: string, requests: readonly (Logged & { readonly durationMs: number })[], tenantId = 'a') =>
      landed(
        'traces',
        tracesRequest({
          resourceSpans: [
            {
              resource: resource(service),
              scopeSpans: [
                {
                  spans: requests.flatMap(({ atMs, good, bad, durationMs }) =>
                    Array.from({ length: good + bad }, (_, index) => ({
                      traceId: Buffer.alloc(16, 1),
                      spanId: Buffer.alloc(8, 1 + (index % 200)),
                      name: 'GET /',
                      kind: 2,
                      status: { code: index < bad ? 2 : 1 },
                      startTimeUnixNano: ns(atMs + index),
                      endTimeUnixNano: ns(atMs + index + durationMs),
                    })),
                  ),
                },
              ],
            },
          ],
        }),
        tenantId,
      ),
  };
};

export interface Measuring {
  readonly columns: Columns;
  readonly documents: Documents;
  /** Receives the emitted events. */
  readonly events?: PlatformEvent[];
  /** The tables with telemetry; by default those in which slices are stored. */
  readonly source?: Pick<Columns, 'forTenant'>;
}

/** Runs the schedule for one SLO at given times, and stores what it emits. */
export const measuring = ({ columns, documents, events, source = columns }: Measuring, tenantId = 'a') => {
  const land = landIn(columns);
  let offset = 0;
  let state: unknown = null;
  return async (document: StoredSlo & StoredMetadata, dueMs: number): Promise<SloSlices[]> => {
    const slices: SloSlices[] = [];
    state = await sloMeasurement.run(document, {
      tenantId,
      dueMs,
      state: structuredClone(state),
      canWait: false,
      emit: {
        slices: (value: unknown) => void slices.push(value as SloSlices),
        events: (value: unknown) => void events?.push(value as PlatformEvent),
      },
      signal: new AbortController().signal,
      ports: { columns: source as Columns, documents },
    });
    const value = Buffer.from(JSON.stringify(slices));
    const { rejected } = await land([{ offset: offset++, value, headers: {} }], { sink: 'slo-slices' });
    if (rejected.length > 0) throw new Error(rejected[0]?.message);
    return slices;
  };
};
