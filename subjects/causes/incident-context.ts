/** What is known around a symptom, by the minute: all that causes are judged by. */
import type { MinuteCounts } from '../services/comparison.ts';

export const minuteMs = 60_000;

/** What was counted in one minute of a service, or of the calls of an edge. */
export interface Minute extends MinuteCounts {
  readonly atMs: number;
  /** Nanoseconds of all its requests. */
  readonly durationSum: number;
}

/** Calls of one node to another, as the caller saw them. */
export interface ContextEdge {
  readonly client: string;
  readonly server: string;
  readonly minutes: readonly Minute[];
}

export const changeKinds = ['deployment', 'configuration', 'restart', 'oom-kill'] as const;

/** Something that happened at a time. */
export interface Change {
  readonly kind: (typeof changeKinds)[number];
  /** The node that it happened to; undefined where it happened to a host. */
  readonly node?: string | undefined;
  readonly host?: string | undefined;
  readonly atMs: number;
  readonly title: string;
  /** Where it is shown. */
  readonly link: string;
}

export const resources = ['cpu', 'memory', 'disk', 'pool'] as const;

/** How full something was that has an end, by the minute: shares from 0 to 1. */
export interface Gauge {
  readonly resource: (typeof resources)[number];
  readonly node?: string | undefined;
  readonly host?: string | undefined;
  readonly title: string;
  readonly link: string;
  readonly values: readonly (readonly [atMs: number, share: number])[];
}

/** A pattern of logs, or an error, that was not there before. */
export interface Novelty {
  readonly kind: 'log-pattern' | 'error';
  readonly node: string;
  readonly firstMs: number;
  /** In the hour before it was first seen, of all; and since then. */
  readonly count: number;
  readonly title: string;
  readonly link: string;
}

export interface IncidentContext {
  /** Nodes at which something was seen. */
  readonly symptoms: readonly string[];
  /** When it was noticed, and up to when is looked. */
  readonly noticedMs: number;
  readonly untilMs: number;
  readonly nodes: ReadonlyMap<string, readonly Minute[]>;
  readonly edges: readonly ContextEdge[];
  /** Hosts that instances of a node run on, with what each was asked. */
  readonly hosts: ReadonlyMap<string, ReadonlyMap<string, readonly Minute[]>>;
  readonly changes: readonly Change[];
  readonly gauges: readonly Gauge[];
  readonly novelties: readonly Novelty[];
}

/** What people call a node: `service:cart` is cart. */
export const nodeName = (node: string): string => node.slice(node.indexOf(':') + 1);
