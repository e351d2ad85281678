/** Validates a message's wire bytes against its schema in one pass, without decoding or allocating objects. */
import { PermanentError } from '../errors.ts';
import {
  action,
  counted,
  firstMilliseconds,
  largestEnum,
  lastMilliseconds,
  lastNanosecondsHigh,
  lastTime,
  messageAction,
  nesting,
  type WireSchema,
} from './messages.ts';
import { malformed, WireReader } from './reader.ts';
import { isUtf8Range, utf8Fault } from './utf8.ts';

/** Maximum nesting of lists and maps in attribute values. */
export const maxValueDepth = 32;

/** Validates messages of one body. `records` is the number of the schema's counted messages so far. */
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
  scan(message: number, start: number, end: number, depth = 0): void {
    const bytes = this.#bytes;
    const actions = this.#actions;
    const row = message << 8;
    let position = start;
    while (position < end) {
      let tag = bytes[position++] as number;
      if (tag > 127) {
        this.#reader.position = position - 1;
        tag = this.#reader.tag(end);
        position = this.#reader.position;
      }
      const step = tag < 256 ? (actions[row | tag] as number) : action.unknown;
      if (step > action.fixed32) {
        // The reader handles an absent, long or too large length, and reports the fault.
        let length = position < end ? (bytes[position] as number) : 128;
        if (length < 128 && length < end - position) position++;
        else {
          this.#reader.position = position;
          length = this.#reader.lengthEnd(end) - this.#reader.position;
          position = this.#reader.position;
        }
        const next = position + length;
        if (step >= messageAction) this.#enter(step - messageAction, position, next, depth);
        else if (step === action.string) {
          if (!isUtf8Range(bytes, this.#view, position, next)) throw this.#notUtf8(message, tag, position, next);
        } else if (step !== action.bytes) this.#checkBytes(step, message, tag, position, next);
        position = next;
      } else if (
        (step === action.varint || step === action.enum || step === action.milliseconds) &&
        position < end &&
        (bytes[position] as number) < 128
      )
        position++;
      else if (step === action.fixed64 && end - position >= 8) position += 8;
      else if (step === action.nanoseconds && end - position >= 8) {
        if (this.#view.getUint32(position + 4, true) > lastNanosecondsHigh)
          throw this.#unstorable(message, tag, position);
        position += 8;
      } else position = this.#stepOver(message, step, tag, position, end);
    }
  }

  #enter(message: number, start: number, end: number, depth: number): void {
    const flags = this.#flags[message] as number;
    if (flags === 0) {
      this.scan(message, start, end, depth);
      return;
    }
    if (flags & counted) this.records++;
    const below = flags & nesting ? depth + 1 : depth;
    if (below > maxValueDepth) {
      throw new PermanentError('too-deep', `attribute values nest deeper than ${maxValueDepth}`, { position: start });
    }
    this.scan(message, start, end, below);
  }

  /** Handles rare cases: long varints, 32-bit values, unknown fields, known fields with a wrong wire type. */
  #stepOver(message: number, step: number, tag: number, position: number, end: number): number {
    if (tag < 8) throw malformed('the field number is 0', position - 1);
    if (step === action.unknown && !this.#schema.skipsForeign && this.#isKnown(message, tag)) {
      throw malformed(`${this.#fieldName(message, tag)} has the wire type ${tag % 8}`, position);
    }
    this.#reader.position = position;
    if (step === action.enum && this.#reader.varint(end) > largestEnum)
      throw malformed(`${this.#fieldName(message, tag)} is not between 0 and ${largestEnum}`, position);
    this.#reader.position = position;
    if (step === action.milliseconds) {
      // A negative number appears as 2⁶⁴ more, with the last digits rounded.
      const value = this.#reader.varint(end);
      if (value > lastMilliseconds && value < firstMilliseconds) throw this.#unstorable(message, tag, position);
    } else this.#reader.skip(tag, end);
    return this.#reader.position;
  }

  #unstorable(message: number, tag: number, position: number): PermanentError {
    const fault = `${this.#fieldName(message, tag)} is a time before 1900 or after ${lastTime}, which cannot be stored`;
    return new PermanentError('bad-time', fault, { position });
  }

  #notUtf8(message: number, tag: number, start: number, end: number): PermanentError {
    const position = utf8Fault(this.#reader.bytes, start, end);
    return new PermanentError('bad-utf8', `${this.#fieldName(message, tag)} is not UTF-8`, { position });
  }

  #checkBytes(step: number, message: number, tag: number, start: number, end: number): void {
    const length = end - start;
    if (step === action.packedVarint) {
      this.#reader.position = start;
      while (this.#reader.position < end) this.#reader.varint(end);
    } else if (step === action.packedFixed64) {
      if (length % 8 !== 0) throw malformed(`${this.#fieldName(message, tag)} is not a whole number of values`, start);
    } else {
      const size = step === action.traceId ? 16 : 8;
      if (length === 0 || length === size) return;
      const fault = `${this.#fieldName(message, tag)} has ${length} bytes, not 0 or ${size}`;
      throw new PermanentError('bad-id', fault, { position: start });
    }
  }

  #isKnown(message: number, tag: number): boolean {
    if (tag > 255) return false;
    const first = (message << 8) | (tag & 0xf8);
    for (let wireType = 0; wireType < 8; wireType++)
      if (this.#actions[first | wireType] !== action.unknown) return true;
    return false;
  }

  #fieldName(message: number, tag: number): string {
    const name = this.#schema.names[message] ?? '';
    const number = Math.floor(tag / 8);
    const field = Object.entries(this.#schema.messages[name] ?? {}).find(
      ([, declaration]) => declaration[0] === number,
    );
    return `${name}.${field?.[0] ?? number}`;
  }
}
