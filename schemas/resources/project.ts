import { z } from 'zod';
import { BrowserPrivacy } from '../browser-privacy.ts';
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

/** What happens to secrets in the telemetry of a project: findings are reported, or secrets are also replaced. */
export const secretHandlings = ['report', 'redact'] as const;

const severities = ['info', 'warning', 'critical'] as const;

/** Mail servers accept at most 64 characters before the @. */
const MailAddress = z
  .email()
  .max(254)
  .regex(/^[^@]{1,64}@/, 'has more than 64 characters before the @');

/** Email recipients of a project's events. */
export const ProjectNotifications = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether emails are sent for this project'),
  recipients: z.array(MailAddress).max(50).default([]).describe('Email recipients; empty to send no email'),
  events: z
    .array(z.enum(projectEvents))
    .max(projectEvents.length)
    .default(['alert-firing', 'alert-resolved', 'incident-opened', 'incident-resolved', 'quota-near']),
  minimumSeverity: z
    .enum(severities)
    .default('warning')
    .describe('Minimum severity of alerts and incidents for emails'),
});
export type ProjectNotifications = z.output<typeof ProjectNotifications>;

/** Fields of a project that callers write. */
export const ProjectFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  browserPrivacy: BrowserPrivacy.optional().describe(
    'Personal data of browser telemetry that is stored; by default none',
  ),
  secrets: z
    .enum(secretHandlings)
    .optional()
    .describe(
      'report: secrets in telemetry are reported; redact: they are also replaced by `[redacted:rule:id]` before they are stored. Default: report',
    ),
});

/** The scope of APM data. */
export const Project = ProjectFields.extend({
  /** License key that `rotate-key` rotates; absent until the first rotation. */
  ingestKeyId: z.string().optional(),
  /** Absent until configured. */
  notifications: ProjectNotifications.optional(),
});
export type Project = z.output<typeof Project>;

export const projects = defineCollection<Project>({ name: 'projects', unique: [['name']] });
