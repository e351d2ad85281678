/**
 * Locations of the fields of a log record. One pass over the bytes validates the record and finds them, for all readers
 * of the message.
 */
import { readIdStart, WireCursor } from '../protobuf/cursor.ts';
import { isCommonForm } from './attributes.ts';
import { LogValidator } from './validate.ts';

/** Columns of a row. `filled` identifies its record. An absent time or ID is -1, and an absent text is an empty range. */
export const logRow = {
  filled: 0,
  time: 1,
  observed: 2,
  severity: 3,
  textStart: 4,
  textEnd: 5,
  nameStart: 6,
  nameEnd: 7,
  bodyStart: 8,
  bodyEnd: 9,
  attributesStart: 10,
  attributesEnd: 11,
  dropped: 12,
  flags: 13,
  trace: 14,
  span: 15,
} as const;
export const logRowWidth = 16;

/**
 * Returns whether the bytes are an AnyValue in a common form: empty, a short text, a number or a boolean. Does not
 * validate the text.
 */
const hasCommonValueForm = (bytes: Uint8Array, start: number, end: number): boolean => {
  const size = end - start - 2;
  if (size < 0) return size === -2;
  const tag = bytes[start];
  if (tag === 0x0a) return size < 128 && bytes[start + 1] === size;
  if (tag === 0x21) return size === 7;
  if ((tag !== 0x18 && tag !== 0x10) || size > 8) return false;
  for (let position = start + 1; position < end - 1; position++) if ((bytes[position] as number) < 128) return false;
  return (bytes[end - 1] as number) < 128;
};

/** Returns whether the bytes are a KeyValue in the common form: a short key, a common value and nothing else. */
const isCommonPair = (bytes: Uint8Array, start: number, end: number): boolean =>
  isCommonForm(bytes, start, end) && hasCommonValueForm(bytes, start + (bytes[start + 1] as number) + 4, end);

/** Returns whether the bytes are an AnyValue with only a text of 128 bytes or more. */
const isLongText = (bytes: Uint8Array, start: number, end: number): boolean => {
  const low = bytes[start + 1] as number;
  const high = bytes[start + 2] as number;
  return bytes[start] === 0x0a && low > 127 && high < 128 && start + 3 + ((low & 127) | (high << 7)) === end;
};

const readFixed32 = (bytes: Uint8Array, position: number): number =>
  (bytes[position] as number) |
  ((bytes[position + 1] as number) << 8) |
  ((bytes[position + 2] as number) << 16) |
  ((bytes[position + 3] as number) << 24);

/** Fills rows for the records of one request. Throws a `PermanentError` for a record that a sink would reject. */
export class LogRows {
  readonly bytes: Uint8Array;
  #cachedChecks: LogValidator | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  fill(rows: Int32Array, row: number, start: number, end: number): void {
    if (this.#fillCommon(rows, row, start, end)) return;
    this.#checks.validateRecord(start, end);
    fillUncommon(rows, row, new WireCursor(this.bytes, start), end);
  }

  /** Validation of rare forms */
  get #checks(): LogValidator {
    this.#cachedChecks ??= new LogValidator(this.bytes);
    return this.#cachedChecks;
  }

  /**
   * Returns `false` if a field has a rare form; then the row is undefined. The variables are separate, because
   * destructuring arrays would allocate 290 bytes per record.
   */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the innermost loop of decoding, where each additional call measurably increases the cost per record
  #fillCommon(rows: Int32Array, row: number, start: number, end: number): boolean {
    const { bytes } = this;
    let time = -1;
    let observed = -1;
    let trace = -1;
    let span = -1;
    let severity = 0;
    let dropped = 0;
    let flags = 0;
    let textStart = 0;
    let textEnd = 0;
    let nameStart = 0;
    let nameEnd = 0;
    let attributesStart = 0;
    let attributesEnd = 0;
    let bodyStart = end;
    let bodyEnd = end;
    let position = start;
    while (position < end) {
      const tag = bytes[position] as number;
      const valueStart = position + 1;
      if ((tag & 7) === 2) {
        let length = bytes[valueStart] as number;
        let contentStart = valueStart + 1;
        if (length > 127) {
          const high = bytes[contentStart++] as number;
          if (high > 127) return false;
          length = (length & 127) | (high << 7);
        }
        const contentEnd = contentStart + length;
        // After the last byte the result is not a number.
        if (!(contentEnd <= end)) return false;
        if (tag === 0x32) {
          if (!isCommonPair(bytes, contentStart, contentEnd)) this.#checks.validateAttribute(contentStart, contentEnd);
          if (attributesEnd === 0) attributesStart = position;
          attributesEnd = contentEnd;
        } else if (tag === 0x2a) {
          if (!(hasCommonValueForm(bytes, contentStart, contentEnd) || isLongText(bytes, contentStart, contentEnd)))
            this.#checks.validateValue(contentStart, contentEnd);
          bodyStart = contentStart;
          bodyEnd = contentEnd;
        } else if (tag === 0x1a) {
          textStart = contentStart;
          textEnd = contentEnd;
        } else if (tag === 0x4a && (length === 16 || length === 0)) trace = length === 0 ? -1 : contentStart;
        else if (tag === 0x52 && (length === 8 || length === 0)) span = length === 0 ? -1 : contentStart;
        else if (tag === 0x62) {
          nameStart = contentStart;
          nameEnd = contentEnd;
        } else return false;
        position = contentEnd;
      } else if (tag === 0x09 || tag === 0x59) {
        if (tag === 0x09) time = valueStart;
        else observed = valueStart;
        position = valueStart + 8;
      } else if (tag === 0x10 || tag === 0x38) {
        const number = bytes[valueStart] as number;
        if (!(number < 128)) return false;
        if (tag === 0x10) severity = number;
        else dropped = number;
        position = valueStart + 1;
      } else if (tag === 0x45) {
        flags = readFixed32(bytes, valueStart);
        position = valueStart + 4;
      } else return false;
    }
    if (position !== end) return false;
    rows[row + logRow.time] = time;
    rows[row + logRow.observed] = observed;
    rows[row + logRow.severity] = severity;
    rows[row + logRow.textStart] = textStart;
    rows[row + logRow.textEnd] = textEnd;
    rows[row + logRow.nameStart] = nameStart;
    rows[row + logRow.nameEnd] = nameEnd;
    rows[row + logRow.bodyStart] = bodyStart;
    rows[row + logRow.bodyEnd] = bodyEnd;
    rows[row + logRow.attributesStart] = attributesStart;
    rows[row + logRow.attributesEnd] = attributesEnd;
    rows[row + logRow.dropped] = dropped;
    rows[row + logRow.flags] = flags;
    rows[row + logRow.trace] = trace;
    rows[row + logRow.span] = span;
    return true;
  }
}

/** Reads the length of a range, stores its start and end, and moves the cursor after it. */
const fillRange = (rows: Int32Array, column: number, cursor: WireCursor, end: number): void => {
  const stop = cursor.readEnd(end);
  rows[column] = cursor.position;
  rows[column + 1] = stop;
  cursor.position = stop;
};

/** Fills the row of a validated record, whatever the form of its fields. */
const fillUncommon = (rows: Int32Array, row: number, cursor: WireCursor, end: number): void => {
  rows.fill(0, row + logRow.time, row + logRowWidth);
  for (const column of [logRow.time, logRow.observed, logRow.trace, logRow.span]) rows[row + column] = -1;
  rows[row + logRow.bodyStart] = rows[row + logRow.bodyEnd] = end;
  while (cursor.position < end) {
    const start = cursor.position;
    const tag = cursor.readVarint();
    switch (tag) {
      case 0x09:
        rows[row + logRow.time] = cursor.position;
        cursor.position += 8;
        break;
      case 0x10:
        rows[row + logRow.severity] = Math.min(cursor.readVarint(), 255);
        break;
      case 0x1a:
        fillRange(rows, row + logRow.textStart, cursor, end);
        break;
      case 0x2a:
        fillRange(rows, row + logRow.bodyStart, cursor, end);
        break;
      case 0x32:
        cursor.position = cursor.readEnd(end);
        if (rows[row + logRow.attributesEnd] === 0) rows[row + logRow.attributesStart] = start;
        rows[row + logRow.attributesEnd] = cursor.position;
        break;
      case 0x38:
        rows[row + logRow.dropped] = cursor.readVarint();
        break;
      case 0x45:
        rows[row + logRow.flags] = cursor.readFixed32();
        break;
      case 0x4a:
        rows[row + logRow.trace] = readIdStart(cursor, end, 16);
        break;
      case 0x52:
        rows[row + logRow.span] = readIdStart(cursor, end, 8);
        break;
      case 0x59:
        rows[row + logRow.observed] = cursor.position;
        cursor.position += 8;
        break;
      case 0x62:
        fillRange(rows, row + logRow.nameStart, cursor, end);
        break;
      default:
        cursor.skip(tag, end);
    }
  }
};
