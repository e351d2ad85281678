/**
 * Finds the origin of a symptom: follows calls from node to node, by the share of a node's degradation that its callees
 * explain.
 */

import { computeExcess, type Degradation, findDegradations, findOnset } from './degradations.ts';
import { type ContextEdge, type IncidentContext, type MinuteActivity, minuteMs } from './incident-context.ts';

/** Maximum number of calls that are followed from a symptom. */
const maxCalls = 6;
/** Minimum share of the symptom for which calls are followed. */
const minShare = 0.1;

export interface AttributedNode {
  readonly node: string;
  /**
   * Shares of the symptom, from 0 to 1: the share that reaches the node, and the share that none of its callees
   * explains.
   */
  readonly reachingShare: number;
  readonly own: number;
  readonly onsetMs: number;
  /** Earliest and latest possible onset. */
  readonly earliestMs: number;
  readonly latestMs: number;
  /** Degradations of its own requests; empty if there are none, or if it sends no spans. */
  readonly degradations: readonly Degradation[];
  /** Path from the symptom to the node. */
  readonly path: readonly string[];
}

/** Returns the share of a node's degradation that the calls of an edge explain; 0 if the edge is not degraded. */
const computeExplainedShare = (
  { minutes }: ContextEdge,
  node: readonly MinuteActivity[],
  degradations: readonly Degradation[],
  { onsetMs, untilMs }: { readonly onsetMs: number; readonly untilMs: number },
): number => {
  const edgeDegradations = findDegradations(minutes, onsetMs, { untilMs });
  if (edgeDegradations === undefined || edgeDegradations.length === 0) return 0;
  const [nodeExcess, edgeExcess] = [
    computeExcess(node, node, onsetMs, untilMs),
    computeExcess(minutes, node, onsetMs, untilMs),
  ];
  const shares = degradations.map(({ aspect }) =>
    aspect === 'errors'
      ? nodeExcess.errors > 0
        ? edgeExcess.errors / nodeExcess.errors
        : 0
      : nodeExcess.duration > 0
        ? edgeExcess.duration / nodeExcess.duration
        : 0,
  );
  // A slow callee can make its caller fail, so durations may explain a larger share than errors.
  const durationShare =
    edgeDegradations.some(({ aspect }) => aspect !== 'errors') && nodeExcess.duration > 0
      ? edgeExcess.duration / nodeExcess.duration
      : 0;
  return Math.min(1, Math.max(0, durationShare, ...shares));
};

/** Returns every node that causes part of the symptom, largest share first. */
export const attributeSymptom = (context: IncidentContext): AttributedNode[] => {
  const { symptoms, detectedMs, untilMs, nodes } = context;
  const attributedNodes = new Map<string, AttributedNode>();
  const visit = (node: string, reachingShare: number, path: readonly string[], aroundMs: number): void => {
    const minutes = nodes.get(node) ?? [];
    const knownOnset = { onsetMs: aroundMs, earliestMs: aroundMs, latestMs: aroundMs };
    const { onsetMs, earliestMs, latestMs } = minutes.length === 0 ? knownOnset : findOnset(minutes, aroundMs);
    const degradations = findDegradations(minutes, onsetMs, { untilMs }) ?? [];
    const edges = path.length > maxCalls ? [] : context.edges.filter(({ client }) => client === node);
    const shares = edges
      .filter(({ server }) => !path.includes(server) && server !== node)
      .map((edge) => ({ edge, share: computeExplainedShare(edge, minutes, degradations, { onsetMs, untilMs }) }))
      .filter(({ share }) => share * reachingShare >= minShare);
    const total = shares.reduce((sum, { share }) => sum + share, 0);
    const scale = total > 1 ? 1 / total : 1;
    const ownShare = reachingShare * Math.max(0, 1 - total);
    const existing = attributedNodes.get(node);
    attributedNodes.set(node, {
      node,
      onsetMs,
      earliestMs,
      latestMs,
      degradations,
      reachingShare: (existing?.reachingShare ?? 0) + reachingShare,
      own: (existing?.own ?? 0) + ownShare,
      path: existing?.path ?? [...path, node],
    });
    for (const { edge, share } of shares) {
      const { onsetMs: edgeOnsetMs } = findOnset(edge.minutes, onsetMs);
      visit(edge.server, reachingShare * share * scale, [...path, node], Math.min(edgeOnsetMs, onsetMs + 2 * minuteMs));
    }
  };
  for (const node of symptoms) visit(node, 1 / symptoms.length, [], detectedMs);
  return [...attributedNodes.values()].toSorted((left, right) => right.own - left.own);
};
