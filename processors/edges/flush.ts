/** When counts are emitted: some time after the first call, or as soon as there are many edges. */
import type { ServiceEdge } from '../../schemas/edges.ts';
import type { Call, Edge, EdgeCounts } from './counts.ts';

/** Rows of a minute add up, so that this is how old a count is at most, and how many rows an edge has in a minute. */
const flushMs = 30_000;
/** The clock timer that asks for `flush`. */
export const flushTimer = 'flush';

interface Clocked {
  readonly tenantId: string;
  readonly clockMs: number;
  setTimer(kind: 'clock', dueMs: number, key: string): void;
}

type Emit = (edge: ServiceEdge) => void;

/** Counts a call, and asks for a flush where none was asked for. */
export const countCall = (counts: EdgeCounts, edge: Edge, call: Call, context: Clocked, emit: Emit): void => {
  if (counts.entries === 0) context.setTimer('clock', context.clockMs + flushMs, flushTimer);
  counts.add(edge, call);
  if (counts.isFull) flush(counts, context.tenantId, emit);
};

export const flush = (counts: EdgeCounts, tenantId: string, emit: Emit): void => {
  for (const value of counts.drain(tenantId)) emit(value);
};
