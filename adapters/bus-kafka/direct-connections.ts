/** One direct connection per broker, opened on demand and reopened after it broke. */
import type { BaseOptions } from '@platformatic/kafka';
import { withTimeout } from '../../runtime/timeout.ts';
import { DirectConnection } from './direct-connection.ts';
import { authenticate, type Credentials } from './sasl.ts';

interface OpenConnection {
  readonly connection: DirectConnection;
  /** When the connection must authenticate again, as a `performance.now()` time. */
  readonly expiresAt: number;
}

/** Fraction of a session's lifetime that is used, because a request at its very end would be cut off. */
const maxSessionFraction = 0.8;

export class DirectConnections {
  readonly #options: BaseOptions;
  readonly #connections = new Map<string, Promise<OpenConnection>>();
  #isClosed = false;

  constructor(options: BaseOptions) {
    this.#options = options;
  }

  async get({ host, port }: { readonly host: string; readonly port: number }): Promise<DirectConnection> {
    const key = `${host}:${port}`;
    for (
      let openConnection = this.#connections.get(key);
      openConnection !== undefined;
      openConnection = this.#connections.get(key)
    ) {
      const { connection, expiresAt } = await openConnection;
      if (connection.isOpen && performance.now() < expiresAt) return connection;
      if (this.#connections.get(key) === openConnection) this.#connections.delete(key);
      connection.close();
    }
    if (this.#isClosed) throw new Error('connections to Kafka are closed');
    const opening = this.#open(host, port);
    this.#connections.set(key, opening);
    // The next call after a failure opens a new connection.
    opening.catch(() => this.#connections.delete(key));
    return (await opening).connection;
  }

  /** Closes the connections without waiting for pending responses. */
  close(): void {
    this.#isClosed = true;
    for (const opening of this.#connections.values())
      opening.then(
        ({ connection }) => connection.close(),
        () => undefined,
      );
    this.#connections.clear();
  }

  async #open(host: string, port: number): Promise<OpenConnection> {
    const { connectTimeout = 3000, sasl } = this.#options;
    const connection = new DirectConnection(host, port, this.#options);
    try {
      return await withTimeout(
        connectTimeout,
        connection.connected.then(async () => {
          const lifetimeMs = sasl === undefined ? 0 : await authenticate(connection, sasl as Credentials);
          const expiresAt =
            lifetimeMs > 0 ? performance.now() + maxSessionFraction * lifetimeMs : Number.POSITIVE_INFINITY;
          return { connection, expiresAt };
        }),
      );
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}
