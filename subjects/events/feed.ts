/** Events of several sources as one feed. */
import type { FeedEvent } from './events.ts';

/** An event, and where the next page of its source begins once it was shown. */
export interface Placed {
  readonly event: FeedEvent;
  readonly position: unknown;
}

/** A source of events, in an order of its own that goes back in time. */
export interface EventSource {
  readonly name: string;
  /** The next events behind a position. */
  next(limit: number, after: unknown): Promise<readonly Placed[]>;
}

/** Behind which event of each source a page begins. */
export type FeedPositions = Readonly<Record<string, unknown>>;

/**
 * A page of all sources, the newest first. Each source has its own position, so that a page neither skips nor repeats whatever lands in
 * between, and however the clocks of sources differ.
 */
export const feedPage = async (
  sources: readonly EventSource[],
  { limit, after }: { readonly limit: number; readonly after: FeedPositions },
): Promise<{ readonly events: readonly FeedEvent[]; readonly next: FeedPositions | undefined }> => {
  const waiting = await Promise.all(
    sources.map(async (source) => ({
      name: source.name,
      placed: [...(await source.next(limit + 1, after[source.name]))],
    })),
  );
  const positions: Record<string, unknown> = { ...after };
  const events: FeedEvent[] = [];
  while (events.length < limit) {
    const newest = waiting
      .filter(({ placed }) => placed.length > 0)
      .sort((one, other) => ((one.placed[0]?.event.time ?? '') < (other.placed[0]?.event.time ?? '') ? 1 : -1))[0];
    const entry = newest?.placed.shift();
    if (newest === undefined || entry === undefined) break;
    events.push(entry.event);
    positions[newest.name] = entry.position;
  }
  return { events, next: waiting.some(({ placed }) => placed.length > 0) ? positions : undefined };
};
