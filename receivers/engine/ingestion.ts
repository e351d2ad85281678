/** Ingestion of a complete body, for all protocols: validate, count against the quota, publish, or reject. */
import { deriveFingerprintKey } from '../../runtime/fingerprint-key.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { createReadableTimes } from '../../schemas/readable-times.ts';
import { isRejection, signalForbidden } from './admission.ts';
import { type ReceivedRequest, toDeadLetters, toPartialDeadLetters } from './dead-letters.ts';
import { createErrorResponse, type ErrorResponse, toErrorResponse } from './error-responses.ts';
import type { Caller } from './keyring.ts';
import type { Offload, OffloadResult } from './offload.ts';
import { PendingBodies } from './pending-bodies.ts';
import type { PreparedBody, WriteCounts } from './prepare.ts';
import { type Publisher, separateSignals } from './publisher.ts';
import type { Quotas } from './quotas.ts';
import type { Rejections } from './rejections.ts';
import { countBytes } from './request-body.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { VisitorLimits } from './visitor-limits.ts';

const warningIntervalMs = 10_000;

/** An admitted request without its body. */
export interface IngestRequest extends ReceivedRequest {
  readonly caller: Caller;
  /** Address of the visitor of a page, for limits only */
  readonly visitor: string | undefined;
  readonly limitBytes: number;
  readonly requestMetrics: RequestMetrics;
}

/** Records of a request that were not accepted while others were. Their dead letter is durable. */
export interface PartialRejection {
  /** 0 if records were expected in the body, but none was found. */
  readonly records: number;
  /** Fault of the first of them, and its position. */
  readonly message: string;
}

/** The request is durable. */
export interface Accepted {
  readonly records: number;
  readonly written: WriteCounts | undefined;
  readonly rejected: PartialRejection | undefined;
}

const toPartialRejection = (rejectedParts: PreparedBody['rejectedParts']): PartialRejection | undefined => {
  const [first] = rejectedParts;
  return first && { records: rejectedParts.reduce((sum, { records }) => sum + records, 0), message: first.message };
};

/** Returns the messages of values of other topics. */
const toMessages = (
  { caller: { tenantId, projectId } }: IngestRequest,
  publications: PreparedBody['publications'],
): Message[] =>
  publications.map(({ topic, key, value }) => ({
    topic,
    key: `${tenantId}/${key}`,
    value: Buffer.from(JSON.stringify({ tenantId, projectId, ...value })),
    headers: {},
  }));

const readDecompressedBytes = (error: unknown): number | undefined =>
  error instanceof PermanentError ? error.decompressedBytes : undefined;

/** Events of recordings in a form that cannot be masked, for example without a number. */
const unmaskableRecording = {
  ...createErrorResponse('forbidden', 'events of recordings cannot be read, so they cannot be masked'),
  reason: 'unreadable-recording',
};

export class Ingestion {
  readonly #offload: Offload;
  readonly #browserOffload: Offload;
  readonly #redactionOffload: Offload;
  readonly #quotas: Quotas;
  readonly #visitorLimits: VisitorLimits;
  readonly #sessionLimits: VisitorLimits;
  readonly #rejections: Rejections;
  readonly #publisher: Publisher;
  readonly #metrics: Metrics;
  readonly #pendingBodies = new PendingBodies();
  readonly #loadSecretBox: () => Promise<SecretBox>;
  readonly #log: Log;
  #fingerprintKey: string | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor({
    offload,
    browserOffload,
    redactionOffload,
    quotas,
    visitorLimits,
    sessionLimits,
    rejections,
    publisher,
    loadSecretBox,
    metrics,
    log,
  }: {
    offload: Offload;
    /** Prepares the bodies of browsers. */
    browserOffload: Offload;
    /** Prepares the bodies of projects whose secrets are replaced. */
    redactionOffload: Offload;
    quotas: Quotas;
    visitorLimits: VisitorLimits;
    /** Limits the sessions of browsers. */
    sessionLimits: VisitorLimits;
    rejections: Rejections;
    publisher: Publisher;
    /** Encrypts dead letters of browsers and of projects whose secrets are replaced. Created on first use. */
    loadSecretBox: () => Promise<SecretBox>;
    metrics: Metrics;
    log: Log;
  }) {
    this.#offload = offload;
    this.#browserOffload = browserOffload;
    this.#redactionOffload = redactionOffload;
    this.#quotas = quotas;
    this.#visitorLimits = visitorLimits;
    this.#sessionLimits = sessionLimits;
    this.#loadSecretBox = loadSecretBox;
    this.#rejections = rejections;
    this.#publisher = publisher;
    this.#metrics = metrics;
    this.#log = log;
  }

  /**
   * Accepts a complete body. The promise never rejects: a failure resolves to an error response. Resolves only when the body, or the copy of a
   * rejected one, is durable.
   */
  async accept(received: IngestRequest, parts: readonly Buffer[]): Promise<Accepted | ErrorResponse> {
    const startedAt = performance.now();
    let bytes = countBytes(parts);
    let records = 0;
    let outcome: Accepted | ErrorResponse;
    let request = received;
    try {
      if (received.caller.redactsSecrets) request = await this.#addRedaction(received);
      const times = createReadableTimes(request.receivedAtMs, request.caller.retentionDays[request.signal]);
      const pending = this.#prepare({ ...request, shape: { ...request.shape, times } }, parts);
      const preparation = pending instanceof Promise ? await pending : pending;
      if (isRejection(preparation)) outcome = preparation;
      else if ('prepared' in preparation) {
        bytes = preparation.prepared.size;
        records = preparation.prepared.records;
        outcome = await this.#publish(request, preparation.prepared);
      } else {
        bytes = readDecompressedBytes(preparation.error) ?? bytes;
        outcome = await this.#storeDeadLetter(request, [preparation.body], preparation.error, false);
      }
    } catch (error) {
      outcome = this.#toErrorResponse(error);
    }
    this.#count(request, outcome, records, bytes);
    request.requestMetrics.observeDuration(performance.now() - startedAt);
    return outcome;
  }

  #prepare(
    { caller, shape, limitBytes, visitor = '' }: IngestRequest,
    parts: readonly Buffer[],
  ): OffloadResult | ErrorResponse | Promise<OffloadResult | ErrorResponse> {
    const { browser, keyId, redactsSecrets } = caller;
    if (browser === undefined)
      return (redactsSecrets ? this.#redactionOffload : this.#offload).prepare(shape, parts, limitBytes);
    const rejection = this.#pendingBodies.enter(keyId, visitor);
    if (rejection !== undefined) return rejection;
    const preparing = Promise.resolve(this.#browserOffload.prepare(shape, parts, limitBytes));
    return preparing.finally(() => this.#pendingBodies.leave(keyId, visitor));
  }

  /** Stores a copy of a body that its protocol rejects; with `cut`, only its beginning is available. Never rejects. */
  async refuse(
    received: IngestRequest,
    parts: readonly Uint8Array[],
    fault: PermanentError,
    isTruncated = false,
  ): Promise<ErrorResponse> {
    let request = received;
    try {
      if (received.caller.redactsSecrets) request = await this.#addRedaction(received);
    } catch (error) {
      return this.#toErrorResponse(error);
    }
    const response = await this.#storeDeadLetter(request, parts, fault, isTruncated);
    this.#count(request, response, 0, countBytes(parts));
    return response;
  }

  #count(
    { caller, signal, requestMetrics }: IngestRequest,
    answer: Accepted | ErrorResponse,
    records: number,
    bytes: number,
  ): void {
    requestMetrics.count(isRejection(answer) ? answer.kind : 'accepted', records, bytes);
    // Stored dead letters are counted separately in the ledger.
    if (isRejection(answer) && answer.kind !== 'malformed' && answer.kind !== 'too-large')
      this.#rejections.count(caller, signal, answer, records, bytes);
  }

  async #publish(request: IngestRequest, preparedBody: PreparedBody): Promise<Accepted | ErrorResponse> {
    const prepared = this.#dropForbidden(request, preparedBody);
    const { size, records, writeCounts, messageParts, additional, publications, rejectedParts } = prepared;
    const { caller, signal } = request;
    if (caller.browser !== undefined) this.#countPrivacy(request, prepared);
    for (const session of prepared.sessions) {
      const sessionRejection = this.#sessionLimits.countRequest(caller.keyId, session);
      if (sessionRejection !== undefined) return sessionRejection;
    }
    for (const { origin, request: part } of separateSignals(request, prepared)) {
      const quotaResult = this.#quotas.spend(caller, origin.signal, part.size);
      const quotaRejection = quotaResult instanceof Promise ? await quotaResult : quotaResult;
      if (quotaRejection !== undefined) return quotaRejection;
    }
    if (request.visitor !== undefined) this.#visitorLimits.countBytes(caller.keyId, request.visitor, size);
    for (const session of prepared.sessions) this.#sessionLimits.countBytes(caller.keyId, session, size);
    if (messageParts.length + additional.length + publications.length + rejectedParts.length > 0)
      await this.#publishParts(request, prepared);
    if (messageParts.length + publications.length > 0 && records > 0) caller.use.recordAccepted(signal);
    for (const parts of additional) caller.use.recordAccepted(parts.signal);
    return { records, written: writeCounts, rejected: toPartialRejection(rejectedParts) };
  }

  #countPrivacy(
    { caller, signal, receiver }: IngestRequest,
    { droppedRecordings, removedValues, maskedValues }: PreparedBody,
  ): void {
    if (removedValues > 0) this.#metrics.add('oiq_browser_removed_values_total', removedValues, { receiver });
    if (maskedValues > 0) this.#metrics.add('oiq_browser_masked_values_total', maskedValues, { receiver });
    if (droppedRecordings === 0) return;
    this.#metrics.add('oiq_browser_dropped_events_total', droppedRecordings, { receiver });
    this.#rejections.count(caller, signal, unmaskableRecording, droppedRecordings, 0);
  }

  /** Drops and counts records of telemetry signals that the key may not send; the request was admitted for another one. */
  #dropForbidden({ caller }: IngestRequest, prepared: PreparedBody): PreparedBody {
    const forbidden = prepared.additional.filter(({ signal }) => !caller.signals.has(signal));
    if (forbidden.length === 0) return prepared;
    let { records } = prepared;
    for (const { signal, records: signalRecords, messageParts } of forbidden) {
      const bytes = messageParts.reduce((sum, part) => sum + part.size, 0);
      this.#rejections.count(caller, signal, signalForbidden[signal], signalRecords, bytes);
      records -= signalRecords;
    }
    return { ...prepared, records, additional: prepared.additional.filter((parts) => !forbidden.includes(parts)) };
  }

  /** Publishes the accepted and the rejected records at once, so that a retry after a failure repeats both. */
  async #publishParts(request: IngestRequest, prepared: PreparedBody): Promise<void> {
    const { size, rejectedParts } = prepared;
    let rejectedBytes = 0;
    for (const { body } of rejectedParts) rejectedBytes += body.length;
    const secretBox = rejectedParts.length === 0 ? undefined : await this.#openSecretBox(request);
    const deadLetters = rejectedParts.flatMap((part) => toPartialDeadLetters(request, part, secretBox));
    const accepted = { ...prepared, size: Math.max(0, size - rejectedBytes) };
    const messages = [...toMessages(request, prepared.publications), ...deadLetters];
    const publishes = separateSignals(request, accepted).map(({ origin, request: part }, index) =>
      this.#publisher.publish(origin, part, index === 0 ? messages : []),
    );
    await Promise.all(publishes);
    for (const { records, reason } of rejectedParts) {
      this.#metrics.add('oiq_dead_letters_total', 1, { origin: request.receiver, reason });
      this.#metrics.add('oiq_ingest_rejected_records_total', records, {
        receiver: request.receiver,
        signal: request.signal,
        reason,
      });
    }
  }

  /**
   * Stores a dead letter before a permanent error is returned. Without a stored copy the sender must retain the body,
   * so the response requests a retry.
   */
  async #storeDeadLetter(
    request: IngestRequest,
    parts: readonly Uint8Array[],
    error: unknown,
    cut: boolean,
  ): Promise<ErrorResponse> {
    if (!(error instanceof PermanentError)) return this.#toErrorResponse(error);
    if (request.shape.format.isSensitive?.(error)) {
      const rejection =
        error.reason === 'too-large' ? createErrorResponse('too-large', error.message) : toErrorResponse(error);
      this.#rejections.count(
        request.caller,
        request.signal,
        { ...rejection, reason: error.reason },
        0,
        countBytes(parts),
      );
      return rejection;
    }
    try {
      const secretBox = await this.#openSecretBox(request);
      await this.#publisher.publishAlone(toDeadLetters(request, parts, { error, isTruncated: cut, secretBox }));
    } catch (cause) {
      this.#logWarning(cause);
      return createErrorResponse(
        'unavailable',
        'the request was refused, but no copy could be stored: send it again',
        5,
      );
    }
    this.#metrics.add('oiq_dead_letters_total', 1, { origin: request.receiver, reason: error.reason });
    return error.reason === 'too-large' ? createErrorResponse('too-large', error.message) : toErrorResponse(error);
  }

  /** Returns undefined for requests whose dead letters are not encrypted. */
  async #openSecretBox({ caller }: IngestRequest): Promise<SecretBox | undefined> {
    return caller.browser === undefined && !caller.redactsSecrets ? undefined : this.#loadSecretBox();
  }

  async #addRedaction(request: IngestRequest): Promise<IngestRequest> {
    this.#fingerprintKey ??= deriveFingerprintKey(await this.#loadSecretBox());
    const { tenantId } = request.caller;
    return { ...request, shape: { ...request.shape, redaction: { tenantId, fingerprintKey: this.#fingerprintKey } } };
  }

  #toErrorResponse(error: unknown): ErrorResponse {
    const response = toErrorResponse(error);
    if (response.kind === 'unavailable') this.#logWarning(error);
    return response;
  }

  /** Limits the log rate, because every request fails in the same way when the bus is down. */
  #logWarning(error: unknown): void {
    const now = performance.now();
    if (now - this.#warnedAt < warningIntervalMs) return;
    this.#warnedAt = now;
    this.#log.warn(
      { error: error instanceof Error ? error.message : String(error) },
      'a request could not be made durable',
    );
  }
}
