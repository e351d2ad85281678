/** Passes messages to a processor as the engine does, and collects what it emits. */
import type { BatchResult } from '../../processors/engine/batch-result.ts';
import type { Processor } from '../../processors/engine/definition.ts';
import { Task, type TaskOptions } from '../../processors/engine/task.ts';
import type { BusRecord, Message } from '../../schemas/ports/bus.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { logsRequest, metricsRequest, tracesRequest } from './sink-tables.ts';

export interface From {
  /** Default: `acme`. */
  readonly tenantId?: string;
  /**
   * When the bus received the message, and when a receiver did. Default: the latest time so far, initially 2026-01-01.
   */
  readonly atMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export const firstMs = Date.UTC(2026, 0, 1);

const encoders = { logs: logsRequest, traces: tracesRequest, metrics: metricsRequest };

/**
 * The value and headers of an OTLP request on its topic. `request` is in JSON form, with ids as bytes and 64-bit
 * numbers as decimal text.
 */
export const otlpMessage = (
  signal: Signal,
  request: object,
  { tenantId = 'acme', atMs = firstMs, headers }: From = {},
): Pick<BusRecord, 'value' | 'headers'> => {
  const value = Buffer.from(encoders[signal](request));
  const member = { length: value.length, size: value.length, receivedAtMs: atMs, source: '', traceparent: '' };
  const counted = countIn(signal, value, tenantId);
  return {
    value,
    headers: {
      ...encodeHeaders({
        tenantId,
        projectId: 'shop',
        keyId: 'key',
        signal,
        format: 'otlp',
        encoding: 'identity',
        members: [{ ...member, records: counted }],
      }),
      ...headers,
    },
  };
};

const countIn = (signal: Signal, value: Buffer, tenantId: string): number => {
  if (signal === 'metrics') return 1;
  const member = [value.length, value.length, 0, 0, '', ''];
  const headers = { tenant: tenantId, project: '', key: '', signal, format: 'otlp', encoding: 'identity' };
  const record = {
    offset: 0,
    timestampMs: 0,
    key: '',
    value,
    headers: { ...headers, members: JSON.stringify([member]) },
  };
  const from = { topic: '', partition: 0 };
  return (signal === 'logs' ? logRecords : spans).decode(record, from).count;
};

/** The values in messages of a derived topic. */
export const valuesIn = (messages: readonly Message[], topic?: string): unknown[] =>
  messages
    .filter((message) => topic === undefined || message.topic === topic)
    .flatMap(({ value }) => JSON.parse(Buffer.from(value).toString('utf8')) as unknown[]);

/** A processor of one partition, in this thread. Each message is a batch. */
export class TaskRun {
  readonly #processor: Processor;
  readonly #options: TaskOptions;
  #task: Task;
  #offset = 0;
  #atMs = firstMs;
  /** All emitted messages. */
  readonly messages: Message[] = [];
  /** Results, one per message or tick. */
  readonly answers: BatchResult[] = [];

  constructor(processor: Processor, options: Partial<TaskOptions> = {}) {
    this.#processor = processor;
    this.#options = { topic: processor.reads.topics[0]?.name ?? '', partition: 0, ...options };
    this.#task = new Task(processor, this.#options);
  }

  get task(): Task {
    return this.#task;
  }

  /** Sends an OTLP request. */
  request(signal: Signal, request: object, from: From = {}): BatchResult {
    const atMs = from.atMs ?? this.#atMs;
    return this.message({ ...otlpMessage(signal, request, { ...from, atMs }), timestampMs: atMs });
  }

  /** Sends log records (in JSON form) of one resource, whose attributes are text. */
  logs(records: readonly object[], resource: Readonly<Record<string, string>> = {}, from: From = {}): BatchResult {
    return this.request(
      'logs',
      { resourceLogs: [{ resource: textsOf(resource), scopeLogs: [{ logRecords: records }] }] },
      from,
    );
  }

  /** Sends spans (in JSON form) of one resource. */
  spans(records: readonly object[], resource: Readonly<Record<string, string>> = {}, from: From = {}): BatchResult {
    return this.request(
      'traces',
      { resourceSpans: [{ resource: textsOf(resource), scopeSpans: [{ spans: records }] }] },
      from,
    );
  }

  /** Sends values of a derived topic. */
  values(values: readonly unknown[], { tenantId = 'acme', atMs = this.#atMs, headers }: From = {}): BatchResult {
    const value = Buffer.from(JSON.stringify(values));
    return this.message({ value, timestampMs: atMs, headers: { tenant: tenantId, ...headers } });
  }

  message(message: Pick<BusRecord, 'value' | 'headers' | 'timestampMs'>): BatchResult {
    this.#atMs = Math.max(this.#atMs, message.timestampMs);
    return this.#record(this.#task.batch([{ key: '', offset: this.#offset++, ...message }]));
  }

  /** Advances the clock of the idle partition to this time. */
  tick(clockMs: number): BatchResult | undefined {
    const response = this.#task.tick(clockMs);
    this.#task.clearOutbox();
    return response === undefined ? undefined : this.#record(response);
  }

  /** Continues from a snapshot, as after a restart. */
  restart(snapshot: Uint8Array = this.#task.snapshot()): void {
    this.#task = new Task(this.#processor, this.#options, snapshot);
  }

  /** Returns all values emitted so far, to one topic or to all. */
  emitted<Value = unknown>(topic?: { readonly name: string }): Value[] {
    return valuesIn(this.messages, topic?.name) as Value[];
  }

  #record(response: BatchResult): BatchResult {
    this.answers.push(response);
    this.messages.push(...response.messages);
    return response;
  }
}

const textsOf = (attributes: Readonly<Record<string, string>>): object => ({
  attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
});
