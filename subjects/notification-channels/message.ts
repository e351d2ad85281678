/** The content that channels send for a notification: Alertmanager's payload, and a title and text for people */
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import { escapeMarkdown, formatDuration, formatTime } from './format-text.ts';
import { createExternalUrl, createPayload, type Payload, toIncidentPath } from './payload.ts';
import { parseTemplate } from './template.ts';

interface MessageTexts {
  readonly title: string;
  readonly text: string;
}

/** Acknowledge link of an incident: a page with a button, and the action of the button */
export interface AcknowledgeLink {
  readonly pageUrl: string;
  readonly postUrl: string;
  readonly token: string;
}

/** Content that a channel sends */
export interface ChannelMessage extends MessageTexts {
  /** Id, equal in every attempt */
  readonly id: string;
  /** Group key, equal for every notification of a group; services deduplicate by it */
  readonly groupKey: string;
  /** Title and text for Markdown: telemetry is escaped, the template is not */
  readonly markdown: MessageTexts;
  readonly isTest: boolean;
  readonly status: 'firing' | 'resolved';
  /** Whether all alerts ended before the first notification about them */
  readonly isOverAtFirst: boolean;
  /** For a page: whether somebody acknowledged the incident, which is still open */
  readonly isAcknowledged: boolean;
  readonly severity: string;
  /** Color of the severity, or of resolved alerts: `#rrggbb` */
  readonly color: string;
  /** Name of the rule, or the common name of its alerts */
  readonly name: string;
  /** Services of the alerts; empty if there are none */
  readonly service: string;
  /** Group labels, except those shown elsewhere */
  readonly groupText: string;
  /** Value and threshold of the worst alert: `2.5 s, above 1 s`; empty if there is none */
  readonly measured: string;
  /** URL of the incident, of the only alert, or of all alerts; empty if the installation has no public URL */
  readonly link: string;
  readonly linkText: 'Show incident' | 'Show alert' | 'Show alerts';
  /** For a page of a person: link to acknowledge the incident */
  readonly acknowledge?: AcknowledgeLink | undefined;
  readonly atMs: number;
  readonly payload: Payload;
}

export type MessageTemplates = MessageTexts;

const textTemplateLines = [
  '{{#alerts}}{{statusText}}: {{labels.alertname}}{{#annotations.summary}} – {{annotations.summary}}{{/annotations.summary}}',
  '{{#isOver}}It was {{/isOver}}{{#measured}}{{measured}}, {{/measured}}for {{duration}}',
  '{{#reason}}{{#isOver}}Now: {{/isOver}}{{reason}}\n{{/reason}}{{#annotations.description}}{{annotations.description}}\n{{/annotations.description}}since {{startedText}}{{#endedText}}, until {{endedText}}{{/endedText}}',
  '{{#labelsText}}{{labelsText}}\n{{/labelsText}}{{#runbook}}Runbook: {{runbook}}\n{{/runbook}}{{#runs}}Runs: {{runs}}\n{{/runs}}',
  '{{/alerts}}{{#truncatedAlerts}}and {{truncatedAlerts}} more alerts\n{{/truncatedAlerts}}{{link}}',
];

export const defaultTemplates: MessageTemplates = {
  title:
    '[{{stateText}}] {{severity}}: {{name}}{{#service}} – {{service}}{{/service}}{{#groupText}} ({{groupText}}){{/groupText}}',
  text: textTemplateLines.join('\n'),
};

const severities = ['critical', 'error', 'warning', 'info'];

const highestSeverity = ({ alerts }: Notification): string =>
  severities.find((severity) => alerts.some(({ labels }) => labels['severity'] === severity)) ??
  alerts[0]?.labels['severity'] ??
  'error';

type Labels = Readonly<Record<string, string>>;

const findService = (labels: Labels): string =>
  labels['service'] ?? labels['service.name'] ?? labels['service_name'] ?? '';

const maxServices = 3;

const describeServices = ({ alerts }: Notification): string => {
  const names = [...new Set(alerts.map(({ labels }) => findService(labels)))].filter((name) => name !== '');
  return names.length > maxServices ? `${names.length} services` : names.join(', ');
};

const formatLabels = (labels: Labels, excludedLabels: readonly string[] = ['alertname']): string =>
  Object.entries(labels)
    .filter(([name]) => !excludedLabels.includes(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** Formats a measurement: `p95 2.5 s, above 1 s`. */
const formatMeasurement = ({ held, value }: Pick<NotifiedAlert, 'held' | 'value'>): string => {
  const measurement = held?.text ? [held.measure ?? '', held.text].join(' ').trim() : '';
  const formattedValue = measurement || (value === null ? '' : `value ${value}`);
  return held?.threshold && formattedValue !== '' ? `${formattedValue}, ${held.threshold}` : formattedValue;
};

const findWorstAlert = ({ alerts }: Notification, severity: string): NotifiedAlert | undefined =>
  alerts.find(({ labels, status }) => status === 'firing' && labels['severity'] === severity) ?? alerts[0];

const firingStates: Readonly<Record<string, string>> = {
  repeated: 'STILL FIRING',
  escalated: 'ESCALATED',
  deescalated: 'DE-ESCALATED',
  acknowledged: 'ACKNOWLEDGED',
};

const formatState = ({ status, reason, firing, resolved }: Notification): string =>
  status === 'firing' ? `${firingStates[reason] ?? 'FIRING'}:${firing}` : `RESOLVED:${resolved}`;

interface MessageContext {
  readonly payload: Payload;
  readonly link: string;
  readonly timeZone: string;
}

/** Returns the values of an alert that templates can reference. */
const getAlertValues = (
  { reason, atMs }: Notification,
  alert: NotifiedAlert,
  payloadAlert: Payload['alerts'][number] | undefined,
  { timeZone, externalUrl }: { readonly timeZone: string; readonly externalUrl: string },
) => {
  const { status, value, startsAtMs, endsAtMs, labels, annotations } = alert;
  const isOver = status === 'resolved';
  const firing = reason === 'repeated' ? 'Still firing' : 'Firing';
  return {
    ...payloadAlert,
    // As text, because the number 0 counts as absent.
    value: value === null ? '' : String(value),
    endsAt: endsAtMs === undefined ? '' : payloadAlert?.endsAt,
    statusText: isOver ? 'Resolved' : firing,
    isOver,
    reason: alert.reason ?? '',
    labelsText: formatLabels(labels),
    measured: formatMeasurement(alert),
    valueText: alert.held?.text ?? '',
    thresholdText: alert.held?.threshold ?? '',
    duration: formatDuration((endsAtMs ?? atMs) - startsAtMs),
    startedText: formatTime(startsAtMs, timeZone),
    endedText: endsAtMs === undefined ? '' : formatTime(endsAtMs, timeZone),
    runbook: annotations['runbook_url'] ?? '',
    // Path in this installation, set for synthetic checks.
    runs: annotations['runs']?.startsWith('/') === true ? `${externalUrl}${annotations['runs']}` : '',
  };
};

type Facts = Pick<ChannelMessage, 'name' | 'service' | 'groupText' | 'severity' | 'measured'>;

const extractFacts = (notification: Notification): Facts => {
  const { commonLabels, groupLabels } = notification;
  const severity = highestSeverity(notification);
  const alert = findWorstAlert(notification, severity);
  return {
    severity,
    service: describeServices(notification),
    measured: alert === undefined ? '' : formatMeasurement(alert),
    name: commonLabels['alertname'] ?? groupLabels['alertname'] ?? 'alerts',
    groupText: formatLabels(groupLabels, ['alertname', 'severity', 'service', 'service.name', 'service_name']),
  };
};

/** Returns the values that templates can reference. */
const getTemplateValues = (
  notification: Notification,
  facts: Facts,
  { payload, link, timeZone }: MessageContext,
): object => ({
  ...payload,
  ...facts,
  firing: notification.firing,
  resolved: notification.resolved,
  isFiring: notification.status === 'firing',
  link,
  stateText: formatState(notification),
  alerts: notification.alerts.map((alert, index) =>
    getAlertValues(notification, alert, payload.alerts[index], { timeZone, externalUrl: payload.externalURL }),
  ),
});

export interface MessageOptions {
  readonly templates?: Partial<MessageTemplates>;
  /** Public URL; empty if the installation has none, in which case there are no links */
  readonly publicUrl: string;
  /** Address on which the server listens */
  readonly address?: string | undefined;
  /** Time zone of displayed times */
  readonly timeZone?: string | undefined;
  /** For a page of a person: link to acknowledge it */
  readonly acknowledge?: AcknowledgeLink | undefined;
}

const resolvedColor = '#2eb67d';
const severityColors: Readonly<Record<string, string>> = {
  critical: '#d40e0d',
  error: '#e8590c',
  warning: '#f2a600',
  info: '#1d6fdc',
};

/** Returns the path of the incident, of the only alert, or of all alerts. */
const chooseLink = ({
  page,
  alerts,
  truncatedAlerts,
}: Notification): Pick<ChannelMessage, 'linkText'> & { path: string } => {
  if (page !== undefined) return { path: toIncidentPath(page.incidentId), linkText: 'Show incident' };
  const [alert, other] = alerts;
  return alert === undefined || other !== undefined || truncatedAlerts > 0
    ? { path: '/alerts', linkText: 'Show alerts' }
    : { path: `/alerts?alert=${encodeURIComponent(alert.alertId)}`, linkText: 'Show alert' };
};

/** Renders a message. Throws `TemplateError`. */
export const renderMessage = (
  notification: Notification,
  { templates = {}, publicUrl, address = '', timeZone = 'UTC', acknowledge: acknowledgeLink }: MessageOptions,
): ChannelMessage => {
  const base = publicUrl.replace(/\/$/, '');
  const payload = createPayload(notification, createExternalUrl(base, address), acknowledgeLink?.pageUrl);
  const { path, linkText } = chooseLink(notification);
  const link = base === '' ? '' : `${base}${path}`;
  const facts = extractFacts(notification);
  const values = getTemplateValues(notification, facts, { payload, link, timeZone });
  const isTest = notification.isTest === true;
  const title = parseTemplate(templates.title || defaultTemplates.title);
  const body = parseTemplate(templates.text || defaultTemplates.text);
  const acknowledge = acknowledgeLink === undefined ? '' : `\n\nAcknowledge: ${acknowledgeLink.pageUrl}`;
  const render = (quote?: (value: string) => string): MessageTexts => ({
    title: (isTest ? '[TEST] ' : '') + title.render(values, 1000, quote).replaceAll(/\p{Cc}+/gu, ' '),
    text: (isTest ? 'This is a test.\n\n' : '') + body.render(values, 20_000, quote).trim() + acknowledge,
  });
  const { id, groupKey, status, atMs, reason } = notification;
  return {
    id,
    groupKey,
    status,
    atMs,
    payload,
    isTest,
    link,
    linkText,
    acknowledge: acknowledgeLink,
    ...facts,
    color:
      status === 'resolved' ? resolvedColor : (severityColors[facts.severity] ?? (severityColors['error'] as string)),
    ...render(),
    get markdown() {
      return render(escapeMarkdown);
    },
    isOverAtFirst: reason === 'first' && status === 'resolved',
    isAcknowledged: reason === 'acknowledged',
  };
};
