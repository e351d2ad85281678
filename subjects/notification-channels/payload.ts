/** Alertmanager's payload of a notification, for compatible receivers */
import { hostname } from 'node:os';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';

type Labels = Readonly<Record<string, string>>;

/**
 * Alertmanager's payload, version 4, with additional fields: `isTest`, the value of each alert, the reason for the
 * notification, and the incident of a page
 */
export interface Payload {
  readonly version: '4';
  readonly groupKey: string;
  readonly truncatedAlerts: number;
  readonly status: 'firing' | 'resolved';
  readonly receiver: string;
  readonly groupLabels: Labels;
  readonly commonLabels: Labels;
  readonly commonAnnotations: Labels;
  readonly externalURL: string;
  readonly alerts: readonly {
    readonly status: 'firing' | 'resolved';
    readonly labels: Labels;
    readonly annotations: Labels;
    readonly startsAt: string;
    /** End of the alert; as in Alertmanager, the year 1 if there is none */
    readonly endsAt: string;
    readonly generatorURL: string;
    readonly fingerprint: string;
    readonly value: number | null;
    readonly isTest: boolean;
  }[];
  readonly notificationReason: string;
  readonly isTest: boolean;
  /** For a page: the incident, and for a person the link to acknowledge it */
  readonly incident?: {
    readonly id: string;
    readonly url: string;
    readonly acknowledgeUrl?: string;
  };
}

const fnvOffset = 0xcbf29ce484222325n;
const fnvPrime = 0x100000001b3n;
const separator = Buffer.of(255);

/**
 * Returns Alertmanager's fingerprint of labels: 64-bit FNV-1a over sorted names and values, each followed by the byte
 * 255.
 */
export const computeFingerprint = (labels: Labels): string => {
  const names = Object.keys(labels).sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  let hash = fnvOffset;
  for (const name of names)
    for (const bytes of [Buffer.from(name), separator, Buffer.from(labels[name] ?? ''), separator])
      for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * fnvPrime);
  return hash.toString(16).padStart(16, '0');
};

/**
 * Returns the base URL of links in notifications: the public URL or, as in Alertmanager, this host and the listening
 * port.
 */
export const createExternalUrl = (publicUrl: string, address: string): string => {
  if (publicUrl !== '' || address === '') return publicUrl;
  return `http://${hostname()}:${address.slice(address.lastIndexOf(':') + 1)}`;
};

const noEndTime = '0001-01-01T00:00:00Z';
const formatTime = (ms: number | undefined): string => (ms === undefined ? noEndTime : new Date(ms).toISOString());

/** Returns the path of an incident in the page. */
export const toIncidentPath = (incidentId: string): string => `/incidents?incident=${encodeURIComponent(incidentId)}`;

/** Returns the path of what generated an alert: its rule, or the incident for an alert without one. */
const toGeneratorPath = ({ ruleId }: NotifiedAlert, page: Notification['page']): string =>
  ruleId === '' && page !== undefined ? toIncidentPath(page.incidentId) : `/alerts/rules/${encodeURIComponent(ruleId)}`;

/** Returns the payload; `externalUrl` is empty if there is none. */
export const createPayload = (
  notification: Notification,
  externalUrl: string,
  acknowledgeUrl: string | undefined,
): Payload => ({
  version: '4',
  groupKey: notification.groupKey,
  truncatedAlerts: notification.truncatedAlerts,
  status: notification.status,
  receiver: notification.receiver,
  groupLabels: notification.groupLabels,
  commonLabels: notification.commonLabels,
  commonAnnotations: notification.commonAnnotations,
  externalURL: externalUrl,
  alerts: notification.alerts.map((alert) => ({
    status: alert.status,
    labels: alert.labels,
    annotations: alert.annotations,
    startsAt: formatTime(alert.startsAtMs),
    endsAt: formatTime(alert.endsAtMs),
    generatorURL: externalUrl === '' ? '' : `${externalUrl}${toGeneratorPath(alert, notification.page)}`,
    fingerprint: computeFingerprint(alert.labels),
    value: alert.value,
    isTest: alert.isTest === true,
  })),
  notificationReason: notification.reason,
  isTest: notification.isTest === true,
  ...(notification.page !== undefined && {
    incident: {
      id: notification.page.incidentId,
      url: externalUrl === '' ? '' : `${externalUrl}${toIncidentPath(notification.page.incidentId)}`,
      ...(acknowledgeUrl !== undefined && { acknowledgeUrl }),
    },
  }),
});
