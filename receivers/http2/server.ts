/** An HTTP/2 server without TLS, for peers with prior knowledge of HTTP/2. */
import { createServer, type Server, type Socket } from 'node:net';
import { Connection } from './connection.ts';
import { checkDeadlinesUntilClosed } from './deadlines.ts';
import { defaultOptions, type Http2Options } from './options.ts';
import type { Http2Stream, StreamHandler } from './stream.ts';

export type { Http2Options } from './options.ts';
export type { Http2Stream, StreamHandler } from './stream.ts';

const sweepIntervalMs = 250;
/** Lets the kernel detect peers whose machine vanished. */
const keepAliveDelayMs = 60_000;

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
  const resolvedOptions = { ...defaultOptions, ...options };
  /** Open connections, each with a promise that resolves when it is closed. */
  const connections = new Map<Connection, Promise<void>>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs });
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, accept, resolvedOptions);
    const connectionClosed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        connections.delete(connection);
        resolve();
      });
    });
    connections.set(connection, connectionClosed);
  });
  checkDeadlinesUntilClosed(server, sweepIntervalMs, connections);
  return {
    server,
    async close() {
      const serverClosed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const connection of connections.keys()) connection.drain();
      await serverClosed;
      // The server forgets a connection before its calls receive `serverClosed`.
      await Promise.all(connections.values());
    },
    destroy() {
      server.close();
      for (const connection of connections.keys()) connection.destroy();
    },
  };
};
