/** An HTTP/1.1 server that does not wait for slow senders and closes gracefully. */
import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { bind } from '../../runtime/bind.ts';
import { enforceRequestRules } from '../../runtime/http-requests.ts';
import { drainConnections } from '../../runtime/shutdown.ts';
import type { ListenAddress, Listener, WebSocketHandler } from './receiver.ts';

/** Sufficient for the largest body at 0.5 MB/s. */
const requestTimeoutMs = 120_000;
const headersTimeoutMs = 15_000;
/** Longer than the keep-alive of load balancers, so that they close first. */
const keepAliveTimeoutMs = 75_000;
const checkIntervalMs = 5_000;

export const listenHttp = async (
  setting: ListenAddress['setting'],
  address: string,
  listener: RequestListener,
  sockets: WebSocketHandler,
): Promise<Listener> => {
  /** Connections without a request so far, which Node counts as busy. */
  const unusedSockets = new Set<Socket>();
  const handleRequest = enforceRequestRules((request, response) => {
    unusedSockets.delete(request.socket);
    listener(request, response);
  });
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: checkIntervalMs,
      noDelay: true,
      // Other requests for an upgrade, such as h2c, are served as HTTP/1.1.
      shouldUpgradeCallback: (request) => sockets.accepts(request),
    },
    handleRequest,
  );
  server.on('upgrade', (request, socket: Socket, head) => {
    unusedSockets.delete(socket);
    sockets.upgrade(request, socket, head);
  });
  // With its own listener, the server can reject a request before its body is sent.
  server.on('checkContinue', handleRequest);
  server.on('connection', (socket: Socket) => {
    unusedSockets.add(socket);
    socket.once('close', () => unusedSockets.delete(socket));
  });
  const boundAddress = await bind(server, setting, address);
  return {
    setting,
    address: boundAddress,
    announceShutdown: () => drainConnections(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        for (const socket of unusedSockets) socket.destroy();
      }),
    destroy() {
      server.close();
      server.closeAllConnections();
    },
  };
};
