/** An HTTP/2 server without TLS, for peers with prior knowledge of HTTP/2. */
import { createServer, type Server, type Socket } from 'node:net';
import { Connection } from './connection.ts';
import { defaultOptions, type Http2Options } from './options.ts';
import type { Http2Stream, StreamHandler } from './stream.ts';
import { sweepUntilClosed } from './sweep.ts';

export type { Http2Options } from './options.ts';
export type { Http2Stream, StreamHandler } from './stream.ts';

const sweepMs = 250;
/** Lets the kernel detect peers whose machine vanished. */
const keepAliveMs = 60_000;

export interface Http2Server {
  /** Server to listen with. */
  readonly server: Server;
  /**
   * Rejects new connections and requests; resolves when pending requests are answered and all connections are closed.
   */
  close(): Promise<void>;
  /** Destroys all connections. */
  destroy(): void;
}

/**
 * Creates a server. `accept` is called with every request once its headers have arrived, and may respond immediately.
 */
export const createHttp2Server = (
  accept: (stream: Http2Stream) => StreamHandler,
  options: Partial<Http2Options> = {},
): Http2Server => {
  const allOptions = { ...defaultOptions, ...options };
  /** Connections with the promise of their end. */
  const connections = new Map<Connection, Promise<void>>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs });
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, accept, allOptions);
    const whenClosed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        connections.delete(connection);
        resolve();
      });
    });
    connections.set(connection, whenClosed);
  });
  sweepUntilClosed(server, sweepMs, connections);
  return {
    server,
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const connection of connections.keys()) connection.drain();
      await closed;
      // The server forgets a connection before its calls receive `closed`.
      await Promise.all(connections.values());
    },
    destroy() {
      server.close();
      for (const connection of connections.keys()) connection.destroy();
    },
  };
};
