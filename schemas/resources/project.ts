import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

const projectEvents = [
  'alert-firing',
  'alert-resolved',
  'incident-opened',
  'incident-resolved',
  'slo-burning',
  'check-failing',
  'check-recovered',
  'quota-near',
  'weekly-summary',
] as const;
export type ProjectEvent = (typeof projectEvents)[number];

const severities = ['info', 'warning', 'critical'] as const;

/** Mail servers take no more than 64 characters before the @. */
const MailAddress = z
  .email()
  .max(254)
  .regex(/^[^@]{1,64}@/, 'has more than 64 characters before the @');

/** Whom a project's events are mailed to. */
export const ProjectNotifications = z.strictObject({
  enabled: z.boolean().default(true).describe('false sends no mail for this project'),
  recipients: z.array(MailAddress).max(50).default([]).describe('If empty, no mail is sent'),
  events: z
    .array(z.enum(projectEvents))
    .max(projectEvents.length)
    .default(['alert-firing', 'alert-resolved', 'incident-opened', 'incident-resolved', 'quota-near']),
  minimumSeverity: z.enum(severities).default('warning').describe('Alerts and incidents below it are not mailed'),
});
export type ProjectNotifications = z.output<typeof ProjectNotifications>;

/** What callers set of a project. */
export const ProjectFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
});

/** The scope through which APM data is read. */
export const Project = ProjectFields.extend({
  /** The license key that `rotate-key` rotates; absent until there is one. */
  ingestKeyId: z.string().optional(),
  /** Absent until they are set. */
  notifications: ProjectNotifications.optional(),
});
export type Project = z.output<typeof Project>;

export const projects = defineCollection<Project>({ name: 'projects', unique: [['name']] });
