/** An HTTP/1.1 client that sends exactly the given bytes, and exposes the server's socket of its connection. */
import { subscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { eventually } from '../waiting.ts';
import { request as exportRequest } from './receivers-bodies.ts';
import { type Fixture, manyRequests, running } from './receivers-fixture.ts';

export interface Answered {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Accepted sockets by their remote port. */
const accepted = new Map<number, Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  if (socket.remotePort !== undefined) accepted.set(socket.remotePort, socket);
});

const headEnd = '\r\n\r\n';

export class Wire {
  readonly socket: Socket;
  readonly answers: Answered[] = [];
  /** Received bytes that are not a complete response yet. */
  #received = Buffer.alloc(0);
  #sent = 0;
  #port: number | undefined;
  #next = 0;
  isClosed = false;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ port: Number(port), host: hostname, noDelay: true, allowHalfOpen: true });
    this.socket.once('connect', () => {
      this.#port = this.socket.localPort;
    });
    this.socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#parse();
    });
    const end = (): void => {
      this.isClosed = true;
      this.#parse();
    };
    // The server sends nothing more, which is equivalent to a close.
    this.socket.on('end', () => {
      end();
      this.socket.destroy();
    });
    this.socket.on('close', end);
    this.socket.on('error', () => undefined);
  }

  send(bytes: string | Uint8Array): this {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    this.#sent += buffer.length;
    this.socket.write(buffer);
    return this;
  }

  /** The server's socket. */
  async peer(): Promise<Socket> {
    await eventually('the connection is accepted', () => accepted.has(this.#port ?? 0));
    return accepted.get(this.#port ?? 0) as Socket;
  }

  /** Resolves when the server has read all sent bytes. */
  async read(): Promise<void> {
    const peer = await this.peer();
    await eventually('all is read', () => peer.bytesRead >= this.#sent || peer.destroyed);
    // Bytes that were read from the system may not have been delivered to a listener yet.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The next response; undefined if the connection ends without one. */
  async next(): Promise<Answered | undefined> {
    await eventually('an answer comes', () => this.answers.length > this.#next || this.isClosed);
    return this.answers[this.#next++];
  }

  async closed(): Promise<void> {
    await eventually('the connection is closed', () => this.isClosed);
  }

  #parse(): void {
    while (this.#received.length > 0) {
      const end = this.#received.indexOf(headEnd);
      if (end < 0) return;
      const [first = '', ...lines] = this.#received.toString('latin1', 0, end).split('\r\n');
      const names = lines.map((line) => line.slice(0, line.indexOf(':')));
      const headers = Object.fromEntries(
        lines.map((line, index) => [names[index]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      const status = Number(first.split(' ')[1]);
      const length = headers['content-length'] ?? (status < 200 ? 0 : undefined);
      if (length === undefined && !this.isClosed) return;
      const from = end + headEnd.length;
      const to = length === undefined ? this.#received.length : from + Number(length);
      if (this.#received.length < to) return;
      const body = this.#received.toString('latin1', from, to);
      this.#received = this.#received.subarray(to);
      this.answers.push({ status, headers, body });
    }
  }
}

/** Placeholders of raw requests: the license key, a valid body, and its length. */
export const body = exportRequest('logs');
export const filled = (raw: string, { secret }: Pick<Fixture, 'secret'>): Buffer =>
  Buffer.from(
    raw
      .replaceAll('{key}', secret)
      .replaceAll('{length}', String(body.length))
      .replaceAll('{body}', body.toString('latin1')),
    'latin1',
  );

export const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n\r\n`;

/** Request headers for a body of the given length. */
export const headOf = (length: number | string, ...more: string[]): string =>
  lines(
    'POST /v1/logs HTTP/1.1',
    'Host: localhost:4318',
    'X-License-Key: {key}',
    'Content-Type: application/x-protobuf',
    ...more,
    `Content-Length: ${length}`,
  );

export const good = `${headOf('{length}')}{body}`;
/** Refused before its body is read. */
export const refused = `${headOf('{length}').replace('x-protobuf', 'x-nothing')}{body}`;

export interface Sender extends Fixture {
  open(): Wire;
  /** The request with its placeholders replaced. */
  bytes(raw: string): Buffer;
}

/** Receivers with a client; all its connections end with it. */
export const sending = async (options: Parameters<typeof running>[0] = {}): Promise<Sender> => {
  const fixture = await running({ plan: manyRequests, ...options });
  const wires: Wire[] = [];
  return {
    ...fixture,
    open() {
      const wire = new Wire(fixture.http);
      wires.push(wire);
      return wire;
    },
    bytes: (raw) => filled(raw, fixture),
    async [Symbol.asyncDispose]() {
      for (const { socket } of wires) socket.destroy();
      await fixture[Symbol.asyncDispose]();
    },
  };
};

/** The relevant parts of a response. */
export const essence = (response: Answered | undefined): unknown => {
  if (response === undefined) return 'closed without an answer';
  const { status, headers, body: text } = response;
  const { date: _date, 'keep-alive': _keepAlive, ...rest } = headers;
  return { status, headers: rest, body: text };
};

/** The messages on the bus, without values that differ between runs. */
export const onBus = ({ bus }: Pick<Fixture, 'bus'>): unknown => ({
  members: bus.members().map(({ headers: { signal, format, encoding }, key, records, bytes }) => ({
    signal,
    format,
    encoding,
    key,
    records,
    bytes: bytes.toString('latin1'),
  })),
  letters: bus.deadLetters().map(({ headers, body }) => ({
    reason: headers.reason,
    message: headers.message,
    size: headers.size,
    cut: headers.cut,
    type: headers.contentType,
    encoding: headers.contentEncoding,
    bytes: body.toString('latin1'),
  })),
});
