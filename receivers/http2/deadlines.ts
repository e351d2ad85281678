/** Ends streams and connections that take too long, with one timer for all of them. */
import type { Server } from 'node:net';

interface Sweepable {
  /** Ends itself after its deadline; `now` is on the `performance.now()` clock. */
  checkDeadlines(now: number): void;
}

/** Sweeps the current members of `members` at intervals until the server is closed. */
export const checkDeadlinesUntilClosed = (
  server: Server,
  intervalMs: number,
  members: Pick<ReadonlySet<Sweepable>, 'keys'>,
): void => {
  const timer = setInterval(() => {
    const now = performance.now();
    for (const watched of members.keys()) watched.checkDeadlines(now);
  }, intervalMs).unref();
  server.once('close', () => clearInterval(timer));
};
