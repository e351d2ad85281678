/** Sends the pending records of each live tail to its connection, in rounds. */
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type ListenRequest, type OpenListener, openLiveTail } from '../../queries/live-tail/live-tail.ts';
import { encodeToken } from '../../queries/live-tail/positions.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { AdmittedStream, Connection } from '../connection.ts';

/** Maximum time that a record waits, so that several records share a frame */
const roundIntervalMs = 50;
/** After this time, a round yields to other work. */
const timeSliceMs = 5;
/** Maximum characters of records in a round: for all connections, and for one. */
const maxRoundBytes = 2 * 1024 * 1024;
const maxFrameBytes = 256 * 1024;
const minFrameBytes = 4 * 1024;
/** A connection with this many unsent bytes receives no more until it has sent them. */
const maxUnsentBytes = 64 * 1024;
const heartbeatMs = 10_000;

interface TailConnection {
  readonly request: ListenRequest;
  readonly listener: OpenListener;
  readonly connection: Connection;
  sentAt: number;
}

/** All live tails of this instance. */
export interface LiveTails {
  /** Rejects if the bus cannot report the ends of its partitions. */
  open(request: ListenRequest): Promise<AdmittedStream>;
  close(): Promise<void>;
}

interface LiveTailsOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const createLiveTails = ({ bus, log, metrics }: LiveTailsOptions): LiveTails => {
  const liveTail = openLiveTail({ bus, log });
  const senders = new Set<TailConnection>();
  let isRunning = false;

  const sendFrame = (sender: TailConnection, maxBytes: number): void => {
    const { request, listener, connection } = sender;
    const { signal } = request.filter;
    const { records, dropped, skipped, gap, live, positions } = listener.nextBatch(maxBytes);
    const state = JSON.stringify({ dropped, skipped, gap, live, position: encodeToken(signal, positions) }).slice(1);
    // The records are already JSON, serialized once for all listeners.
    connection.send(
      records.length === 0
        ? `{"type":"heartbeat",${state}`
        : `{"type":"records","records":[${records.join(',')}],${state}`,
    );
    sender.sentAt = performance.now();
    for (const [outcome, count] of Object.entries({ sent: records.length, dropped, skipped }))
      if (count > 0) metrics.add('oiq_live_tail_records_total', count, { signal, outcome });
  };

  const runRound = async (): Promise<void> => {
    const heartbeatDueBefore = performance.now() - heartbeatMs;
    const readySenders = [...senders].filter(
      ({ listener, connection, sentAt }) =>
        (listener.hasPendingData || sentAt < heartbeatDueBefore) && connection.bufferedBytes < maxUnsentBytes,
    );
    const maxBytesPerFrame = Math.max(
      minFrameBytes,
      Math.min(maxFrameBytes, maxRoundBytes / Math.max(1, readySenders.length)),
    );
    let started = performance.now();
    for (const sender of readySenders) {
      if (senders.has(sender)) sendFrame(sender, maxBytesPerFrame);
      if (performance.now() - started < timeSliceMs) continue;
      await yieldToEventLoop();
      started = performance.now();
    }
  };

  /** Runs rounds as long as there is a connection. */
  const runRounds = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (senders.size > 0) {
      await runRound();
      await sleep(roundIntervalMs);
    }
    isRunning = false;
  };

  const reportConnectionCount = (): void => metrics.set('oiq_live_tail_connections', senders.size, {});

  return {
    async open(request) {
      const listener = await liveTail.open(request);
      let { shards } = request;
      let sender: TailConnection | undefined;
      return {
        begin(connection) {
          sender = { request, listener, connection, sentAt: performance.now() };
          senders.add(sender);
          void runRounds();
          reportConnectionCount();
        },
        updateCaller({ organization }) {
          if (organization.shards === shards) return;
          shards = organization.shards;
          listener.setShards(shards);
        },
        end() {
          listener.close();
          if (sender !== undefined) senders.delete(sender);
          reportConnectionCount();
        },
      };
    },
    close: () => liveTail.close(),
  };
};
