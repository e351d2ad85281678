/** Finds repeated calls of one span, such as a statement for each row of another one (N+1). */

/** Minimum number of similar calls below one span that are reported. */
export const minRepeated = 4;
/** Maximum number of reported groups. */
export const maxRepeated = 20;

/** A span, and the key of similar calls: its service, its name, and its statement without literals. */
export interface Call {
  readonly kind: number;
  readonly service: string;
  readonly name: string;
  readonly statement: string;
}

export interface Repeated {
  /** Index of the caller among the spans, and of its first call in the group. */
  readonly caller: number;
  readonly first: number;
  readonly count: number;
  /** Share of these calls in the critical path, in nanoseconds. */
  readonly onPath: number;
}

const isCall = ({ kind }: Call): boolean => kind === 3 || kind === 4;

/** Returns groups of at least `minRepeated` similar calls of a span, longest time on the critical path first. */
export const repeatedCalls = (
  calls: readonly Call[],
  { parents, onPath }: { readonly parents: Int32Array; readonly onPath: Float64Array },
): Repeated[] => {
  const groups = new Map<string, { caller: number; first: number; count: number; onPath: number }>();
  for (const [at, call] of calls.entries()) {
    const caller = parents[at] as number;
    if (caller < 0 || !isCall(call)) continue;
    const key = JSON.stringify([caller, call.service, call.name, call.statement]);
    const group = groups.get(key) ?? { caller, first: at, count: 0, onPath: 0 };
    group.count++;
    group.onPath += onPath[at] as number;
    groups.set(key, group);
  }
  return [...groups.values()]
    .filter(({ count }) => count >= minRepeated)
    .sort((one, other) => other.onPath - one.onPath || other.count - one.count || one.first - other.first);
};
