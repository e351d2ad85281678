/** An HTTP/2 client that works frame by frame: it sends the given frames, valid or not, and reports received frames. */
import { connect, type Socket } from 'node:net';

export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** RFC 9113, section 6. */
export const type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { none: 0, ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;
export const whole = flag.endStream | flag.endHeaders;

/** RFC 9113, section 7, by number. */
const errors = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
] as const;

/** RFC 9113, section 6.5.2. */
export const setting = { tableSize: 1, push: 2, streams: 3, window: 4, frameSize: 5, listSize: 6 } as const;

export const uint32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
};

export const frame = (kind: number, flags: number, streamId: number, payload: Uint8Array | string = ''): Buffer => {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  // 24 bits of length, then the type, the flags, and the stream.
  return Buffer.concat([uint32(bytes.length * 256 + kind), Buffer.from([flags]), uint32(streamId), bytes]);
};

export type Settings = readonly (readonly [id: number, value: number])[];
export const settings = (...pairs: Settings): Buffer =>
  frame(
    type.settings,
    flag.none,
    0,
    Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.from([id >> 8, id & 255]), uint32(value)]))),
  );
export const settingsAck = frame(type.settings, flag.ack, 0);
export const ping = (text = 'are you?'): Buffer => frame(type.ping, flag.none, 0, text);
export const windowUpdate = (streamId: number, by: number): Buffer =>
  frame(type.windowUpdate, flag.none, streamId, uint32(by));
export const reset = (streamId: number, code = 8): Buffer => frame(type.reset, flag.none, streamId, uint32(code));

/** An integer of RFC 7541, section 5.1, after the bits in `first`. */
export const integer = (first: number, prefixBits: number, value: number | bigint): number[] => {
  const maxPrefixValue = (1n << BigInt(prefixBits)) - 1n;
  if (BigInt(value) < maxPrefixValue) return [first | Number(value)];
  const bytes = [first | Number(maxPrefixValue)];
  let rest = BigInt(value) - maxPrefixValue;
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
};
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([Buffer.from(integer(0, 7, bytes.length)), bytes]);
};

export type Fields = readonly (readonly [name: string, value: string])[];

/** Literals with new names, without indexing and without Huffman coding. */
export const block = (fields: Fields, representation = 0): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([representation]), text(name), text(value)]));

export const fieldsTo = (path: string, method = 'POST'): Fields => [
  [':method', method],
  [':scheme', 'http'],
  [':path', path],
  [':authority', 'test'],
];

/** HEADERS that request `path`; the request ends with them unless `flags` differ. */
export const request = (streamId: number, path = '/', flags: number = whole, more: Fields = []): Buffer =>
  frame(type.headers, flags, streamId, block([...fieldsTo(path), ...more]));
/** HEADERS that a body follows. */
export const opening = (streamId: number, path = '/', more: Fields = []): Buffer =>
  request(streamId, path, flag.endHeaders, more);
export const data = (streamId: number, payload: Uint8Array | string, flags: number = flag.none): Buffer =>
  frame(type.data, flags, streamId, payload);

interface Frame {
  readonly kind: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

const indexedStatus = [200, 204, 206, 304, 400, 404, 500];

/** The status at the start of a response's header block; `undefined` if the block starts with another field. */
const statusOf = (payload: Buffer): string | undefined => {
  // After size updates of the table, which are single bytes in these tests.
  const at = payload.subarray(payload.findIndex((byte) => byte >> 5 !== 1));
  const [first = 0] = at;
  if (first >= 0x88 && first <= 0x8e) return String(indexedStatus[first - 0x88]);
  return [0x08, 0x18, 0x48].includes(first) && at[1] === 3 ? at.toString('latin1', 2, 5) : undefined;
};

/** Describes a frame in the notation of the tests. */
const eventsOfFrame = ({ kind, flags, streamId, payload }: Frame): string[] => {
  const end = (flags & flag.endStream) !== 0 ? [`end ${streamId}`] : [];
  if (kind === type.data) return [`bytes ${streamId} ${payload.length}`, ...end];
  if (kind === type.headers) {
    const status = statusOf(payload);
    return [status === undefined ? `trailers ${streamId}` : `answer ${streamId} ${status}`, ...end];
  }
  if (kind === type.reset) return [`reset ${streamId} ${errors[payload.readUInt32BE(0)]}`];
  if (kind === type.goaway) return [`goaway ${errors[payload.readUInt32BE(4)]}`];
  if (kind === type.ping) return [`${flags === flag.ack ? 'pong' : 'ping'} ${payload.toString('latin1')}`];
  if (kind === type.settings) return [flags === flag.ack ? 'settings taken' : 'settings'];
  return kind === type.windowUpdate ? [`window ${streamId} ${payload.readUInt32BE(0)}`] : [`frame of type ${kind}`];
};

/** Longer than any operation that does not hang. */
export const patienceMs = 600_000;

export class Peer {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  /** All received frames, in order; `closed` is last. */
  readonly events: string[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #plain = false;
  readonly #waiting = new Set<() => void>();

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.socket.on('error', () => undefined);
    this.socket.once('close', () => this.#emit('closed'));
  }

  /** Received bytes that are not a complete frame; with `plain`, all bytes. */
  get rest(): string {
    return this.#bytes.toString('latin1');
  }

  get isClosed(): boolean {
    return this.events.at(-1) === 'closed';
  }

  /** The received bytes are not HTTP/2. */
  plain(): this {
    this.#plain = true;
    return this;
  }

  send(...parts: readonly (Uint8Array | string)[]): this {
    if (!this.socket.destroyed)
      this.socket.write(
        Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))),
      );
    return this;
  }

  /** Sends the client preface and the settings. */
  greet(...pairs: Settings): this {
    return this.send(preface, settings(...pairs));
  }

  /** Resolves once the condition holds; on a timeout, rejects with the frames received until then. */
  until(what: string, holds: () => boolean): Promise<this> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        this.#waiting.delete(checkCondition);
        if (error === undefined) resolve(this);
        else reject(error);
      };
      const fail = (problem: string): void =>
        settle(
          new Error(`${problem} before ${what}; said: ${this.events.slice(-30).join(', ')} ${this.rest.slice(0, 200)}`),
        );
      const checkCondition = (): void => {
        if (holds()) settle();
        else if (this.isClosed) fail('the connection was closed');
      };
      const timer = setTimeout(() => fail('very long passed'), patienceMs);
      this.#waiting.add(checkCondition);
      checkCondition();
    });
  }

  untilEvent(what: string): Promise<this> {
    return this.until(`"${what}"`, () => this.events.includes(what));
  }

  closed(): Promise<this> {
    return this.until('the connection was closed', () => this.isClosed);
  }

  /** Resolves when the server has responded to everything that was sent: it answers a ping, or closes. */
  async settled(): Promise<this> {
    const mark = `mark ${String(this.frames.length % 1000).padStart(3, '0')}`;
    this.send(ping(mark));
    return this.until('a ping was answered', () => this.isClosed || this.events.includes(`pong ${mark}`));
  }

  /** Bytes of DATA received on a stream. */
  bytesOn(streamId: number): number {
    return this.frames.reduce(
      (sum, { kind, streamId: on, payload }) => sum + (kind === type.data && on === streamId ? payload.length : 0),
      0,
    );
  }

  #emit(...words: readonly string[]): void {
    this.events.push(...words);
    for (const checkCondition of [...this.#waiting]) checkCondition();
  }

  #receive(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    while (!this.#plain && this.#bytes.length >= 9) {
      const end = 9 + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < end) return;
      const one: Frame = {
        kind: this.#bytes[3] ?? 0,
        flags: this.#bytes[4] ?? 0,
        streamId: this.#bytes.readUInt32BE(5) & 0x7fff_ffff,
        payload: this.#bytes.subarray(9, end),
      };
      this.#bytes = this.#bytes.subarray(end);
      this.frames.push(one);
      this.#emit(...eventsOfFrame(one));
    }
  }
}
