/**
 * Counts rejected requests for the ledger: summed here and published every few seconds and at shutdown. A crash loses
 * the counts since then. A report with unconfirmed publication is published again under the same id.
 */
import { randomUUID } from 'node:crypto';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { topics, type UsageReport } from '../../schemas/topics.ts';
import type { ErrorResponse } from './error-responses.ts';
import type { Caller } from './keyring.ts';

const flushMs = 5_000;
const hourMs = 3_600_000;
/**
 * Maximum number of rows. Keys and their rejections are few; a flood of different ones is reported early instead of being stored in memory.
 */
const maxRows = 10_000;

type Row = UsageReport['rows'][number];
type RowSums = { -readonly [name in keyof Row]: Row[name] };

const createMessage = (rows: readonly Row[]): Message => {
  const id = randomUUID();
  const report: UsageReport = { id, rows: [...rows] };
  return { topic: topics.usage.name, key: id, value: Buffer.from(JSON.stringify(report)), headers: {} };
};

/** Number of rows that stays well below the topic's message size. */
const rowsPerMessage = 2_000;

export class Rejections {
  readonly #producer: Producer;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #sums = new Map<string, RowSums>();
  /** Reports not confirmed as durable yet. */
  #unconfirmed: readonly Message[] = [];
  #publishing: Promise<void> | undefined;

  constructor(producer: Producer, clock: Clock, log: Log) {
    this.#producer = producer;
    this.#clock = clock;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), flushMs);
    this.#timer.unref();
  }

  /** Counts one request of a known key. Records and bytes are 0 if the body was not read. */
  count(
    caller: Pick<Caller, 'tenantId' | 'projectId' | 'keyId'>,
    signal: Signal,
    rejection: ErrorResponse,
    records = 0,
    bytes = 0,
  ): void {
    const { tenantId, projectId, keyId } = caller;
    const reason = rejection.reason ?? rejection.kind;
    const hour = Math.floor(this.#clock.now() / hourMs);
    const rowKey = `${tenantId}\n${projectId}\n${keyId}\n${signal}\n${reason}\n${hour}`;
    let sums = this.#sums.get(rowKey);
    if (sums === undefined) {
      if (this.#sums.size >= maxRows) void this.flush();
      sums = { tenantId, projectId, keyId, signal, reason, hour, requests: 0, records: 0, bytes: 0 };
      this.#sums.set(rowKey, sums);
    }
    sums.requests++;
    sums.records += records;
    sums.bytes += bytes;
  }

  /** Resolves when the counts are durable, or after a failure, which is retried later. Never rejects. */
  flush(): Promise<void> {
    this.#publishing ??= this.#publish().finally(() => {
      this.#publishing = undefined;
    });
    return this.#publishing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#publishing;
    await this.flush();
  }

  async #publish(): Promise<void> {
    if (this.#unconfirmed.length === 0) {
      const rows = [...this.#sums.values()];
      this.#sums = new Map();
      this.#unconfirmed = Array.from({ length: Math.ceil(rows.length / rowsPerMessage) }, (_, index) =>
        createMessage(rows.slice(index * rowsPerMessage, (index + 1) * rowsPerMessage)),
      );
    }
    if (this.#unconfirmed.length === 0) return;
    try {
      await this.#producer.publish(this.#unconfirmed);
      this.#unconfirmed = [];
    } catch (error) {
      this.#log.warn({ error }, 'rejected requests could not be reported to the ledger; it is tried again');
    }
  }
}
