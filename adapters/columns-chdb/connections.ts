/**
 * Connections to the engine in this process. A connection runs one statement at a time; several connections run in
 * parallel.
 */
import { randomUUID } from 'node:crypto';
import { drainPending, type Session } from 'chdb';
import { UnavailableError } from '../../schemas/errors.ts';
import type { StatementCost } from '../../schemas/ports/columns.ts';

interface PendingAcquire {
  readonly resolve: (session: Session) => void;
  readonly reject: (error: Error) => void;
}

/** Output of a statement, and its cost. */
export interface Output {
  readonly bytes: Uint8Array;
  readonly cost: StatementCost;
}

export interface Abort {
  readonly signal: AbortSignal;
  /** Called at the abort of a running statement; `ended` returns whether it has ended. */
  readonly stop: (hasEnded: () => boolean) => void;
}

/** A fixed number of connections to one data directory, and the queue in front of them. */
export class ChdbConnections {
  readonly #createSession: () => Session;
  readonly #idleSessions: Session[];
  readonly #sessions = new Set<Session>();
  readonly #pendingAcquires: PendingAcquire[] = [];
  readonly #runningStatements = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(open: () => Session, count: number) {
    this.#createSession = open;
    this.#idleSessions = Array.from({ length: count }, () => this.#openSession());
  }

  #openSession(): Session {
    const session = this.#createSession();
    this.#sessions.add(session);
    return session;
  }

  /**
   * Runs one statement and returns its output. An abort rejects immediately; the connection becomes available again
   * when the engine has ended the statement.
   */
  async run(sql: string, format: string, abort?: Abort): Promise<Output> {
    const session = await this.#acquire(abort?.signal);
    const statement = this.#runInSession(session, sql, format).finally(() => this.#runningStatements.delete(statement));
    this.#runningStatements.add(statement);
    return abort === undefined ? statement : withAbort(statement, abort);
  }

  async #runInSession(session: Session, sql: string, format: string): Promise<Output> {
    try {
      const result = await session.queryAsync(sql, { format });
      const bytes = result.bytes();
      this.#release(session);
      const { rowsRead, bytesRead, elapsed } = result;
      return { bytes, cost: { rowsRead, bytesRead, elapsedMs: elapsed * 1000 } };
    } catch (error) {
      this.#release(await this.#drainOrReplace(session));
      throw error;
    }
  }

  /**
   * Drains the connection after a failed statement. The engine returns the partial output of a failed statement with
   * the connection's next result, which may belong to another tenant. A connection that cannot be drained is replaced.
   */
  async #drainOrReplace(session: Session): Promise<Session> {
    const marker = randomUUID();
    for (let attempt = 0; attempt < 3; attempt++) {
      const result = await session.queryAsync(`SELECT '${marker}'`, { format: 'TSVRaw' }).catch(() => undefined);
      if (result?.text() === `${marker}\n`) return session;
    }
    this.#sessions.delete(session);
    session.close();
    return this.#openSession();
  }

  async #acquire(signal: AbortSignal | undefined): Promise<Session> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new UnavailableError('the columns are closed');
    const session = this.#idleSessions.pop();
    if (session !== undefined) return session;
    const { promise, resolve, reject } = Promise.withResolvers<Session>();
    const waiter: PendingAcquire = { resolve, reject };
    this.#pendingAcquires.push(waiter);
    const cancelWait = (): void => {
      const index = this.#pendingAcquires.indexOf(waiter);
      if (index < 0) return;
      this.#pendingAcquires.splice(index, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', cancelWait, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', cancelWait));
  }

  #release(session: Session): void {
    const next = this.#pendingAcquires.shift();
    if (next === undefined) this.#idleSessions.push(session);
    else next.resolve(session);
  }

  /** Rejects new statements, waits for running ones, and closes every connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#pendingAcquires.splice(0)) waiter.reject(new UnavailableError('the columns are closed'));
    await Promise.allSettled([...this.#runningStatements]);
    for (const session of this.#sessions) session.close();
    this.#sessions.clear();
    await drainPending();
  }
}

const withAbort = <Result>(running: Promise<Result>, { signal, stop }: Abort): Promise<Result> => {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  let hasEnded = false;
  const abort = (): void => {
    reject(signal.reason);
    stop(() => hasEnded);
  };
  const handleEnd = (): void => {
    hasEnded = true;
    signal.removeEventListener('abort', abort);
  };
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  running.then(resolve, reject).finally(handleEnd);
  return promise;
};
