/** What happens on the platform and to what it observes: deployments, transitions of alerts, incidents. One shape for all that publish them. */
import { z } from 'zod';
import { Actor } from './resources/audit-record.ts';

/**
 * Kinds of events on the topic. `deployment`: a version was brought out. `custom`: added by a user or a program. The others come from
 * the processors of these names: an alert changed its state, an anomaly began or ended, an incident, a signal of the SIEM, a synthetic
 * check changed its state.
 */
export const eventKinds = ['deployment', 'custom', 'alert', 'anomaly', 'incident', 'signal', 'check'] as const;

export const eventSeverities = ['info', 'warning', 'error', 'critical'] as const;

/** A link that a browser may follow. */
export const EventLink = z.union([z.url({ protocol: /^https?$/, hostname: /./ }).max(2048), z.literal('')]);

/** An event. One that is published again under its id is there once: ids are functions of what the event is about. */
export const PlatformEvent = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().describe('Empty for the whole organization'),
  id: z.string().min(1).max(256).describe('Unique in the organization and kind'),
  kind: z.enum(eventKinds),
  at: z.iso.datetime().describe('When it happened'),
  severity: z.enum(eventSeverities),
  title: z.string().min(1).max(256),
  text: z.string().max(8192),
  service: z.string().max(512).describe('Empty where it is about none'),
  environment: z.string().max(512),
  tags: z.record(z.string().min(1).max(128), z.string().max(512)),
  link: EventLink,
  /** Names of people are not in it: they stay where they can be erased. */
  actor: Actor.describe('Who or what made it; system for processors'),
  details: z
    .record(z.string(), z.unknown())
    .describe('What only events of the kind have; of a deployment: version, commit'),
});
export type PlatformEvent = z.output<typeof PlatformEvent>;

/** Labels as the tags of an event. */
export const eventTags = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name.slice(0, 128), value.slice(0, 512)]));
