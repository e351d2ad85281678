/**
 * Events on the platform and in the observed systems: deployments, alert transitions, incidents. All publishers use one
 * schema.
 */
import { z } from 'zod';
import { Actor } from './resources/audit-record.ts';

/**
 * Kinds of events on the topic. `deployment`: a version was deployed. `custom`: a user or a program added the event.
 * The processors of the same names publish the others: alert transitions, the beginning or end of an anomaly, incidents,
 * security signals, and state changes of synthetic checks.
 */
export const eventKinds = ['deployment', 'custom', 'alert', 'anomaly', 'incident', 'signal', 'check'] as const;

export const eventSeverities = ['info', 'warning', 'error', 'critical'] as const;

/** A link that is safe to open in a browser. */
export const EventLink = z.union([z.url({ protocol: /^https?$/, hostname: /./ }).max(2048), z.literal('')]);

/**
 * An event. Publishing an event again with the same ID has no effect: IDs are functions of the subject of the event.
 */
export const PlatformEvent = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().describe('Project ID; empty for the entire organization'),
  id: z.string().min(1).max(256).describe('ID, unique within the organization and kind'),
  kind: z.enum(eventKinds),
  at: z.iso.datetime().describe('Time of the event'),
  severity: z.enum(eventSeverities),
  title: z.string().min(1).max(256),
  text: z.string().max(8192),
  service: z.string().max(512).describe('Service name; empty if the event concerns no service'),
  environment: z.string().max(512),
  tags: z.record(z.string().min(1).max(128), z.string().max(512)),
  link: EventLink,
  /** Contains no names of people: they stay in stores that support erasure. */
  actor: Actor.describe('User or program that created the event; system for processors'),
  details: z
    .record(z.string(), z.unknown())
    .describe('Details specific to the kind; for a deployment: version, commit'),
});
export type PlatformEvent = z.output<typeof PlatformEvent>;

/** Returns labels as the tags of an event. */
export const toEventTags = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name.slice(0, 128), value.slice(0, 512)]));
