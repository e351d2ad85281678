/**
 * Joins small requests into few messages. Requests with equal join keys that arrive before the next flush share a
 * message.
 *
 * A flush is immediate if there was none recently. Otherwise it follows after the delay since the last flush, or when
 * as many requests wait as recently arrived at once, because senders that wait for their responses have no more to
 * send. An idle receiver therefore does not wait, and a busy one publishes the requests of several milliseconds in one
 * batch.
 */

import { UnavailableError } from '../../schemas/errors.ts';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import { distributeByWeight } from '../../schemas/shares.ts';
import {
  type Encoding,
  encodeHeaders,
  type Format,
  type Member,
  maxMessageDecompressedBytes,
} from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { buildTenantKey } from '../../schemas/tenant-key.ts';
import { topics } from '../../schemas/topics.ts';
import type { Caller } from './keyring.ts';
import { type AdditionalParts, type MessagePart, maxValueBytes, type PreparedBody } from './prepare.ts';
import type { PublishMetrics } from './request-metrics.ts';

/** Request properties in the headers of messages and members. */
export interface Origin {
  readonly caller: Pick<Caller, 'tenantId' | 'projectId' | 'keyId' | 'shards'>;
  readonly signal: Signal;
  readonly format: Format;
  readonly source: string;
  readonly traceparent: string;
  readonly receivedAtMs: number;
}

/** A validated request, split if necessary. */
type Request = Pick<PreparedBody, 'size' | 'messageParts'>;

/** Maximum bytes of waiting bodies, to limit memory while the bus is slow. */
const maxWaitingBytes = 256 * 1024 * 1024;
/** Maximum number of concurrent publishes; a full message need not wait for the delay. */
const maxPublishes = 4;
const maxMembers = 1_000;
/** Size from which a request has its own message: joining would cost a copy without a benefit. */
const separateMessageBytes = 128 * 1024;
/** One of this many flushes waits for the full delay, to measure how many requests arrive at once. */
const fullDelayInterval = 8;

const getTopicName = (signal: Signal, format: Format): string =>
  format === 'otlp' ? topics[signal].name : topics.remoteWrite.name;

/** Divides the accounted bytes of a request among its message parts. */
const distributeBytes = ({ size, messageParts }: Request): readonly number[] =>
  messageParts.length === 1
    ? [size]
    : distributeByWeight(
        size,
        messageParts.map((piece) => piece.size),
      );

/** A request and its origin. */
interface OriginRequest {
  readonly origin: Origin;
  readonly request: Request;
}

const countSize = ({ messageParts }: Pick<Request, 'messageParts'>): number =>
  messageParts.reduce((sum, { size }) => sum + size, 0);

/** Returns a request for each telemetry signal of a body, which share its accounted bytes by their size. */
export const separateSignals = (
  origin: Origin,
  { size, messageParts, additional }: Request & { readonly additional: readonly AdditionalParts[] },
): OriginRequest[] => {
  if (additional.length === 0) return [{ origin, request: { size, messageParts } }];
  const parts = [{ ...origin, messageParts }, ...additional].filter((part) => part.messageParts.length > 0);
  const shares = distributeByWeight(size, parts.map(countSize));
  return parts.map(({ signal, format, messageParts: signalParts }, index) => ({
    origin: { ...origin, signal, format },
    request: { size: shares[index] ?? 0, messageParts: signalParts },
  }));
};

const createMember = (
  { bytes, size, records }: MessagePart,
  { receivedAtMs, source, traceparent }: Origin,
  sentBytes = size,
): Member => ({
  length: bytes.length,
  size,
  records,
  receivedAtMs,
  source,
  traceparent,
  sentBytes,
});

/** Returns messages with one member each, for publications outside of a receiver. */
export const createMessages = (origin: Origin, request: Request): Message[] => {
  const shares = distributeBytes(request);
  return request.messageParts.map((part, index) =>
    createMessage(origin, part.encoding, [createMember(part, origin, shares[index])], [part.bytes], index),
  );
};

const createMessage = (
  { caller, signal, format }: Pick<Origin, 'caller' | 'signal' | 'format'>,
  encoding: Encoding,
  members: readonly Member[],
  bodies: readonly Uint8Array[],
  sequence: number,
): Message => ({
  topic: getTopicName(signal, format),
  key: buildTenantKey(caller.tenantId, caller.shards, sequence),
  value: bodies.length === 1 && bodies[0] !== undefined ? bodies[0] : Buffer.concat(bodies),
  headers: encodeHeaders({
    tenantId: caller.tenantId,
    projectId: caller.projectId,
    keyId: caller.keyId,
    signal,
    format,
    encoding,
    members,
  }),
});

/** A message under construction. */
interface Draft {
  readonly origin: Origin;
  readonly encoding: Encoding;
  readonly members: Member[];
  readonly bodies: Uint8Array[];
  bytes: number;
  size: number;
}

/** Returns the join key: requests with equal keys have equal message headers and may share a message. */
const createJoinKey = ({ caller, signal, format }: Origin, { encoding }: MessagePart): string =>
  `${caller.tenantId}/${caller.projectId}/${caller.keyId}/${signal}/${format}/${encoding}`;

/** Content of one `publish` call, and the promise for the requests that wait for it. */
interface Flush {
  readonly durable: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly drafts: Map<string, Draft>;
  readonly fullDrafts: Draft[];
  /** Messages that are complete: dead letters of rejected records, and values of other topics. */
  readonly messages: Message[];
  bytes: number;
  requests: number;
}

const createFlush = (): Flush => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // After a broken connection there may be no handler, and the rejection must not count as unhandled.
  promise.catch(() => undefined);
  return { durable: promise, resolve, reject, drafts: new Map(), fullDrafts: [], messages: [], bytes: 0, requests: 0 };
};

export class Publisher {
  readonly #producer: Producer;
  readonly #publishMetrics: PublishMetrics;
  readonly #delayMs: number;
  #pendingFlush = createFlush();
  #waitingBytes = 0;
  #activePublishes = 0;
  #flushedAt = 0;
  /** Number of requests that arrived during the last full delay. */
  #expectedRequests = Number.POSITIVE_INFINITY;
  #flushes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFlushScheduled = false;
  #sequence = 0;
  #idleCallbacks: (() => void)[] = [];

  constructor(producer: Producer, publishMetrics: PublishMetrics, delayMs: number) {
    this.#producer = producer;
    this.#publishMetrics = publishMetrics;
    this.#delayMs = delayMs;
  }

  /**
   * Resolves when all message parts, and the complete messages of the request, such as dead letters, are durable. Rejects
   * with `UnavailableError` if the bus cannot confirm it.
   */
  publish(origin: Origin, request: Request, messages: readonly Message[] = []): Promise<void> {
    let bytes = 0;
    for (const part of request.messageParts) bytes += part.bytes.length;
    for (const { value } of messages) bytes += value.length;
    if (this.#waitingBytes + bytes > maxWaitingBytes)
      return Promise.reject(new UnavailableError('too many bytes wait for the bus', { retryAfterSeconds: 1 }));
    this.#waitingBytes += bytes;
    const flush = this.#pendingFlush;
    flush.bytes += bytes;
    flush.requests++;
    const shares = distributeBytes(request);
    for (const [index, part] of request.messageParts.entries()) this.#addPart(flush, origin, part, shares[index]);
    flush.messages.push(...messages);
    this.#schedule();
    return flush.durable;
  }

  /** Publishes messages separately from others: copies of rejected bodies. */
  async publishAlone(messages: readonly Message[]): Promise<void> {
    let bytes = 0;
    for (const { value } of messages) bytes += value.length;
    if (this.#waitingBytes + bytes > maxWaitingBytes)
      throw new UnavailableError('too many bytes wait for the bus', { retryAfterSeconds: 1 });
    this.#waitingBytes += bytes;
    try {
      await this.#send(messages);
    } finally {
      this.#waitingBytes -= bytes;
    }
  }

  /** Resolves when nothing is waiting or being published. */
  async drain(): Promise<void> {
    while (this.#pendingFlush.bytes > 0 || this.#activePublishes > 0) {
      if (this.#pendingFlush.bytes > 0) this.#flush();
      await new Promise<void>((resolve) => this.#idleCallbacks.push(resolve));
    }
  }

  #addPart(flush: Flush, origin: Origin, part: MessagePart, sentBytes: number | undefined): void {
    const joinKey = createJoinKey(origin, part);
    const draft = flush.drafts.get(joinKey);
    if (draft !== undefined) {
      if (
        part.bytes.length < separateMessageBytes &&
        draft.bytes + part.bytes.length <= maxValueBytes &&
        draft.size + part.size <= maxMessageDecompressedBytes &&
        // Headers describe the members, and count as well.
        draft.members.length < maxMembers
      ) {
        draft.members.push(createMember(part, origin, sentBytes));
        draft.bodies.push(part.bytes);
        draft.bytes += part.bytes.length;
        draft.size += part.size;
        return;
      }
      flush.fullDrafts.push(draft);
    }
    flush.drafts.set(joinKey, {
      origin,
      encoding: part.encoding,
      members: [createMember(part, origin, sentBytes)],
      bodies: [part.bytes],
      bytes: part.bytes.length,
      size: part.size,
    });
  }

  #schedule(): void {
    const { bytes, requests } = this.#pendingFlush;
    if (this.#isFlushScheduled || bytes === 0 || this.#activePublishes >= maxPublishes) return;
    const waitMs = this.#flushedAt + this.#delayMs - performance.now();
    const isComplete = requests >= this.#expectedRequests && this.#flushes % fullDelayInterval !== 0;
    if (waitMs <= 0 || isComplete || bytes >= maxValueBytes) {
      // Includes data that this iteration of the event loop still reads from other connections.
      this.#isFlushScheduled = true;
      setImmediate(this.#flush);
    } else {
      this.#timer ??= setTimeout(this.#onDelayElapsed, waitMs);
    }
  }

  /** Flushes do not reset the timer, because that would cost more; so it may fire early. */
  readonly #onDelayElapsed = (): void => {
    this.#timer = undefined;
    if (this.#pendingFlush.bytes === 0 || this.#isFlushScheduled || this.#activePublishes >= maxPublishes) return;
    const waitMs = this.#flushedAt + this.#delayMs - performance.now();
    if (waitMs >= 1) {
      this.#timer = setTimeout(this.#onDelayElapsed, waitMs);
      return;
    }
    this.#expectedRequests = this.#pendingFlush.requests;
    this.#flush();
  };

  readonly #flush = (): void => {
    this.#isFlushScheduled = false;
    const flush = this.#pendingFlush;
    if (flush.bytes === 0) return;
    this.#pendingFlush = createFlush();
    this.#flushedAt = performance.now();
    this.#flushes++;
    const { messages } = flush;
    for (const draft of flush.fullDrafts) messages.push(this.#createMessage(draft));
    for (const draft of flush.drafts.values()) messages.push(this.#createMessage(draft));
    void this.#complete(flush, messages);
  };

  async #complete(flush: Flush, messages: readonly Message[]): Promise<void> {
    try {
      await this.#send(messages);
      flush.resolve();
    } catch (error) {
      flush.reject(error);
    }
    this.#waitingBytes -= flush.bytes;
    this.#schedule();
  }

  async #send(messages: readonly Message[]): Promise<void> {
    this.#activePublishes++;
    const startedAt = performance.now();
    try {
      await this.#producer.publish(messages);
      this.#publishMetrics.countPublish(messages, performance.now() - startedAt);
    } catch (cause) {
      if (cause instanceof UnavailableError) throw cause;
      throw new UnavailableError('the bus did not accept the request', { cause });
    } finally {
      this.#activePublishes--;
      if (this.#activePublishes === 0) for (const resolve of this.#idleCallbacks.splice(0)) resolve();
    }
  }

  #createMessage({ origin, encoding, members, bodies }: Draft): Message {
    return createMessage(origin, encoding, members, bodies, this.#sequence++);
  }
}
