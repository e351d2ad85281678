/** Calls that one span makes again and again, such as a statement for each row of another one (N+1). */

/** Calls alike below one span that are told of. */
export const minRepeated = 4;
/** What an answer lists at most. */
export const maxRepeated = 20;

/** A span, and what makes calls alike: its service, its name, and its statement without literals. */
export interface Call {
  readonly kind: number;
  readonly service: string;
  readonly name: string;
  readonly statement: string;
}

export interface Repeated {
  /** Place of the caller among the spans, and of its first call of these. */
  readonly caller: number;
  readonly first: number;
  readonly count: number;
  /** How much of the critical path these calls are, in nanoseconds. */
  readonly onPath: number;
}

const isCall = ({ kind }: Call): boolean => kind === 3 || kind === 4;

/** Of each span the calls that it makes at least `minRepeated` times, those first that the trace waited longest for. */
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
