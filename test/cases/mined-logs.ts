/** Stored logs, together with the patterns that the processor finds in them. */
import { logPatterns } from '../../processors/log-patterns/log-patterns.ts';
import { formatTime } from '../../queries/time.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { topics } from '../../schemas/topics.ts';
import { otlpMessage, TaskRun } from './run-task.ts';
import type { Tables } from './sink-tables.ts';

export interface Line {
  readonly service: string;
  readonly body: string;
  readonly timeMs: number;
  readonly severityNumber?: number;
}

const derived = [topics.logPatterns, topics.logPatternCounts];

let tenants = 0;

/** Logs of a separate tenant, which are stored and processed by the task of their shard. */
export class MinedLogs {
  readonly tenantId: string;
  readonly tables: Pick<Tables, 'columns' | 'land'>;
  readonly #runs: readonly TaskRun[];
  #offset = 0;

  constructor(tables: Pick<Tables, 'columns' | 'land'>, shards = 1, tenantId = `tenant-${++tenants}`) {
    this.tables = tables;
    this.tenantId = tenantId;
    this.#runs = Array.from({ length: shards }, (_, partition) => new TaskRun(logPatterns, { partition }));
  }

  /** Has no source, so that reads are not cached: pages may otherwise show pattern ids that are up to a minute old. */
  get reader(): TenantColumns {
    const { source: _, ...reader } = this.tables.columns.forTenant(this.tenantId);
    return reader;
  }

  /** Sends one message to a shard. Its time is that of the last line. */
  async send(lines: readonly Line[], shard = 0): Promise<void> {
    const atMs = lines.at(-1)?.timeMs ?? 0;
    const resourceLogs = lines.map(({ service, body, timeMs, severityNumber = 9 }) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeLogs: [{ logRecords: [{ timeUnixNano: `${timeMs}000000`, severityNumber, body: { stringValue: body } }] }],
    }));
    const message = { ...otlpMessage('logs', { resourceLogs }, { atMs, tenantId: this.tenantId }), timestampMs: atMs };
    await this.tables.land([{ ...message, offset: this.#offset++ }]);
    const { messages } = (this.#runs[shard] as TaskRun).message(message);
    await this.#land(messages);
  }

  /** Advances the clock of all shards, which closes open windows. */
  async idle(clockMs: number): Promise<void> {
    for (const run of this.#runs) await this.#land(run.tick(clockMs)?.messages ?? []);
  }

  async #land(messages: readonly Message[]): Promise<void> {
    for (const { name } of derived) {
      const own = messages.filter(({ topic }) => topic === name);
      const scanned = own.map(({ value, headers = {} }) => ({
        value: Buffer.from(value ?? []),
        headers,
        offset: this.#offset++,
      }));
      if (scanned.length > 0) await this.tables.land(scanned, { sink: name });
    }
  }
}

export const isoOf = (ms: number): string => formatTime(BigInt(ms) * 1_000_000n);
