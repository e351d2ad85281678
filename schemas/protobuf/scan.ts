/** Validates a message's wire bytes against its schema in one pass, without decoding or allocating objects. */
import { PermanentError } from '../errors.ts';
import { findTimeProblem, type TimeRange, type TimeUnit } from '../readable-times.ts';
import {
  countedFlag,
  firstMilliseconds,
  identifiedFlag,
  lastMilliseconds,
  lastNanosecondsHigh,
  lastTime,
  maxEnumValue,
  messageAction,
  nestingFlag,
  scanActions,
  timedFlag,
  type WireSchema,
} from './messages.ts';
import { createMalformedError, WireReader } from './reader.ts';
import { findInvalidUtf8, isUtf8Range } from './utf8.ts';

/** Maximum nesting of lists and maps in attribute values. */
export const maxValueDepth = 32;

const toNanosecondsHigh = (timeMs: number): number => Math.floor((Math.max(0, timeMs) * 1e6) / 2 ** 32);

/** Bits of the ids of an identified message. */
const traceIdBit = 1;
const spanIdBit = 2;

/** Validates messages of one body. `records` counts the messages so far that the schema declares as records. */
export class WireScanner {
  readonly #schema: WireSchema;
  readonly #actions: Uint8Array;
  readonly #flags: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** Reader for rare cases */
  readonly #reader: WireReader;
  readonly #times: TimeRange | undefined;
  /** Upper halves of the first and the last readable time in nanoseconds; their rounding is 4.3 seconds. */
  readonly #minTimeHigh: number;
  readonly #maxTimeHigh: number;
  /** Of the current record */
  #hasTime = false;
  #seenIds = 0;
  #unreadableFallbackStart = -1;
  records = 0;

  /** With `times`, records outside of this range are a fault. A time of 0 nanoseconds is unknown, and passes. */
  constructor(schema: WireSchema, bytes: Uint8Array, times?: TimeRange) {
    this.#times = times;
    this.#minTimeHigh = toNanosecondsHigh(times?.fromMs ?? 0);
    this.#maxTimeHigh = Math.min(lastNanosecondsHigh, toNanosecondsHigh(times?.toMs ?? Number.MAX_SAFE_INTEGER));
    this.#schema = schema;
    this.#actions = schema.actions;
    this.#flags = schema.flags;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#reader = new WireReader(bytes);
  }

  /**
   * Validates the bytes from `start` to `end` as a message of the type `message` (a number of the schema): wire types
   * of known fields, lengths, varints, UTF-8, ID sizes, depth. Skips unknown fields.
   */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the innermost loop of admission, where each further call shows in the cost of a record
  scan(messageNumber: number, start: number, end: number, depth = 0): void {
    const bytes = this.#bytes;
    const actions = this.#actions;
    const actionsStart = messageNumber << 8;
    let position = start;
    while (position < end) {
      let tag = bytes[position++] as number;
      if (tag > 127) {
        this.#reader.position = position - 1;
        tag = this.#reader.readTag(end);
        position = this.#reader.position;
      }
      const scanAction = tag < 256 ? (actions[actionsStart | tag] as number) : scanActions.unknown;
      if (scanAction > scanActions.fixed32) {
        // The reader handles a missing, long or too large length, and reports the error.
        let length = position < end ? (bytes[position] as number) : 128;
        if (length < 128 && length < end - position) position++;
        else {
          this.#reader.position = position;
          length = this.#reader.readLengthEnd(end) - this.#reader.position;
          position = this.#reader.position;
        }
        const next = position + length;
        if (scanAction >= messageAction) this.#scanNested(scanAction - messageAction, position, next, depth);
        else if (scanAction === scanActions.string) {
          if (!isUtf8Range(bytes, this.#view, position, next))
            throw this.#createUtf8Error(messageNumber, tag, position, next);
        } else if (scanAction !== scanActions.bytes) this.#checkBytes(scanAction, messageNumber, tag, position, next);
        position = next;
      } else if (
        (scanAction === scanActions.varint ||
          scanAction === scanActions.enum ||
          scanAction === scanActions.milliseconds) &&
        position < end &&
        (bytes[position] as number) < 128
      )
        position++;
      else if (scanAction === scanActions.fixed64 && end - position >= 8) position += 8;
      else if (scanAction === scanActions.nanoseconds && end - position >= 8) {
        if (this.#view.getUint32(position + 4, true) > lastNanosecondsHigh)
          throw this.#createTimeError(messageNumber, tag, position);
        position += 8;
      } else if (scanAction === scanActions.recordNanoseconds && end - position >= 8) {
        const high = this.#view.getUint32(position + 4, true);
        if (high < this.#minTimeHigh || high > this.#maxTimeHigh)
          this.#checkOddTime(messageNumber, tag, position, high);
        else this.#hasTime = true;
        position += 8;
      } else position = this.#scanRareField(messageNumber, scanAction, tag, position, end);
    }
  }

  #scanNested(message: number, start: number, end: number, depth: number): void {
    const flags = this.#flags[message] as number;
    if (flags === 0) {
      this.scan(message, start, end, depth);
      return;
    }
    if (flags & countedFlag) {
      this.records++;
      this.#hasTime = false;
      this.#seenIds = 0;
      this.#unreadableFallbackStart = -1;
    }
    const childDepth = flags & nestingFlag ? depth + 1 : depth;
    if (childDepth > maxValueDepth) {
      throw new PermanentError('too-deep', `attribute values nest deeper than ${maxValueDepth}`, { position: start });
    }
    this.scan(message, start, end, childDepth);
    if (flags & countedFlag) this.#checkRecord(message, flags, start);
  }

  /** Checks what concerns several fields of a record. */
  #checkRecord(message: number, flags: number, start: number): void {
    if (!this.#hasTime) {
      const fallbackStart = this.#unreadableFallbackStart;
      if (fallbackStart >= 0)
        this.#requireReadable(this.#readNanoseconds(fallbackStart), 'nanoseconds', {
          field: `${this.#schema.names[message]}.observedTimeUnixNano`,
          position: fallbackStart,
        });
      // Protobuf does not write the number 0.
      if (flags & timedFlag)
        this.#requireReadable(0, 'milliseconds', {
          field: `${this.#schema.names[message]}.timestamp`,
          position: start,
        });
    }
    if (flags & identifiedFlag && this.#seenIds !== (traceIdBit | spanIdBit)) {
      const name = this.#seenIds & traceIdBit ? 'spanId' : 'traceId';
      const problem = `${this.#schema.names[message]}.${name} is absent or only zeros`;
      throw new PermanentError('bad-id', problem, { position: start });
    }
  }

  #readNanoseconds(position: number): number {
    return this.#view.getUint32(position + 4, true) * 2 ** 32 + this.#view.getUint32(position, true);
  }

  #checkOddTime(message: number, tag: number, position: number, high: number): void {
    if (high > lastNanosecondsHigh) throw this.#createTimeError(message, tag, position);
    const value = this.#readNanoseconds(position);
    if (value === 0) return;
    this.#hasTime = true;
    this.#requireReadable(value, 'nanoseconds', { field: this.#formatFieldName(message, tag), position });
  }

  #requireReadable(value: number, unit: TimeUnit, { field, position }: { field: string; position: number }): void {
    const problem = findTimeProblem(value, unit, this.#times);
    if (problem !== undefined) throw new PermanentError(problem.reason, `${field} ${problem.message}`, { position });
  }

  /** Handles rare cases: long varints, 32-bit values, unknown fields, known fields with a wrong wire type. */
  #scanRareField(message: number, scanAction: number, tag: number, position: number, end: number): number {
    if (tag < 8) throw createMalformedError('the field number is 0', position - 1);
    if (scanAction === scanActions.unknown && !this.#schema.skipsUnexpectedWireTypes && this.#isKnown(message, tag)) {
      throw createMalformedError(`${this.#formatFieldName(message, tag)} has the wire type ${tag % 8}`, position);
    }
    this.#reader.position = position;
    if (scanAction === scanActions.enum && this.#reader.readVarint(end) > maxEnumValue)
      throw createMalformedError(
        `${this.#formatFieldName(message, tag)} is not between 0 and ${maxEnumValue}`,
        position,
      );
    this.#reader.position = position;
    if (scanAction === scanActions.milliseconds || scanAction === scanActions.recordMilliseconds) {
      const value = this.#readMilliseconds(message, tag, end);
      if (scanAction === scanActions.recordMilliseconds) this.#checkRecordMilliseconds(message, tag, position, value);
    } else {
      this.#reader.skip(tag, end);
      if (scanAction === scanActions.fallbackNanoseconds) this.#checkFallbackTime(message, tag, position);
    }
    return this.#reader.position;
  }

  #readMilliseconds(message: number, tag: number, end: number): number {
    const { position } = this.#reader;
    // A negative number appears as 2⁶⁴ more, with the last digits rounded.
    const value = this.#reader.readVarint(end);
    if (value > lastMilliseconds && value < firstMilliseconds) throw this.#createTimeError(message, tag, position);
    return value < firstMilliseconds ? value : value - 2 ** 64;
  }

  #checkRecordMilliseconds(message: number, tag: number, position: number, value: number): void {
    this.#hasTime = true;
    const isReadable = this.#times === undefined || (value >= this.#times.fromMs && value <= this.#times.toMs);
    if (!isReadable)
      this.#requireReadable(value, 'milliseconds', { field: this.#formatFieldName(message, tag), position });
  }

  /** Such a time only matters in a record without another one, which may follow. */
  #checkFallbackTime(message: number, tag: number, position: number): void {
    const high = this.#view.getUint32(position + 4, true);
    if (high > lastNanosecondsHigh) throw this.#createTimeError(message, tag, position);
    const isUnreadable = high < this.#minTimeHigh || high > this.#maxTimeHigh;
    if (isUnreadable && this.#readNanoseconds(position) !== 0) this.#unreadableFallbackStart = position;
  }

  #createTimeError(message: number, tag: number, position: number): PermanentError {
    const problem = `${this.#formatFieldName(message, tag)} is a time before 1900 or after ${lastTime}, which cannot be stored`;
    return new PermanentError('bad-time', problem, { position });
  }

  #createUtf8Error(message: number, tag: number, start: number, end: number): PermanentError {
    const position = findInvalidUtf8(this.#reader.bytes, start, end);
    return new PermanentError('bad-utf8', `${this.#formatFieldName(message, tag)} is not UTF-8`, { position });
  }

  #checkBytes(scanAction: number, message: number, tag: number, start: number, end: number): void {
    const length = end - start;
    if (scanAction === scanActions.packedVarint) {
      this.#reader.position = start;
      while (this.#reader.position < end) this.#reader.readVarint(end);
    } else if (scanAction === scanActions.packedFixed64) {
      if (length % 8 !== 0)
        throw createMalformedError(`${this.#formatFieldName(message, tag)} is not a whole number of values`, start);
    } else this.#checkId(scanAction, message, tag, { start, end });
  }

  #checkId(scanAction: number, message: number, tag: number, { start, end }: { start: number; end: number }): void {
    const length = end - start;
    const isTraceId = scanAction === scanActions.traceId || scanAction === scanActions.requiredTraceId;
    const size = isTraceId ? 16 : 8;
    if (length !== 0 && length !== size) {
      const problem = `${this.#formatFieldName(message, tag)} has ${length} bytes, not 0 or ${size}`;
      throw new PermanentError('bad-id', problem, { position: start });
    }
    const isRequired = scanAction === scanActions.requiredTraceId || scanAction === scanActions.requiredSpanId;
    if (isRequired && !this.#isZero(start, end)) this.#seenIds |= isTraceId ? traceIdBit : spanIdBit;
  }

  #isZero(start: number, end: number): boolean {
    for (let position = start; position < end; position++) if (this.#bytes[position] !== 0) return false;
    return true;
  }

  #isKnown(message: number, tag: number): boolean {
    if (tag > 255) return false;
    const firstAction = (message << 8) | (tag & 0xf8);
    for (let wireType = 0; wireType < 8; wireType++)
      if (this.#actions[firstAction | wireType] !== scanActions.unknown) return true;
    return false;
  }

  #formatFieldName(message: number, tag: number): string {
    const name = this.#schema.names[message] ?? '';
    const number = Math.floor(tag / 8);
    const field = Object.entries(this.#schema.messages[name] ?? {}).find(
      ([, declaration]) => declaration[0] === number,
    );
    return `${name}.${field?.[0] ?? number}`;
  }
}
