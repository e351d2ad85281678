/** Merges events of several sources into one feed */
import type { FeedEvent } from './events.ts';

/** An event, with the position of its source after it */
export interface PositionedEvent<Event = FeedEvent> {
  readonly event: Event;
  readonly position: unknown;
}

/** A source of events in its own order, backward in time */
export interface EventSource<Event = FeedEvent> {
  readonly name: string;
  /** Returns the next events after a position. */
  next(limit: number, after: unknown): Promise<readonly PositionedEvent<Event>[]>;
}

/** Position of each source after which a page begins */
export type FeedPositions = Readonly<Record<string, unknown>>;

/**
 * Returns a page of all sources, the newest first. Each source has its own position, so a page neither skips nor
 * repeats events. New data and clock differences between sources do not matter.
 */
export const readFeedPage = async <Event extends { readonly time: string } = FeedEvent>(
  sources: readonly EventSource<Event>[],
  { limit, after }: { readonly limit: number; readonly after: FeedPositions },
): Promise<{ readonly events: readonly Event[]; readonly next: FeedPositions | undefined }> => {
  const sourcePages = await Promise.all(
    sources.map(async (source) => ({
      name: source.name,
      placed: [...(await source.next(limit + 1, after[source.name]))],
    })),
  );
  const positions: Record<string, unknown> = { ...after };
  const events: Event[] = [];
  while (events.length < limit) {
    const newest = sourcePages
      .filter(({ placed: pendingEvents }) => pendingEvents.length > 0)
      .sort((left, right) => ((left.placed[0]?.event.time ?? '') < (right.placed[0]?.event.time ?? '') ? 1 : -1))[0];
    const entry = newest?.placed.shift();
    if (newest === undefined || entry === undefined) break;
    events.push(entry.event);
    positions[newest.name] = entry.position;
  }
  return {
    events,
    next: sourcePages.some(({ placed: pendingEvents }) => pendingEvents.length > 0) ? positions : undefined,
  };
};
