/**
 * Counts requests in plain fields and adds them to the metrics once a second, so that requests do not pay for labels.
 */
import { runEvery } from '../../runtime/interval.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

/** Number of requests per second whose durations are all recorded; of further ones, one in `sampleEvery` is. */
const maxFullyRecorded = 64;
const sampleEvery = 16;

interface RequestSums {
  requests: number;
  records: number;
  bytes: number;
}

/** Counts of one receiver and telemetry signal. */
export class RequestMetrics {
  readonly #labels: { readonly receiver: string; readonly signal: Signal };
  readonly #metrics: Metrics;
  readonly #outcomes = new Map<string, RequestSums>();
  #durationCount = 0;

  constructor(metrics: Metrics, receiver: string, signal: Signal) {
    this.#metrics = metrics;
    this.#labels = { receiver, signal };
  }

  /** Counts one request with its response. `outcome` is `accepted` or a kind of rejection. */
  count(outcome: string, records: number, bytes: number): void {
    let sums = this.#outcomes.get(outcome);
    if (sums === undefined) {
      sums = { requests: 0, records: 0, bytes: 0 };
      this.#outcomes.set(outcome, sums);
    }
    sums.requests++;
    sums.records += records;
    sums.bytes += bytes;
  }

  /** Records the time from the last byte of a request to its response; sampled under load. */
  observeDuration(milliseconds: number): void {
    if (this.#durationCount++ >= maxFullyRecorded && this.#durationCount % sampleEvery !== 0) return;
    this.#metrics.observe('oiq_ingest_duration_seconds', milliseconds / 1000, this.#labels);
  }

  flush(): void {
    this.#durationCount = 0;
    for (const [outcome, sums] of this.#outcomes) {
      if (sums.requests === 0) continue;
      const labels = { ...this.#labels, outcome };
      this.#metrics.add('oiq_ingest_requests_total', sums.requests, labels);
      this.#metrics.add('oiq_ingest_records_total', sums.records, labels);
      this.#metrics.add('oiq_ingest_bytes_total', sums.bytes, labels);
      sums.requests = 0;
      sums.records = 0;
      sums.bytes = 0;
    }
  }
}

/** Counts of published messages, by topic. */
export class PublishMetrics {
  readonly #metrics: Metrics;
  readonly #topics = new Map<string, { messages: number; bytes: number }>();
  #publishCount = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Counts one durable publish. Durations are sampled under load. */
  countPublish(messages: readonly Message[], milliseconds: number): void {
    for (const { topic, value } of messages) {
      let sum = this.#topics.get(topic);
      if (sum === undefined) {
        sum = { messages: 0, bytes: 0 };
        this.#topics.set(topic, sum);
      }
      sum.messages++;
      sum.bytes += value.length;
    }
    if (this.#publishCount++ >= maxFullyRecorded && this.#publishCount % sampleEvery !== 0) return;
    for (const topic of new Set(messages.map(({ topic }) => topic)))
      this.#metrics.observe('oiq_bus_publish_duration_seconds', milliseconds / 1000, { topic });
  }

  flush(): void {
    this.#publishCount = 0;
    for (const [topic, sum] of this.#topics) {
      if (sum.messages === 0) continue;
      this.#metrics.add('oiq_bus_published_messages_total', sum.messages, { topic });
      this.#metrics.add('oiq_bus_published_bytes_total', sum.bytes, { topic });
      sum.messages = 0;
      sum.bytes = 0;
    }
  }
}

/** All request and publish metrics of the role. */
export class ReceiverMetrics {
  readonly bus: PublishMetrics;
  readonly #metrics: Metrics;
  readonly #requestMetrics: RequestMetrics[] = [];
  readonly #stopFlushing: () => void;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.bus = new PublishMetrics(metrics);
    this.#stopFlushing = runEvery(1_000, () => this.flush());
  }

  createRequestMetrics(receiver: string, signal: Signal): RequestMetrics {
    const requestMetrics = new RequestMetrics(this.#metrics, receiver, signal);
    this.#requestMetrics.push(requestMetrics);
    return requestMetrics;
  }

  flush(): void {
    for (const requestMetrics of this.#requestMetrics) requestMetrics.flush();
    this.bus.flush();
  }

  close(): void {
    this.#stopFlushing();
    this.flush();
  }
}
