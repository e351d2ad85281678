/** Tells clients that a server goes, before it does: a client that does not watch its idle connections would lose its next request. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Clients that send all the time are answered once more in it. */
const maxWaitMs = 1_000;
const pollMs = 25;

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error === null ? count : 0));
  });

const closeAfter = (_: IncomingMessage, response: ServerResponse): void => {
  response.shouldKeepAlive = false;
};

/**
 * From now on each answer says `Connection: close`, while the server goes on to accept. Resolves when no connection is left,
 * after a second at the latest. The server has a listener of `checkContinue` of its own.
 */
export const leave = async (server: Server): Promise<void> => {
  server.prependListener('request', closeAfter);
  server.prependListener('checkContinue', closeAfter);
  const end = performance.now() + maxWaitMs;
  while (performance.now() < end && (await connectionsOf(server)) > 0) await delay(pollMs);
};
