/**
 * Announces to clients that a server closes. A client that does not watch its idle connections would otherwise lose its
 * next request.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Long enough for busy clients to get one more response. */
const maxWaitMs = 1_000;
const pollMs = 25;

const countConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error === null ? count : 0));
  });

const closeAfterResponse = (_: IncomingMessage, response: ServerResponse): void => {
  response.shouldKeepAlive = false;
};

/**
 * Adds `Connection: close` to each response while the server still accepts connections. Resolves when no connection is
 * left, after at most a second. The server must have its own `checkContinue` listener.
 */
export const drainConnections = async (server: Server): Promise<void> => {
  server.prependListener('request', closeAfterResponse);
  server.prependListener('checkContinue', closeAfterResponse);
  const deadlineMs = performance.now() + maxWaitMs;
  while (performance.now() < deadlineMs && (await countConnections(server)) > 0) await delay(pollMs);
};
