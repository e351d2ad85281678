/** Selects the messages to send in one request. */
import { batchOverhead, type Outgoing } from './wire.ts';

/** Maximum bytes of a request. */
const maxBytes = 32 * 1024 * 1024;

/**
 * Returns the largest set of messages from the front of the queue that fits into one request. All messages of a
 * partition become one record batch, which counts as one message for the topic's size limit. When a partition is full,
 * its later messages wait too, which preserves their order.
 */
export const nextRound = <Entry extends Outgoing>(
  queue: readonly Entry[],
  limitOf: (topic: string) => number,
): { round: Entry[]; rest: Entry[] } => {
  const used = new Map<string, number>();
  const full = new Set<string>();
  const round: Entry[] = [];
  const rest: Entry[] = [];
  let total = 0;
  for (const entry of queue) {
    const key = `${entry.topic}:${entry.partition}`;
    const before = used.get(key) ?? batchOverhead;
    const fits = before === batchOverhead || before + entry.bytes <= limitOf(entry.topic);
    if (full.has(key) || !fits || (round.length > 0 && total + entry.bytes > maxBytes)) {
      full.add(key);
      rest.push(entry);
      continue;
    }
    used.set(key, before + entry.bytes);
    total += entry.bytes;
    round.push(entry);
  }
  return { round, rest };
};
