/** The signals of which something can be asked. All that asks takes what is special about one from its definition. */
import type { SignalDefinition, SignalRecords } from './definition.ts';
import { detections } from './detections.ts';
import { logPatterns } from './log-patterns.ts';
import { logs } from './logs.ts';
import { metrics } from './metrics.ts';
import { synthetics } from './synthetics.ts';
import { traces } from './traces.ts';

const registry = {
  logs,
  traces,
  metrics,
  detections,
  synthetics,
  'log-patterns': logPatterns,
} as const satisfies Readonly<Record<string, SignalDefinition>>;
type Registry = typeof registry;

type With<Part> = {
  [Name in keyof Registry]: Registry[Name] extends Part ? Name : never;
}[keyof Registry];

/** What can be read, and what conditions can be of. */
export type ReadSignal = keyof Registry;
/** What rows and figures can be asked of. */
export type QuerySignal = With<{ readonly queryable: SignalRecords }>;
/** What searches can test as it passes. */
export type SearchSignal = With<{ readonly passing: object }>;

/** Records that can be searched as they pass, by the signal that they belong to. */
export type Searched = {
  readonly [Name in SearchSignal]: Registry[Name] extends { passing: { words(record: infer View): unknown } }
    ? View
    : never;
};

/** The definition of a signal. */
export const signals: Readonly<Record<ReadSignal, SignalDefinition>> = registry;

/** Of a signal of which rows and figures can be asked. */
export const recordsOf = (signal: QuerySignal): SignalRecords => registry[signal].queryable;

/** Names of the signals of which rows and figures can be asked. */
export const querySignals = (Object.keys(registry) as ReadSignal[]).filter(
  (name): name is QuerySignal => 'queryable' in registry[name],
);
export type { SignalDefinition } from './definition.ts';
