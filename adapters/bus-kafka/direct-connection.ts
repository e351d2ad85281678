/** A connection to a broker that reads responses directly into the buffers of their parsers. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type BaseOptions, Writer } from '@platformatic/kafka';
import { FetchBuffer, type Parser } from './fetch-buffer.ts';

export interface DirectRequest<Answer> {
  readonly key: number;
  readonly version: number;
  /** Whether the request's header ends in tagged fields. */
  readonly hasTaggedFields: boolean;
  readonly payload: Writer;
  /** Parses a response of this length, starting after its correlation id. */
  parser(bytes: number): Parser<Answer>;
}

interface PendingRequest {
  readonly id: number;
  parser(bytes: number): Parser<void>;
  reject(error: Error): void;
}

/** A longer declared length means that the peer is not Kafka. */
const maxResponseBytes = 256 * 1024 * 1024;

/**
 * A connection without intermediate buffers. The driver reads 64 KiB at a time into its own memory and copies it from
 * there, which is most of the cost of consuming. Responses arrive in the order of the requests.
 */
export class DirectConnection {
  /** Resolves when the connection accepts requests. */
  readonly connected: Promise<unknown>;
  readonly #socket: Socket;
  readonly #clientId: string;
  readonly #pendingRequests: PendingRequest[] = [];
  #lastId = 0;
  #failure: Error | undefined;

  constructor(host: string, port: number, { clientId, tls, requestTimeout = 10_000 }: BaseOptions) {
    this.#clientId = clientId;
    const buffer = new FetchBuffer(() => this.#createNextParser());
    const failOnError = (receive: () => void): true => {
      try {
        receive();
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)));
      }
      return true;
    };
    this.#socket = tls
      ? connectTls({ ...tls, host, port })
      : connect({
          host,
          port,
          onread: { buffer: () => buffer.writeBuffer, callback: (bytes) => failOnError(() => buffer.advance(bytes)) },
        });
    if (tls) this.#socket.on('data', (chunk: Buffer) => failOnError(() => buffer.append(chunk)));
    this.connected = once(this.#socket, tls ? 'secureConnect' : 'connect');
    this.connected.catch(() => undefined);
    this.#socket.setNoDelay(true);
    this.#socket.setTimeout(requestTimeout);
    this.#socket.on('timeout', () => {
      if (this.#pendingRequests.length > 0) this.#fail(new Error(`Kafka did not answer within ${requestTimeout} ms`));
    });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the connection to Kafka was closed')));
  }

  get isOpen(): boolean {
    return this.#failure === undefined;
  }

  request<Answer>({ key, version, hasTaggedFields, payload, parser }: DirectRequest<Answer>): Promise<Answer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#lastId = (this.#lastId + 1) & 0x7fffffff;
    const id = this.#lastId;
    const writer = Writer.create().appendInt16(key).appendInt16(version).appendInt32(id);
    writer.appendString(this.#clientId, false);
    if (hasTaggedFields) writer.appendTaggedFields();
    return new Promise((resolve, reject) => {
      const parseAndResolve = function* (bytes: number): Parser<void> {
        resolve(yield* parser(bytes));
      };
      this.#pendingRequests.push({ id, parser: parseAndResolve, reject });
      this.#socket.write(writer.appendFrom(payload).prependLength().buffer);
    });
  }

  close(): void {
    this.#fail(new Error('the connection to Kafka was closed'));
  }

  #createNextParser(): Parser<void> | undefined {
    const [pendingRequest] = this.#pendingRequests;
    return pendingRequest === undefined ? undefined : this.#parseResponse(pendingRequest);
  }

  *#parseResponse({ id, parser }: PendingRequest): Parser<void> {
    const head = yield 8;
    const bytes = head.readInt32BE(0) - 4;
    if (bytes < 0 || bytes > maxResponseBytes || head.readInt32BE(4) !== id)
      throw new Error('the server is not Kafka, or it requires TLS');
    yield* parser(bytes);
    this.#pendingRequests.shift();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    for (const { reject } of this.#pendingRequests.splice(0)) reject(this.#failure);
  }
}
