/** Validates a message's wire bytes against its schema in one pass, without decoding or allocating objects. */
import { PermanentError } from '../errors.ts';
import {
  countedFlag,
  firstMilliseconds,
  lastMilliseconds,
  lastNanosecondsHigh,
  lastTime,
  maxEnumValue,
  messageAction,
  nestingFlag,
  scanActions,
  type WireSchema,
} from './messages.ts';
import { createMalformedError, WireReader } from './reader.ts';
import { findInvalidUtf8, isUtf8Range } from './utf8.ts';

/** Maximum nesting of lists and maps in attribute values. */
export const maxValueDepth = 32;

/** Validates messages of one body. `records` counts the messages so far that the schema declares as records. */
export class WireScanner {
  readonly #schema: WireSchema;
  readonly #actions: Uint8Array;
  readonly #flags: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** Reader for rare cases */
  readonly #reader: WireReader;
  records = 0;

  constructor(schema: WireSchema, bytes: Uint8Array) {
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
      } else position = this.#scanRareField(messageNumber, scanAction, tag, position, end);
    }
  }

  #scanNested(message: number, start: number, end: number, depth: number): void {
    const flags = this.#flags[message] as number;
    if (flags === 0) {
      this.scan(message, start, end, depth);
      return;
    }
    if (flags & countedFlag) this.records++;
    const childDepth = flags & nestingFlag ? depth + 1 : depth;
    if (childDepth > maxValueDepth) {
      throw new PermanentError('too-deep', `attribute values nest deeper than ${maxValueDepth}`, { position: start });
    }
    this.scan(message, start, end, childDepth);
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
    if (scanAction === scanActions.milliseconds) {
      // A negative number appears as 2⁶⁴ more, with the last digits rounded.
      const value = this.#reader.readVarint(end);
      if (value > lastMilliseconds && value < firstMilliseconds) throw this.#createTimeError(message, tag, position);
    } else this.#reader.skip(tag, end);
    return this.#reader.position;
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
    } else {
      const size = scanAction === scanActions.traceId ? 16 : 8;
      if (length === 0 || length === size) return;
      const problem = `${this.#formatFieldName(message, tag)} has ${length} bytes, not 0 or ${size}`;
      throw new PermanentError('bad-id', problem, { position: start });
    }
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
