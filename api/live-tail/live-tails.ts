/** Sends what listeners have to say to their connections, in rounds. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Asked, type Listening, openLiveTail } from '../../queries/live-tail/live-tail.ts';
import { tokenOf } from '../../queries/live-tail/positions.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Connection, Opened } from '../connection.ts';

/** A record waits so long at most for others to come along in its frame. */
const roundMs = 50;
/** After so long, a round lets others have their turn. */
const turnMs = 5;
/** Characters of records that a round sends: to all, and to one. */
const mostOfRound = 2 * 1024 * 1024;
const mostOfFrame = 256 * 1024;
const leastOfFrame = 4 * 1024;
/** A connection that has so many bytes to take gets no more until it has taken them. */
const mostUntaken = 64 * 1024;
const heartbeatMs = 10_000;

interface Sender {
  readonly asked: Asked;
  readonly listening: Listening;
  readonly connection: Connection;
  sentAt: number;
}

/** All live tails of this instance. */
export interface LiveTails {
  /** Rejects where the bus cannot say where its partitions end. */
  open(asked: Asked): Promise<Opened>;
  close(): Promise<void>;
}

interface LiveTailsOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const openLiveTails = ({ bus, log, metrics }: LiveTailsOptions): LiveTails => {
  const tail = openLiveTail({ bus, log });
  const senders = new Set<Sender>();
  let isRunning = false;

  const sendFrame = (sender: Sender, most: number): void => {
    const { asked, listening, connection } = sender;
    const { signal } = asked.filter;
    const { records, dropped, skipped, gap, live, positions } = listening.take(most);
    const state = JSON.stringify({ dropped, skipped, gap, live, position: tokenOf(signal, positions) }).slice(1);
    // Records are JSON already, which listeners share.
    connection.send(
      records.length === 0
        ? `{"type":"heartbeat",${state}`
        : `{"type":"records","records":[${records.join(',')}],${state}`,
    );
    sender.sentAt = performance.now();
    for (const [outcome, count] of Object.entries({ sent: records.length, dropped, skipped }))
      if (count > 0) metrics.add('oiq_live_tail_records_total', count, { signal, outcome });
  };

  const round = async (): Promise<void> => {
    const late = performance.now() - heartbeatMs;
    const ready = [...senders].filter(
      ({ listening, connection, sentAt }) =>
        (listening.hasNews || sentAt < late) && connection.waitingBytes < mostUntaken,
    );
    const share = Math.max(leastOfFrame, Math.min(mostOfFrame, mostOfRound / Math.max(1, ready.length)));
    let started = performance.now();
    for (const sender of ready) {
      if (senders.has(sender)) sendFrame(sender, share);
      if (performance.now() - started < turnMs) continue;
      await nextTurn();
      started = performance.now();
    }
  };

  /** Rounds follow each other while somebody listens. */
  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (senders.size > 0) {
      await round();
      await sleep(roundMs);
    }
    isRunning = false;
  };

  const count = (): void => metrics.set('oiq_live_tail_connections', senders.size, {});

  return {
    async open(asked) {
      const listening = await tail.open(asked);
      let { shards } = asked;
      let sender: Sender | undefined;
      return {
        begin(connection) {
          sender = { asked, listening, connection, sentAt: performance.now() };
          senders.add(sender);
          void run();
          count();
        },
        known({ organization }) {
          if (organization.shards === shards) return;
          shards = organization.shards;
          listening.spread(shards);
        },
        end() {
          listening.close();
          if (sender !== undefined) senders.delete(sender);
          count();
        },
      };
    },
    close: () => tail.close(),
  };
};
