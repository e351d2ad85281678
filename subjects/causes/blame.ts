/** Origin of a symptom: the share of a node's degradation that its callees explain, from call to call. Pure. */
import { type ContextEdge, type IncidentContext, type Minute, minuteMs } from './incident-context.ts';
import { excessOf, onsetOf, type Worsening, worseSince } from './worsening.ts';

/** Maximum number of calls that are followed from a symptom. */
const maxCalls = 6;
/** Smaller shares of the symptom are not followed. */
const minShare = 0.1;

export interface Blamed {
  readonly node: string;
  /**
   * Shares of the symptom, from 0 to 1: the share that reaches the node, and the share that none of its callees
   * explains.
   */
  readonly reaching: number;
  readonly own: number;
  readonly onsetMs: number;
  /** Earliest and latest possible onset. */
  readonly earliestMs: number;
  readonly latestMs: number;
  /** Degradations of its own requests; empty if there are none, or if it sends no spans. */
  readonly degradations: readonly Worsening[];
  /** Path from the symptom to the node. */
  readonly path: readonly string[];
}

/** Share of a node's degradation that the calls of an edge explain; 0 if the edge is not degraded. */
const explainedBy = (
  { minutes }: ContextEdge,
  node: readonly Minute[],
  worse: readonly Worsening[],
  { onsetMs, untilMs }: { readonly onsetMs: number; readonly untilMs: number },
): number => {
  const edge = worseSince(minutes, onsetMs, { untilMs });
  if (edge === undefined || edge.length === 0) return 0;
  const [all, own] = [excessOf(node, node, onsetMs, untilMs), excessOf(minutes, node, onsetMs, untilMs)];
  const shares = worse.map(({ aspect }) =>
    aspect === 'errors'
      ? all.errors > 0
        ? own.errors / all.errors
        : 0
      : all.duration > 0
        ? own.duration / all.duration
        : 0,
  );
  // A slow callee makes its caller fail: durations may explain the remainder that errors do not.
  const slow = edge.some(({ aspect }) => aspect !== 'errors') && all.duration > 0 ? own.duration / all.duration : 0;
  return Math.min(1, Math.max(0, slow, ...shares));
};

/** Returns every node that causes part of the symptom, largest share first. */
export const blameOf = (context: IncidentContext): Blamed[] => {
  const { symptoms, noticedMs, untilMs, nodes } = context;
  const found = new Map<string, Blamed>();
  const visit = (node: string, reaching: number, path: readonly string[], around: number): void => {
    const minutes = nodes.get(node) ?? [];
    const known = { onsetMs: around, earliestMs: around, latestMs: around };
    const { onsetMs, earliestMs, latestMs } = minutes.length === 0 ? known : onsetOf(minutes, around);
    const degradations = worseSince(minutes, onsetMs, { untilMs }) ?? [];
    const edges = path.length > maxCalls ? [] : context.edges.filter(({ client }) => client === node);
    const shares = edges
      .filter(({ server }) => !path.includes(server) && server !== node)
      .map((edge) => ({ edge, share: explainedBy(edge, minutes, degradations, { onsetMs, untilMs }) }))
      .filter(({ share }) => share * reaching >= minShare);
    const total = shares.reduce((sum, { share }) => sum + share, 0);
    const scale = total > 1 ? 1 / total : 1;
    const own = reaching * Math.max(0, 1 - total);
    const before = found.get(node);
    found.set(node, {
      node,
      onsetMs,
      earliestMs,
      latestMs,
      degradations,
      reaching: (before?.reaching ?? 0) + reaching,
      own: (before?.own ?? 0) + own,
      path: before?.path ?? [...path, node],
    });
    for (const { edge, share } of shares) {
      const { onsetMs: from } = onsetOf(edge.minutes, onsetMs);
      visit(edge.server, reaching * share * scale, [...path, node], Math.min(from, onsetMs + 2 * minuteMs));
    }
  };
  for (const node of symptoms) visit(node, 1 / symptoms.length, [], noticedMs);
  return [...found.values()].toSorted((one, other) => other.own - one.own);
};
