/** Decides when counts are emitted: some time after the first call, or as soon as there are many edges. */
import type { ServiceEdge } from '../../schemas/edges.ts';
import type { Call, Edge, EdgeCounts } from './counts.ts';

/**
 * Rows of the same minute are summed on read. The interval therefore limits the age of a count and the number of rows of an edge per
 * minute.
 */
const flushMs = 30_000;
/** Name of the clock timer that triggers `flush`. */
export const flushTimer = 'flush';

interface FlushContext {
  readonly tenantId: string;
  readonly clockMs: number;
  setTimer(kind: 'clock', dueMs: number, key: string): void;
}

type Emit = (edge: ServiceEdge) => void;

/** Counts a call, and schedules a flush if none is scheduled. */
export const countCall = (counts: EdgeCounts, edge: Edge, call: Call, context: FlushContext, emit: Emit): void => {
  if (counts.entries === 0) context.setTimer('clock', context.clockMs + flushMs, flushTimer);
  counts.add(edge, call);
  if (counts.isFull) flush(counts, context.tenantId, emit);
};

export const flush = (counts: EdgeCounts, tenantId: string, emit: Emit): void => {
  for (const value of counts.drain(tenantId)) emit(value);
};
