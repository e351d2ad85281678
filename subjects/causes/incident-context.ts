/** Data for the analysis of a symptom's causes, by minute. */
import type { MinuteCounts } from '../services/comparison.ts';

export const minuteMs = 60_000;

/** Counts of one minute for a service, or for the calls of an edge. */
export interface MinuteActivity extends MinuteCounts {
  readonly atMs: number;
  /** Total duration of all requests in nanoseconds. */
  readonly durationSum: number;
}

/** Calls of one node to another, from the caller's spans. */
export interface ContextEdge {
  readonly client: string;
  readonly server: string;
  readonly minutes: readonly MinuteActivity[];
}

export const changeKinds = ['deployment', 'configuration', 'restart', 'oom-kill'] as const;

/** A change at a time. */
export interface Change {
  readonly kind: (typeof changeKinds)[number];
  /** Changed node; undefined if a host changed. */
  readonly node?: string | undefined;
  readonly host?: string | undefined;
  readonly atMs: number;
  readonly title: string;
  /** Link to the change. */
  readonly link: string;
}

export const saturableResources = ['cpu', 'memory', 'disk', 'pool'] as const;

/** Saturation of a limited resource by minute: shares from 0 to 1. */
export interface Gauge {
  readonly resource: (typeof saturableResources)[number];
  readonly node?: string | undefined;
  readonly host?: string | undefined;
  readonly title: string;
  readonly link: string;
  readonly values: readonly (readonly [atMs: number, share: number])[];
}

/** A new pattern of logs, or a new error. */
export interface Novelty {
  readonly kind: 'log-pattern' | 'error';
  readonly node: string;
  readonly firstMs: number;
  /** Total count in the hour before the first occurrence, and since then. */
  readonly count: number;
  readonly title: string;
  readonly link: string;
}

export interface IncidentContext {
  /** Nodes with a symptom. */
  readonly symptoms: readonly string[];
  /** Time of detection, and end of the analyzed range. */
  readonly detectedMs: number;
  readonly untilMs: number;
  /** Start of the analyzed part until `untilMs`, if the requested range is longer than what is read by the minute. */
  readonly analyzedFromMs?: number;
  readonly nodes: ReadonlyMap<string, readonly MinuteActivity[]>;
  readonly edges: readonly ContextEdge[];
  /** Hosts of each node's instances, with the activity on each host. */
  readonly hosts: ReadonlyMap<string, ReadonlyMap<string, readonly MinuteActivity[]>>;
  readonly changes: readonly Change[];
  readonly gauges: readonly Gauge[];
  readonly novelties: readonly Novelty[];
}

/** Returns the display name of a node: cart for `service:cart`. */
export const getNodeDisplayName = (node: string): string => node.slice(node.indexOf(':') + 1);
