/** Rewrites the texts of an export request, for example to remove personal data before the request is published. */
import { PermanentError } from '../errors.ts';
import { countedFlag, getMessageNumber, messageAction, nestingFlag, scanActions } from '../protobuf/messages.ts';
import { WireReader } from '../protobuf/reader.ts';
import { maxValueDepth } from '../protobuf/scan.ts';
import { WireWriter } from '../protobuf/writer.ts';
import type { Signal } from '../telemetry-signals.ts';
import { decodeText } from './any-value.ts';
import { otlpSchema } from './messages.ts';
import { toTextAttributes, writeField, writeMessage } from './write.ts';

/** What is removed and rewritten. Both functions are pure. */
export interface RequestRewriter {
  /**
   * `service.name` of every resource: a resource without one gets it, and a request with another one is rejected
   * (`PermanentError`, reason `foreign-service`). Any service, if undefined.
   */
  readonly service?: string | undefined;
  /** Attributes that every resource has in the result, in place of the sender's attributes with these keys. */
  readonly resourceAttributes?: Readonly<Record<string, string>> | undefined;
  /**
   * Returns whether an attribute is removed, or an entry of a map in an attribute or body. `path` is its key, behind the
   * keys of the maps around it: `user.email` is an attribute of this name, or the entry `email` of the map `user`.
   */
  removes(path: string): boolean;
  /** Returns whether the bytes of a text may be rewritten; others are copied without decoding them. Default: all. */
  mayRewrite?(bytes: Uint8Array, start: number, end: number, path: string): boolean;
  /**
   * Returns the text to publish; the same text to leave it unchanged. `path` is that of an attribute or map entry, or
   * the name of another field in OTLP/JSON: `body`, `name`, `message`.
   */
  rewrite(text: string, path: string): string;
}

const requestMessages: Readonly<Record<Signal, number>> = {
  logs: getMessageNumber(otlpSchema, 'LogsRequest'),
  metrics: getMessageNumber(otlpSchema, 'MetricsRequest'),
  traces: getMessageNumber(otlpSchema, 'TracesRequest'),
};
const resourceNumber = getMessageNumber(otlpSchema, 'Resource');
/** The messages around a resource, which is their field 1. */
const resourceParentNumbers = new Set(
  ['ResourceLogs', 'ResourceMetrics', 'ResourceSpans'].map((name) => getMessageNumber(otlpSchema, name)),
);
const resourceField = 1;
const keyValueNumber = getMessageNumber(otlpSchema, 'KeyValue');
const anyValueNumber = getMessageNumber(otlpSchema, 'AnyValue');
const keyTag = 0x0a;
const serviceKey = 'service.name';
/** Fields that describe formats, not contents. */
const formatFields = new Set(['schemaUrl', 'traceState', 'type', 'idKeys', 'descriptionKeys', 'version']);

/** Message number × 256 + tag → name of the field in OTLP/JSON */
const fieldNames = new Map<number, string>();
for (const [number, name] of otlpSchema.names.entries())
  for (const [fieldName, [field]] of Object.entries(otlpSchema.messages[name] ?? {}))
    fieldNames.set((number << 8) | (field << 3) | 2, fieldName);

interface MessageRange {
  readonly messageNumber: number;
  readonly end: number;
  readonly path: string;
  readonly depth: number;
}

class RequestCopier {
  readonly #reader: WireReader;
  readonly #writer: WireWriter;
  readonly #rewriter: RequestRewriter;
  /** Whether the resource of the current parent was copied, and its `service.name`. */
  #hasResource = false;
  #hasService = false;
  #isInResource = false;
  records = 0;

  constructor(bytes: Uint8Array, rewriter: RequestRewriter) {
    this.#reader = new WireReader(bytes);
    this.#writer = new WireWriter(bytes.length);
    this.#rewriter = rewriter;
  }

  copy(messageNumber: number): RewrittenRequest {
    this.#copyMessage({ messageNumber, end: this.#reader.bytes.length, path: '', depth: 0 });
    return { body: this.#writer.finish(), records: this.records };
  }

  /** Copies the known fields from the reader's position to `end`. Unknown fields may contain anything, and are dropped. */
  #copyMessage(messageRange: MessageRange): void {
    const reader = this.#reader;
    const { messageNumber, end, path, depth } = messageRange;
    if (depth > maxValueDepth) {
      const message = `attribute values nest deeper than ${maxValueDepth}`;
      throw new PermanentError('too-deep', message, { position: reader.position });
    }
    while (reader.position < end) {
      const start = reader.position;
      const tag = reader.readTag(end);
      const action = tag < 256 ? (otlpSchema.actions[(messageNumber << 8) | tag] as number) : scanActions.unknown;
      if (action >= messageAction) {
        const nestedEnd = reader.readLengthEnd(end);
        this.#copyNested(tag, messageRange, { messageNumber: action - messageAction, end: nestedEnd, path, depth });
      } else if (action === scanActions.string) this.#copyText(tag, messageNumber, reader.readLengthEnd(end), path);
      else {
        reader.skip(tag, end);
        if (action !== scanActions.unknown) this.#writer.copyBytes(reader.bytes, start, reader.position);
      }
    }
  }

  #copyNested(tag: number, parentRange: MessageRange, messageRange: MessageRange): void {
    const { messageNumber, end, depth } = messageRange;
    const flags = otlpSchema.flags[messageNumber] as number;
    const path = this.#getPath(tag, parentRange, messageRange);
    if (messageNumber === keyValueNumber && (this.#isReplaced(path) || this.#rewriter.removes(path))) {
      this.#reader.position = end;
      return;
    }
    if (flags & countedFlag) this.records++;
    if (resourceParentNumbers.has(messageNumber)) this.#hasResource = false;
    this.#writer.writeVarint(tag);
    const mark = this.#writer.beginLengthPrefixed();
    if (messageNumber === resourceNumber) this.#beginResource();
    this.#copyMessage({ messageNumber, end, path, depth: flags & nestingFlag ? depth + 1 : depth });
    if (messageNumber === resourceNumber) this.#endResource();
    if (resourceParentNumbers.has(messageNumber) && !this.#hasResource) {
      this.#beginResource();
      writeField(this.#writer, resourceField, () => this.#endResource());
    }
    this.#writer.endLengthPrefixed(mark);
  }

  #beginResource(): void {
    this.#hasResource = true;
    this.#hasService = false;
    this.#isInResource = true;
  }

  #endResource(): void {
    this.#isInResource = false;
    const { service, resourceAttributes = {} } = this.#rewriter;
    const added: [string, string][] = Object.entries(resourceAttributes);
    const hasService = this.#hasService || Object.hasOwn(resourceAttributes, serviceKey);
    if (service !== undefined && !hasService) added.push([serviceKey, service]);
    if (added.length > 0) writeMessage(this.#writer, 'Resource', { attributes: toTextAttributes(added) });
  }

  #isReplaced(path: string): boolean {
    const { resourceAttributes } = this.#rewriter;
    return this.#isInResource && resourceAttributes !== undefined && Object.hasOwn(resourceAttributes, path);
  }

  /** Returns the path of a nested message. */
  #getPath(tag: number, parentRange: MessageRange, { messageNumber, end, path }: MessageRange): string {
    if (messageNumber === keyValueNumber) return this.#appendKey(path, end);
    if (messageNumber !== anyValueNumber || path !== '') return path;
    return fieldNames.get((parentRange.messageNumber << 8) | tag) ?? '';
  }

  /** Returns the path of the entry that begins at the reader's position. The last key counts, as in decoders. */
  #appendKey(path: string, end: number): string {
    const reader = this.#reader;
    const start = reader.position;
    let key = '';
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag === keyTag) {
        const keyEnd = reader.readLengthEnd(end);
        key = decodeText(reader.bytes, reader.position, keyEnd);
        reader.position = keyEnd;
      } else reader.skip(tag, end);
    }
    reader.position = start;
    return path === '' || path === 'body' ? key : `${path}.${key}`;
  }

  #copyText(tag: number, messageNumber: number, end: number, path: string): void {
    const reader = this.#reader;
    const start = reader.position;
    reader.position = end;
    const name = fieldNames.get((messageNumber << 8) | tag) ?? '';
    const isValue = messageNumber === anyValueNumber;
    const textPath = isValue ? path : name;
    const isRewritten =
      messageNumber !== keyValueNumber &&
      !formatFields.has(name) &&
      this.#rewriter.mayRewrite?.(reader.bytes, start, end, textPath) !== false;
    const text = isRewritten ? decodeText(reader.bytes, start, end) : '';
    if (isValue && this.#isInResource && path === serviceKey) this.#checkService(text, start);
    const rewritten = isRewritten ? this.#rewriter.rewrite(text, textPath) : text;
    this.#writer.writeVarint(tag);
    const mark = this.#writer.beginLengthPrefixed();
    // Invalid UTF-8 is copied as received, so that the scan after this one rejects the record.
    if (rewritten === text) this.#writer.copyBytes(reader.bytes, start, end);
    else this.#writer.writeUtf8(rewritten);
    this.#writer.endLengthPrefixed(mark);
  }

  #checkService(text: string, position: number): void {
    const { service } = this.#rewriter;
    this.#hasService = true;
    if (service === undefined || text === service) return;
    const message = `the resource has the service.name ${text.slice(0, 100)}, but the key is for ${service}`;
    throw new PermanentError('foreign-service', message, { position });
  }
}

export interface RewrittenRequest {
  readonly body: Buffer;
  /** Number of log records, data points or spans */
  readonly records: number;
}

/**
 * Returns an export request with rewritten texts, and without the attributes that the rewriter removes and the fields
 * that OTLP does not have. Keys of attributes are not rewritten. Throws `PermanentError` if the bytes are malformed; what
 * is returned still needs `scanRequest`.
 */
export const rewriteRequest = (signal: Signal, body: Uint8Array, rewriter: RequestRewriter): RewrittenRequest =>
  new RequestCopier(body, rewriter).copy(requestMessages[signal]);
