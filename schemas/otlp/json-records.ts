/** Reads the records of a JSON body, and sets those aside that cannot be accepted. */
import { PermanentError } from '../errors.ts';
import { maxFaults, type RejectedBody } from '../protobuf/separate.ts';
import type { JsonReader } from './json-reader.ts';
import { addPath } from './json-text.ts';

/** Nesting up to which an element with a fault can be set aside: its own fault may be its nesting. */
const maxElementDepth = 1_000;

/** An array, from its first element to its bracket, and the elements with a fault. */
interface ArrayText {
  readonly start: number;
  end: number;
  readonly faulty: (readonly [start: number, end: number])[];
}

interface ElementKind {
  readonly isRecord: boolean;
  /** Removes what `read` has written for the element. */
  readonly undo?: (() => void) | undefined;
}

export class JsonRecords {
  #accepted = 0;
  #rejected = 0;
  #faults = 0;
  #error: PermanentError | undefined;
  #arrays: ArrayText[] = [];

  /** Number of records so far. */
  get count(): number {
    return this.#accepted + this.#rejected;
  }

  /**
   * Reads an array of records, or of objects that contain records. An element with a fault is set aside. Throws if the
   * text is not JSON.
   */
  readElements(reader: JsonReader, read: () => void, kind: ElementKind): void {
    let hasMore = reader.beginArray();
    const array: ArrayText = { start: reader.position, end: reader.position, faulty: [] };
    this.#arrays.push(array);
    if (!hasMore) return;
    for (; hasMore; hasMore = reader.hasMoreElements()) {
      reader.peek();
      const start = reader.position;
      if (this.#readElement(reader, read, kind)) array.faulty.push([start, reader.position]);
    }
    array.end = reader.position - 1;
  }

  /** Reports content in which records were expected, but not found. */
  addFault(error: PermanentError): void {
    if (this.#faults++ >= maxFaults) throw error;
    this.#error ??= error;
  }

  /**
   * Returns the part of the text that cannot be accepted; undefined if there is none. Throws the first fault if a record
   * was rejected and none was accepted.
   */
  finish(text: Buffer): RejectedBody | undefined {
    if (this.#error === undefined) return undefined;
    if (this.#rejected > 0 && this.#accepted === 0) throw this.#error;
    return { records: this.#rejected, error: addPath(this.#error, text), body: this.#writeRejected(text) };
  }

  /** Returns whether the element has a fault. */
  #readElement(reader: JsonReader, read: () => void, { isRecord, undo }: ElementKind): boolean {
    const start = reader.position;
    const [faults, accepted, rejected, arrayCount] = [
      this.#faults,
      this.#accepted,
      this.#rejected,
      this.#arrays.length,
    ];
    try {
      read();
      if (isRecord) this.#accepted++;
      const hasFault = this.#faults > faults;
      if (hasFault && this.#accepted === accepted) undo?.();
      if (!hasFault) this.#arrays.length = arrayCount;
      return hasFault;
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      this.#skipElement(reader, start, error);
      this.addFault(error);
      undo?.();
      this.#arrays.length = arrayCount;
      this.#rejected = rejected + Math.max(1, this.count - accepted - rejected);
      this.#accepted = accepted;
      return true;
    }
  }

  /** Throws the fault if the rest of the element is not JSON. */
  #skipElement(reader: JsonReader, start: number, fault: PermanentError): void {
    reader.position = start;
    try {
      reader.skipValue(maxElementDepth);
    } catch {
      throw fault;
    }
  }

  #writeRejected(text: Buffer): Buffer {
    const arrays = this.#arrays.sort((left, right) => left.start - right.start);
    const parts: Buffer[] = [];
    const comma = Buffer.from(',');
    let nextArray = 0;
    const copy = (from: number, to: number): void => {
      let position = from;
      for (let array = arrays[nextArray]; array !== undefined && array.start < to; array = arrays[nextArray]) {
        nextArray++;
        parts.push(text.subarray(position, array.start));
        for (const [index, [start, end]] of array.faulty.entries()) {
          if (index > 0) parts.push(comma);
          copy(start, end);
        }
        position = array.end;
      }
      parts.push(text.subarray(position, to));
    };
    copy(0, text.length);
    return Buffer.concat(parts);
  }
}
