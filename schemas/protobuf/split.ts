/**
 * Splits a validated message into several messages by slicing its bytes. Fields at which the message is not split (the
 * "head") are repeated in each of them.
 */
import { PermanentError } from '../errors.ts';
import type { WireSchema } from './messages.ts';
import { WireReader } from './reader.ts';
import { WireScanner } from './scan.ts';

/** A message that can be split between the occurrences of some of its fields. */
export interface SplittableMessage {
  /** Number of the message in the schema. */
  readonly message: number;
  /** Field number → how to split the message of that field; `undefined` if it cannot be split */
  readonly fields: ReadonlyMap<number, SplittableMessage | undefined>;
}

/** A valid message and the number of its counted records. */
export interface SplitMessage {
  readonly bytes: Buffer;
  readonly records: number;
}

/** A message under construction, as slices that are not joined yet. */
interface MessageDraft {
  readonly slices: Uint8Array[];
  size: number;
  records: number;
}

/** A tag of one or two bytes and a length of at most five bytes. */
const maxFrameBytes = 7;

/**
 * Heads may be repeated until the total size of the messages reaches this multiple of the body size. Malicious heads
 * could otherwise multiply it a thousandfold.
 */
const maxGrowthFactor = 2;
const extraMessageCount = 16;

const encodeFrame = (tag: number, length: number): Uint8Array => {
  const bytes: number[] = [];
  for (const value of [tag, length]) {
    let remaining = value;
    for (; remaining > 127; remaining = Math.floor(remaining / 128)) bytes.push((remaining % 128) | 128);
    bytes.push(remaining);
  }
  return Uint8Array.from(bytes);
};

const createTooLargeError = (position: number, budget: number): PermanentError =>
  new PermanentError('record-too-large', `a single record with its heads is larger than ${budget} bytes`, { position });

/** Fills drafts of one message successively, up to the budget. */
class Packer {
  readonly drafts: MessageDraft[] = [];
  readonly #body: Uint8Array;
  readonly #head: Buffer;
  readonly #budget: number;
  readonly #count: (start: number, end: number) => number;
  #draft: MessageDraft | undefined;
  /** Adjacent unsplit fields are sliced as one run, so that a body of tiny records needs few objects. */
  #runStart = 0;
  #runEnd = 0;

  constructor(body: Uint8Array, head: Buffer, budget: number, count: (start: number, end: number) => number) {
    this.#body = body;
    this.#head = head;
    this.#budget = budget;
    this.#count = count;
  }

  /** Adds a field unchanged, from its tag to its end. */
  addField(start: number, end: number): void {
    this.#getDraft(end - start).size += end - start;
    if (this.#runEnd !== start) {
      this.#closeRun();
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  /** Adds a field whose message has been split. */
  addPart(tag: number, part: MessageDraft): void {
    this.#closeRun();
    const framing = encodeFrame(tag, part.size);
    const draft = this.#getDraft(framing.length + part.size);
    draft.slices.push(framing, ...part.slices);
    draft.size += framing.length + part.size;
    draft.records += part.records;
  }

  /** Returns all drafts; only the head if nothing was added. */
  finish(): MessageDraft[] {
    this.#closeRun();
    return this.drafts.length > 0 ? this.drafts : [this.#startDraft()];
  }

  #getDraft(size: number): MessageDraft {
    if (this.#draft !== undefined && this.#draft.size + size <= this.#budget) return this.#draft;
    this.#closeRun();
    return this.#startDraft();
  }

  #startDraft(): MessageDraft {
    this.#draft = { slices: [this.#head], size: this.#head.length, records: 0 };
    this.drafts.push(this.#draft);
    return this.#draft;
  }

  #closeRun(): void {
    if (this.#draft === undefined || this.#runEnd === this.#runStart) return;
    this.#draft.slices.push(this.#body.subarray(this.#runStart, this.#runEnd));
    this.#draft.records += this.#count(this.#runStart, this.#runEnd);
    this.#runStart = this.#runEnd;
  }
}

class Splitter {
  readonly #body: Uint8Array;
  readonly #maxBytes: number;
  readonly #reader: WireReader;
  readonly #scanner: WireScanner;

  constructor(schema: WireSchema, body: Uint8Array, maxBytes: number) {
    this.#body = body;
    this.#maxBytes = maxBytes;
    this.#reader = new WireReader(body);
    this.#scanner = new WireScanner(schema, body);
  }

  /**
   * Splits the message between `start` and `end` into messages of at most `budget` bytes with the same total content.
   */
  splitRange({ message, fields }: SplittableMessage, start: number, end: number, budget: number): MessageDraft[] {
    const head = this.#collectHead(fields, start, end, budget);
    const maxFieldBytes = budget - head.length;
    if (maxFieldBytes < 0) throw createTooLargeError(start, this.#maxBytes);
    const packer = new Packer(this.#body, head, budget, (from, to) => this.#count(message, from, to));
    this.#reader.position = start;
    while (this.#reader.position < end) {
      const fieldStart = this.#reader.position;
      const tag = this.#reader.readTag(end);
      if (!fields.has(tag >>> 3)) {
        this.#reader.skip(tag, end);
        continue;
      }
      const next = this.#reader.readLengthEnd(end);
      if (next - fieldStart <= maxFieldBytes) packer.addField(fieldStart, next);
      else {
        const nestedMessage = fields.get(tag >>> 3);
        if (nestedMessage === undefined) throw createTooLargeError(fieldStart, this.#maxBytes);
        const parts = this.splitRange(nestedMessage, this.#reader.position, next, maxFieldBytes - maxFrameBytes);
        for (const part of parts) packer.addPart(tag, part);
      }
      this.#reader.position = next;
    }
    return packer.finish();
  }

  /** Returns the head that every message repeats: all fields at which the message is not split. */
  #collectHead(fields: SplittableMessage['fields'], start: number, end: number, budget: number): Buffer {
    const slices: Uint8Array[] = [];
    let size = 0;
    let runStart = start;
    this.#reader.position = start;
    while (this.#reader.position < end) {
      const fieldStart = this.#reader.position;
      const tag = this.#reader.readTag(end);
      this.#reader.skip(tag, end);
      if (!fields.has(tag >>> 3)) {
        size += this.#reader.position - fieldStart;
        if (size > budget) throw createTooLargeError(fieldStart, this.#maxBytes);
        continue;
      }
      if (fieldStart > runStart) slices.push(this.#body.subarray(runStart, fieldStart));
      runStart = this.#reader.position;
    }
    if (end > runStart) slices.push(this.#body.subarray(runStart, end));
    return Buffer.concat(slices);
  }

  #count(message: number, start: number, end: number): number {
    const previousRecords = this.#scanner.records;
    this.#scanner.scan(message, start, end);
    return this.#scanner.records - previousRecords;
  }
}

/**
 * Splits a message that passed the scan into messages of at most `maxBytes` each. Preserves the total number of records
 * and all unknown fields. Throws `PermanentError` (`record-too-large`) if that is impossible.
 */
export const splitMessage = (
  schema: WireSchema,
  splittableMessage: SplittableMessage,
  body: Uint8Array,
  maxBytes: number,
): SplitMessage[] => {
  const splitter = new Splitter(schema, body, maxBytes);
  const drafts = splitter.splitRange(splittableMessage, 0, body.length, maxBytes);
  let total = 0;
  for (const { size } of drafts) total += size;
  if (total > maxGrowthFactor * body.length + extraMessageCount * maxBytes) {
    const message = `the content that each message repeats is too large for messages of ${maxBytes} bytes`;
    throw new PermanentError('record-too-large', message);
  }
  return drafts.map(({ slices, size, records }) => ({ bytes: Buffer.concat(slices, size), records }));
};
