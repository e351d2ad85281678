/** What happens to a body once it is read, whichever protocol brought it: check, count against the quota, publish, or refuse. */
import { TooLargeError } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { isRefusal } from './admission.ts';
import type { Caller } from './keyring.ts';
import type { Offload, Outcome } from './offload.ts';
import type { Prepared, Written } from './prepare.ts';
import type { Origin, Publisher } from './publisher.ts';
import type { Quotas } from './quotas.ts';
import { type Refusal, refusal, refusalOf } from './refusal.ts';
import { deadLetterOf, type Fault, type Received } from './refuse.ts';
import type { Rejections } from './rejections.ts';
import type { Tally } from './tally.ts';

const quietMs = 10_000;

/** A request whose body has been read. */
export interface IngestRequest extends Omit<Received, 'origin' | 'size' | 'cut'> {
  readonly origin: Origin & { readonly caller: Caller };
  readonly body: Buffer;
  readonly capBytes: number;
  readonly tally: Tally;
}

/** The request is durable. */
export interface Accepted {
  readonly records: number;
  readonly written: Written | undefined;
}

export class Intake {
  readonly #offload: Offload;
  readonly #quotas: Quotas;
  readonly #rejections: Rejections;
  readonly #publisher: Publisher;
  readonly #metrics: Metrics;
  readonly #log: Log;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor({
    offload,
    quotas,
    rejections,
    publisher,
    metrics,
    log,
  }: {
    offload: Offload;
    quotas: Quotas;
    rejections: Rejections;
    publisher: Publisher;
    metrics: Metrics;
    log: Log;
  }) {
    this.#offload = offload;
    this.#quotas = quotas;
    this.#rejections = rejections;
    this.#publisher = publisher;
    this.#metrics = metrics;
    this.#log = log;
  }

  /** Never rejects: every failure is a refusal. Resolves only when the body, or the copy of a refused one, is durable. */
  async take(request: IngestRequest): Promise<Accepted | Refusal> {
    const startedAt = performance.now();
    let bytes = request.body.length;
    let records = 0;
    let answer: Accepted | Refusal;
    try {
      const pending = this.#offload.prepare(request.shape, request.body, request.capBytes);
      const outcome: Outcome = pending instanceof Promise ? await pending : pending;
      if ('prepared' in outcome) {
        bytes = outcome.prepared.size;
        records = outcome.prepared.records;
        answer = await this.#accept(request, outcome.prepared);
      } else {
        answer = await this.#refuse(request, outcome);
      }
    } catch (error) {
      answer = refusalOf(error);
      if (answer.refused === 'unavailable') this.#warn(error);
    }
    request.tally.count(isRefusal(answer) ? answer.refused : 'accepted', records, bytes);
    if (isRefusal(answer)) this.#reject(request.origin, answer, records, bytes);
    request.tally.took(performance.now() - startedAt);
    return answer;
  }

  /** A body that its protocol already found to be damaged. */
  async malformed(received: Received, fault: PermanentError, tally: Tally): Promise<Refusal> {
    const answer = (await this.#copy(received, fault)) ?? refusalOf(fault);
    tally.count(answer.refused, 0, received.body.length);
    this.#reject(received.origin, answer, 0, received.body.length);
    return answer;
  }

  /** A body that is above the cap: what of it was read is kept, the cap at most. */
  async tooLarge(received: Received, capBytes: number, tally: Tally): Promise<Refusal> {
    const message = `the body is larger than ${capBytes} bytes`;
    const copied = await this.#copy(received, { reason: 'too-large', message });
    const answer = copied ?? refusal('too-large', message);
    tally.count(answer.refused, 0, received.body.length);
    this.#reject(received.origin, answer, 0, received.body.length);
    return answer;
  }

  /** The ledger counts what was kept as a dead letter from there. */
  #reject({ caller, signal }: Origin, refused: Refusal, records: number, bytes: number): void {
    if (refused.refused === 'malformed' || refused.refused === 'too-large') return;
    this.#rejections.count(caller, signal, refused, records, bytes);
  }

  async #accept({ origin }: IngestRequest, { records, written, pieces }: Prepared): Promise<Accepted | Refusal> {
    // The bytes that messages carry, as the ledger counts them: JSON is smaller by then.
    let bytes = 0;
    for (const { size } of pieces) bytes += size;
    const overQuota = this.#quotas.take(origin.caller, origin.signal, bytes);
    const limited = overQuota instanceof Promise ? await overQuota : overQuota;
    if (limited !== undefined) return limited;
    if (pieces.length > 0) await this.#publisher.publish(origin, pieces);
    origin.caller.use.accepted(origin.signal);
    return { records, written };
  }

  async #refuse(request: IngestRequest, { error, body }: { error: unknown; body: Buffer }): Promise<Refusal> {
    const received: Received = { ...request, body, size: body.length, cut: false };
    if (!(error instanceof PermanentError)) return refusalOf(error);
    const copied = await this.#copy(received, error);
    return copied ?? (error instanceof TooLargeError ? refusal('too-large', error.message) : refusalOf(error));
  }

  /** Undefined once the copy is durable; without it the sender must keep the body and is told to try again. */
  async #copy(received: Received, fault: Fault): Promise<Refusal | undefined> {
    try {
      await this.#publisher.publishAlone(deadLetterOf(received, fault));
      this.#metrics.add('oiq_dead_letters_total', 1, { origin: received.receiver, reason: fault.reason });
      return undefined;
    } catch (error) {
      this.#warn(error);
      return refusal('unavailable', 'the request was refused, but no copy of it could be kept: send it again', 5);
    }
  }

  /** At most one line in a while: when the bus is gone, every request says the same. */
  #warn(error: unknown): void {
    const now = performance.now();
    if (now - this.#warnedAt < quietMs) return;
    this.#warnedAt = now;
    this.#log.warn(
      { error: error instanceof Error ? error.message : String(error) },
      'a request could not be made durable',
    );
  }
}
