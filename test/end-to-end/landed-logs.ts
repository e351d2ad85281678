/** Stores log records in a harness like the sinks. */
import { scanBatch } from '../../sinks/engine/batch-scan.ts';
import { logsRequest, messageOf, scannerOf, text } from '../cases/sink-tables.ts';
import type { Harness } from './api-harness.ts';

export interface SentLog {
  readonly timeNs: bigint;
  readonly body: string;
  readonly service?: string;
  readonly pod?: string;
  readonly scope?: string;
  readonly severity?: number;
  readonly attributes?: readonly object[];
}

let tokens = 0;

/** Stores one message of the bus at the given offset. */
export const landLogs = async (
  harness: Harness,
  logs: readonly SentLog[],
  { offset, ...headers }: { readonly offset: number; readonly tenantId?: string; readonly projectId?: string },
): Promise<void> => {
  const request = logsRequest({
    resourceLogs: logs.map(
      ({ timeNs, body, service = 'web', pod = 'web-1', scope = '', severity = 9, attributes = [] }) => ({
        resource: { attributes: [text('service.name', service), text('k8s.pod.name', pod)] },
        scopeLogs: [
          {
            scope: { name: scope },
            logRecords: [
              { timeUnixNano: String(timeNs), severityNumber: severity, body: { stringValue: body }, attributes },
            ],
          },
        ],
      }),
    ),
  });
  const message = messageOf([request], { tenantId: 'a', projectId: 'p1', ...headers, offset });
  const { blocks } = scanBatch(await scannerOf('logs'), [message], 0, 1, (bytes) => new Uint8Array(bytes));
  for (const block of blocks) await harness.columns.insert({ ...block, chunks: [block.bytes] }, `landed:${++tokens}`);
};
