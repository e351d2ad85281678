/** One direct connection per broker, opened on demand and reopened after it broke. */
import type { BaseOptions } from '@platformatic/kafka';
import { withTimeout } from '../../runtime/timeout.ts';
import { DirectConnection } from './direct-connection.ts';
import { authenticate, type Credentials } from './sasl.ts';

interface Opened {
  readonly connection: DirectConnection;
  /** When the connection must authenticate again, as a `performance.now()` time. */
  readonly endsAt: number;
}

/** Fraction of a session's lifetime that is used: a request at its very end would be cut off. */
const usedOfSession = 0.8;

export class DirectConnections {
  readonly #options: BaseOptions;
  readonly #opened = new Map<string, Promise<Opened>>();
  #closed = false;

  constructor(options: BaseOptions) {
    this.#options = options;
  }

  async get({ host, port }: { readonly host: string; readonly port: number }): Promise<DirectConnection> {
    const key = `${host}:${port}`;
    for (let opening = this.#opened.get(key); opening !== undefined; opening = this.#opened.get(key)) {
      const { connection, endsAt } = await opening;
      if (connection.isOpen && performance.now() < endsAt) return connection;
      if (this.#opened.get(key) === opening) this.#opened.delete(key);
      connection.close();
    }
    if (this.#closed) throw new Error('connections to Kafka are closed');
    const opening = this.#open(host, port);
    this.#opened.set(key, opening);
    // The next call after a failure opens a new connection.
    opening.catch(() => this.#opened.delete(key));
    return (await opening).connection;
  }

  /** Closes the connections without waiting for pending answers. */
  close(): void {
    this.#closed = true;
    for (const opening of this.#opened.values())
      opening.then(
        ({ connection }) => connection.close(),
        () => undefined,
      );
    this.#opened.clear();
  }

  async #open(host: string, port: number): Promise<Opened> {
    const { connectTimeout = 3000, sasl } = this.#options;
    const connection = new DirectConnection(host, port, this.#options);
    try {
      return await withTimeout(
        connectTimeout,
        connection.connected.then(async () => {
          const lifetimeMs = sasl === undefined ? 0 : await authenticate(connection, sasl as Credentials);
          const endsAt = lifetimeMs > 0 ? performance.now() + usedOfSession * lifetimeMs : Number.POSITIVE_INFINITY;
          return { connection, endsAt };
        }),
      );
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}
