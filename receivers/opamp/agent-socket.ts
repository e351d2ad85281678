/** A WebSocket of one or more agents: processes messages in order, sends pings, and limits waiting data. */
import type { RawData, WebSocket } from 'ws';
import { PermanentError } from '../../schemas/errors.ts';
import type { Credentials } from '../engine/admission.ts';
import type { AgentConnection } from './agent-registry.ts';
import { readHeader } from './read-message.ts';

/** Time for a client to respond to a ping before another connection takes over its agent. */
const probeMs = 2_000;
const closeTimeoutMs = 1_000;
/** Maximum number of messages without a response. Reading pauses until they have one. */
const maxWaiting = 16;
/** Maximum number of unsent bytes, after which a client that does not read its responses is disconnected. */
const maxBufferedBytes = 1024 * 1024;
const maxReasonLength = 120;
/** Maximum number of agents on one connection, for example behind a proxy. */
const maxAgents = 10_000;

export interface AgentSocketOptions {
  readonly credentials: Credentials;
  readonly intervalMs: number;
  /** Resolves when the response was sent. */
  readonly onMessage: (bytes: Buffer, start: number) => Promise<void>;
  readonly onMalformed: (message: string) => void;
  readonly onAlive: (keys: Iterable<string>) => void;
  readonly onClose: (keys: Iterable<string>) => void;
}

export class AgentSocket implements AgentConnection {
  readonly #socket: WebSocket;
  readonly #options: AgentSocketOptions;
  /** Keys of agents that sent a message on this connection */
  readonly #keys = new Set<string>();
  #lastSeenMs = performance.now();
  #previous: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(socket: WebSocket, options: AgentSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    // `ws` closes with 1009 above the limit, and with 1002 or 1007 for invalid frames.
    socket.on('error', () => undefined);
    socket.on('pong', () => {
      this.#lastSeenMs = performance.now();
      options.onAlive(this.#keys);
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => options.onClose(this.#keys));
  }

  get credentials(): Credentials {
    return this.#options.credentials;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Adds an agent, or removes it once it has disconnected. */
  addAgent(key: string, isDisconnect: boolean): void {
    if (isDisconnect) this.#keys.delete(key);
    else if (this.#keys.size < maxAgents) this.#keys.add(key);
  }

  probe(): Promise<boolean> {
    const socket = this.#socket;
    if (!this.isOpen) return Promise.resolve(false);
    return new Promise((resolve) => {
      const finish = (isAlive: boolean) => () => {
        clearTimeout(timer);
        socket.off('pong', onPong);
        socket.off('close', onClose);
        resolve(isAlive);
      };
      const onPong = finish(true);
      const onClose = finish(false);
      const timer = setTimeout(onClose, probeMs);
      socket.on('pong', onPong);
      socket.on('close', onClose);
      socket.ping();
    });
  }

  send(bytes: Buffer): void {
    if (!this.isOpen) return;
    if (this.#socket.bufferedAmount > maxBufferedBytes) this.terminate();
    else this.#socket.send(bytes);
  }

  /** Sends a ping after an interval without a message, and ends the connection after three. */
  check(): void {
    const silentMs = performance.now() - this.#lastSeenMs;
    if (silentMs > 3 * this.#options.intervalMs) this.terminate();
    else if (silentMs > this.#options.intervalMs && this.isOpen) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason.slice(0, maxReasonLength));
    // A client that does not read does not respond either.
    setTimeout(() => this.#socket.terminate(), closeTimeoutMs).unref();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#lastSeenMs = performance.now();
    const bytes = data as Buffer;
    const start = isBinary ? this.#readHeader(bytes) : this.#reject('messages must be binary WebSocket messages');
    if (start === undefined) return;
    this.#waiting++;
    if (this.#waiting >= maxWaiting) this.#socket.pause();
    this.#previous = this.#previous
      .then(() => this.#options.onMessage(bytes, start))
      .catch(() => this.terminate())
      .then(() => {
        this.#waiting--;
        if (this.#socket.isPaused && this.#waiting < maxWaiting) this.#socket.resume();
      });
  }

  #readHeader(bytes: Buffer): number | undefined {
    try {
      return readHeader(bytes);
    } catch (error) {
      return this.#reject(error instanceof PermanentError ? error.message : 'the header is malformed');
    }
  }

  #reject(message: string): undefined {
    this.#options.onMalformed(message);
  }
}
