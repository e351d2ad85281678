/**
 * Separates the records of a message that can be accepted from those that cannot. Both parts are valid requests: each
 * repeats the resource, scope, metric or series of its records.
 */
import { PermanentError } from '../errors.ts';
import { WireReader } from './reader.ts';
import type { SplittableMessage } from './split.ts';
import { WireWriter } from './writer.ts';

/** A fault of every record would otherwise cost an error object for each; above this, the request is rejected whole. */
export const maxFaults = 10_000;

/** Checks of a format. Each throws a `PermanentError` with the position in the body. */
export interface RecordChecks {
  /** Checks fields of a message that are between `start` and `end`. */
  checkFields(message: number, start: number, end: number): void;
  /** Checks what concerns a message as a whole, except its records. */
  checkMessage?(message: number, start: number, end: number): void;
}

/** The part of a body that cannot be accepted, as a body of its own in the same format. */
export interface RejectedBody {
  /** Number of rejected records; at least 1 for a part whose records are unknown, 0 if no record was found. */
  readonly records: number;
  /** The first fault. */
  readonly error: PermanentError;
  readonly body: Buffer;
}

export interface SeparatedRequest {
  readonly accepted: Buffer;
  readonly rejected: RejectedBody;
}

class Separator {
  readonly accepted: WireWriter;
  readonly rejected = new WireWriter(0);
  rejectedRecords = 0;
  error: PermanentError | undefined;
  #faults = 0;
  #acceptedFields = 0;
  readonly #body: Uint8Array;
  readonly #reader: WireReader;
  readonly #checks: RecordChecks;

  constructor(body: Uint8Array, checks: RecordChecks) {
    this.#body = body;
    this.#reader = new WireReader(body);
    this.#checks = checks;
    this.accepted = new WireWriter(body.length);
  }

  /**
   * Writes the fields between `start` and `end` to both parts, and each record to one of them. Returns whether a record
   * was rejected. Throws if the fields outside of records have a fault.
   */
  separate({ message, fields }: SplittableMessage, start: number, end: number): boolean {
    const reader = this.#reader;
    this.#checks.checkMessage?.(message, start, end);
    let hasRejected = false;
    let position = start;
    while (position < end) {
      const fieldStart = position;
      reader.position = position;
      const tag = reader.readTag(end);
      if (!fields.has(tag >>> 3) || tag % 8 !== 2) {
        reader.skip(tag, end);
        position = reader.position;
        this.#checks.checkFields(message, fieldStart, position);
        this.accepted.copyBytes(this.#body, fieldStart, position);
        this.rejected.copyBytes(this.#body, fieldStart, position);
        continue;
      }
      position = reader.readLengthEnd(end);
      const child = fields.get(tag >>> 3);
      const isRejected = this.#separateField({ message, child, tag }, fieldStart, reader.position, position);
      hasRejected ||= isRejected;
    }
    return hasRejected;
  }

  #separateField(
    { message, child, tag }: { message: number; child: SplittableMessage | undefined; tag: number },
    start: number,
    contentStart: number,
    end: number,
  ): boolean {
    try {
      this.#checks.checkFields(message, start, end);
      if (child !== undefined) this.#checks.checkMessage?.(child.message, contentStart, end);
      this.accepted.copyBytes(this.#body, start, end);
      this.#acceptedFields++;
      return false;
    } catch (error) {
      this.#addFault(error);
    }
    if (child === undefined || !this.#separateMessage(child, tag, contentStart, end)) {
      this.rejected.copyBytes(this.#body, start, end);
      this.rejectedRecords += Math.max(1, child === undefined ? 1 : this.#countRecords(child, contentStart, end));
    }
    return true;
  }

  /** Separates a message with a fault. Returns `false`, and writes nothing, if the fault is not one of its records. */
  #separateMessage(child: SplittableMessage, tag: number, start: number, end: number): boolean {
    const { accepted, rejected, rejectedRecords } = this;
    const acceptedFields = this.#acceptedFields;
    const lengths = [accepted.length, rejected.length] as const;
    for (const writer of [accepted, rejected]) writer.writeVarint(tag);
    const marks = [accepted.beginLengthPrefixed(), rejected.beginLengthPrefixed()] as const;
    try {
      if (this.separate(child, start, end)) {
        accepted.endLengthPrefixed(marks[0]);
        rejected.endLengthPrefixed(marks[1]);
        if (this.#acceptedFields === acceptedFields) accepted.truncate(lengths[0]);
        return true;
      }
    } catch (error) {
      this.#addFault(error);
    }
    accepted.truncate(lengths[0]);
    rejected.truncate(lengths[1]);
    this.rejectedRecords = rejectedRecords;
    this.#acceptedFields = acceptedFields;
    return false;
  }

  #addFault(error: unknown): void {
    if (!(error instanceof PermanentError) || this.#faults++ >= maxFaults) throw error;
    this.error ??= error;
  }

  /** Counts records without checks; 0 if the message cannot be read. */
  #countRecords({ fields }: SplittableMessage, start: number, end: number): number {
    const reader = this.#reader;
    let records = 0;
    try {
      for (let position = start; position < end; position = reader.position) {
        reader.position = position;
        const tag = reader.readTag(end);
        if (!fields.has(tag >>> 3) || tag % 8 !== 2) {
          reader.skip(tag, end);
          continue;
        }
        const next = reader.readLengthEnd(end);
        const child = fields.get(tag >>> 3);
        records += child === undefined ? 1 : this.#countRecords(child, reader.position, next);
        reader.position = next;
      }
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
    }
    return records;
  }
}

/**
 * Separates a body. Returns undefined if it has no fault. Throws `PermanentError` if the fault is not one of its
 * records, or if too many records have one.
 */
export const separateRecords = (
  message: SplittableMessage,
  body: Uint8Array,
  checks: RecordChecks,
): SeparatedRequest | undefined => {
  const separator = new Separator(body, checks);
  separator.separate(message, 0, body.length);
  const { accepted, rejected, rejectedRecords: records, error } = separator;
  return error && { accepted: accepted.finish(), rejected: { records, error, body: rejected.finish() } };
};
