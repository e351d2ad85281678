/** Finds repeated calls of one span, such as a database query for each row of another query (N+1). */

/** Minimum number of similar calls of one span in a reported group. */
export const minRepeatedCalls = 4;
/** Maximum number of reported groups. */
export const maxRepeatedGroups = 20;

/** A span, and the key of similar calls: its service, its name, and its statement without literals. */
export interface CallSpan {
  readonly kind: number;
  readonly service: string;
  readonly name: string;
  readonly statement: string;
}

export interface RepeatedCalls {
  /** Index of the caller among the spans, and of its first call in the group. */
  readonly caller: number;
  readonly firstCall: number;
  readonly count: number;
  /** Share of these calls in the critical path, in nanoseconds. */
  readonly criticalPathNs: number;
}

const isCall = ({ kind }: CallSpan): boolean => kind === 3 || kind === 4;

/** Returns groups of at least `minRepeatedCalls` similar calls of a span, longest time on the critical path first. */
export const findRepeatedCalls = (
  calls: readonly CallSpan[],
  { parents, criticalPathNs }: { readonly parents: Int32Array; readonly criticalPathNs: Float64Array },
): RepeatedCalls[] => {
  const groups = new Map<string, { caller: number; firstCall: number; count: number; criticalPathNs: number }>();
  for (const [index, call] of calls.entries()) {
    const caller = parents[index] as number;
    if (caller < 0 || !isCall(call)) continue;
    const key = JSON.stringify([caller, call.service, call.name, call.statement]);
    const group = groups.get(key) ?? { caller, firstCall: index, count: 0, criticalPathNs: 0 };
    group.count++;
    group.criticalPathNs += criticalPathNs[index] as number;
    groups.set(key, group);
  }
  return [...groups.values()]
    .filter(({ count }) => count >= minRepeatedCalls)
    .sort(
      (one, other) =>
        other.criticalPathNs - one.criticalPathNs || other.count - one.count || one.firstCall - other.firstCall,
    );
};
