/** Registry of data sources. All queries read the properties of a data source from its definition. */
import { agents } from './agents.ts';
import type { SignalDefinition, SignalRecords } from './definition.ts';
import { detections } from './detections.ts';
import { llm } from './llm.ts';
import { logPatterns } from './log-patterns.ts';
import { logs } from './logs.ts';
import { metrics } from './metrics.ts';
import { rum } from './rum.ts';
import { synthetics } from './synthetics.ts';
import { threats } from './threats.ts';
import { traces } from './traces.ts';
import { vulnerabilities } from './vulnerabilities.ts';

const registry = {
  logs,
  traces,
  metrics,
  detections,
  synthetics,
  rum,
  'log-patterns': logPatterns,
  llm,
  agents,
  threats,
  vulnerabilities,
} as const satisfies Readonly<Record<string, SignalDefinition>>;
type Registry = typeof registry;

type SignalsWith<Part> = {
  [Name in keyof Registry]: Registry[Name] extends Part ? Name : never;
}[keyof Registry];

/** Data sources that can be read and used in conditions. */
export type ReadSignal = keyof Registry;
/** Data sources with rows and aggregates. */
export type QuerySignal = SignalsWith<{ readonly queryable: SignalRecords }>;
/** Data sources whose streamed records can be searched. */
export type SearchSignal = SignalsWith<{ readonly streamSearch: object }>;

/** Streamed records that can be searched, by data source. */
export type SearchedRecords = {
  readonly [Name in SearchSignal]: Registry[Name] extends { streamSearch: { words(record: infer View): unknown } }
    ? View
    : never;
};

/** Definitions by data source. */
export const signalDefinitions: Readonly<Record<ReadSignal, SignalDefinition>> = registry;

/** Returns the records of a data source with rows and aggregates. */
export const getSignalRecords = (signal: QuerySignal): SignalRecords => registry[signal].queryable;

/** Names of data sources with rows and aggregates. */
export const querySignals = (Object.keys(registry) as ReadSignal[]).filter(
  (name): name is QuerySignal => 'queryable' in registry[name],
);
export type { SignalDefinition } from './definition.ts';
