/** A notification as channels tell it: Alertmanager's payload, and a title and a text for people. */
import type { Notification } from '../../schemas/notifications.ts';
import { parseTemplate } from './template.ts';

/** Alertmanager's payload, version 4, and what it has not: `isTest` and the value of each alert. */
export interface Payload {
  readonly version: '4';
  readonly groupKey: string;
  readonly truncatedAlerts: number;
  readonly status: 'firing' | 'resolved';
  readonly receiver: string;
  readonly groupLabels: Readonly<Record<string, string>>;
  readonly commonLabels: Readonly<Record<string, string>>;
  readonly commonAnnotations: Readonly<Record<string, string>>;
  readonly externalURL: string;
  readonly alerts: readonly {
    readonly status: 'firing' | 'resolved';
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly startsAt: string;
    /** As Alertmanager writes it: the year 1 for none. */
    readonly endsAt: string;
    readonly generatorURL: string;
    readonly fingerprint: string;
    readonly value: number | null;
    readonly isTest: boolean;
  }[];
  readonly notificationReason: string;
  readonly isTest: boolean;
}

/** What a channel tells. */
export interface ChannelMessage {
  /** Equal in every attempt. */
  readonly id: string;
  /** Equal for every notification of a group: what services join by. */
  readonly groupKey: string;
  readonly title: string;
  readonly text: string;
  readonly isTest: boolean;
  readonly status: 'firing' | 'resolved';
  /** All alerts ended before anything was told of them. */
  readonly isOverAtFirst: boolean;
  readonly severity: string;
  readonly link: string;
  readonly atMs: number;
  readonly payload: Payload;
}

export interface MessageTemplates {
  readonly title: string;
  readonly text: string;
}

export const usualTemplates: MessageTemplates = {
  title:
    '{{#isFiring}}[FIRING:{{firing}}]{{/isFiring}}{{^isFiring}}[RESOLVED:{{resolved}}]{{/isFiring}} {{name}}{{#groupText}} ({{groupText}}){{/groupText}}',
  text: '{{#alerts}}{{statusText}}: {{labels.alertname}}{{#annotations.summary}} – {{annotations.summary}}{{/annotations.summary}}\n{{#annotations.description}}{{annotations.description}}\n{{/annotations.description}}{{#labelsText}}{{labelsText}}\n{{/labelsText}}{{#value}}value {{value}}, {{/value}}since {{startsAt}}{{#endsAt}}, until {{endsAt}}{{/endsAt}}\n\n{{/alerts}}{{#truncatedAlerts}}and {{truncatedAlerts}} more alerts\n{{/truncatedAlerts}}{{link}}',
};

const never = '0001-01-01T00:00:00Z';
const timeOf = (ms: number | undefined): string => (ms === undefined ? never : new Date(ms).toISOString());

const payloadOf = (notification: Notification, publicUrl: string): Payload => ({
  version: '4',
  ...{ groupKey: notification.groupKey, truncatedAlerts: notification.truncatedAlerts, status: notification.status },
  ...{ receiver: notification.receiver, groupLabels: notification.groupLabels },
  ...{ commonLabels: notification.commonLabels, commonAnnotations: notification.commonAnnotations },
  externalURL: publicUrl,
  alerts: notification.alerts.map((alert) => ({
    ...{ status: alert.status, labels: alert.labels, annotations: alert.annotations },
    startsAt: timeOf(alert.startsAtMs),
    endsAt: timeOf(alert.endsAtMs),
    generatorURL: publicUrl === '' ? '' : `${publicUrl}/alerts/rules/${encodeURIComponent(alert.ruleId)}`,
    fingerprint: alert.alertId,
    value: alert.value,
    isTest: alert.isTest === true,
  })),
  notificationReason: notification.reason,
  isTest: notification.isTest === true,
});

const severities = ['critical', 'error', 'warning', 'info'];

const severityOf = ({ alerts }: Notification): string =>
  severities.find((severity) => alerts.some(({ labels }) => labels['severity'] === severity)) ?? 'error';

const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .filter(([name]) => name !== 'alertname')
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** What templates may name. */
const valuesOf = (notification: Notification, payload: Payload): object => ({
  ...payload,
  ...{ firing: notification.firing, resolved: notification.resolved, isFiring: notification.status === 'firing' },
  name: notification.commonLabels['alertname'] ?? notification.groupLabels['alertname'] ?? 'alerts',
  groupText: labelsText(notification.groupLabels),
  link: payload.externalURL === '' ? '' : `${payload.externalURL}/alerts`,
  alerts: payload.alerts.map((alert, index) => ({
    ...alert,
    statusText: alert.status === 'firing' ? 'Firing' : 'Resolved',
    labelsText: labelsText(alert.labels),
    endsAt: notification.alerts[index]?.endsAtMs === undefined ? '' : alert.endsAt,
  })),
});

/** Renders it. `publicUrl` is empty where the installation has none. Throws `TemplateError`. */
export const messageOf = (
  notification: Notification,
  { templates = {}, publicUrl }: { readonly templates?: Partial<MessageTemplates>; readonly publicUrl: string },
): ChannelMessage => {
  const payload = payloadOf(notification, publicUrl.replace(/\/$/, ''));
  const values = valuesOf(notification, payload);
  const render = (text: string, most: number): string => parseTemplate(text).render(values, most);
  const isTest = notification.isTest === true;
  const mark = isTest ? '[TEST] ' : '';
  const line = render(templates.title || usualTemplates.title, 1000).replaceAll(/\p{Cc}+/gu, ' ');
  const { id, groupKey, status, atMs, reason } = notification;
  return {
    ...{ id, groupKey, status, atMs, payload, isTest },
    title: mark + line,
    text: (isTest ? 'This is a test.\n\n' : '') + render(templates.text || usualTemplates.text, 20_000).trim(),
    isOverAtFirst: reason === 'first' && status === 'resolved',
    severity: severityOf(notification),
    link: payload.externalURL === '' ? '' : `${payload.externalURL}/alerts`,
  };
};
