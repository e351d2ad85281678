/** Alerts that the platform raises about itself, as they are told and as they are shown. */
import { type AlertSeverity, AlertTransition } from '../../schemas/alerts.ts';
import type { NotificationChannel } from '../../schemas/resources/notification-channel.ts';
import type { ChannelHealth } from '../../schemas/resources/notification-delivery.ts';
import type { OnCallGap } from '../../schemas/resources/on-call-gap.ts';
import type { PlatformAlert, PlatformAlertKind } from '../../schemas/resources/platform-alert.ts';
import type { SyntheticSuspect } from '../../schemas/resources/synthetic-notification.ts';
import type { ActiveAlert } from './history.ts';

/** The rule that alerts of the platform name. */
export const platformRuleId = 'platform';

/** The label by which an alert says which channel fails: it is told to others. */
export const failingChannelLabel = 'failing_channel';

/** What an alert of the platform is about. */
export interface AboutPlatform {
  readonly kind: string;
  readonly alertId: string;
  readonly ruleName: string;
  readonly severity: AlertSeverity;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface Declared {
  readonly alertname: string;
  readonly severity: AlertSeverity;
  readonly summary: string;
}

const declared: Readonly<Record<PlatformAlertKind, Declared>> = {
  'rules-not-evaluated': {
    alertname: 'PlatformRulesNotEvaluated',
    severity: 'critical',
    summary: 'Alert rules are not evaluated',
  },
  'detections-late': {
    alertname: 'PlatformDetectionsLate',
    severity: 'error',
    summary: 'Detection rules see records late',
  },
  'records-late': { alertname: 'PlatformRecordsLate', severity: 'error', summary: 'Records land late' },
};

/** An alert of the platform, by its kind. */
export const aboutKind = (kind: PlatformAlertKind, reason: string): AboutPlatform => {
  const { alertname, severity, summary } = declared[kind];
  return {
    kind,
    alertId: `platform-${kind}`,
    ruleName: summary,
    severity,
    labels: { alertname, severity, origin: 'platform' },
    annotations: { summary, description: reason },
  };
};

/** The alert that says that a notification channel fails. */
export const aboutChannel = (id: string, name: string, error: string): AboutPlatform => ({
  kind: 'channel-failing',
  alertId: `notification-channel-${id}`,
  ruleName: 'Notification channel fails',
  severity: 'error',
  labels: {
    alertname: 'NotificationChannelFailing',
    severity: 'error',
    origin: 'platform',
    channel: name.slice(0, 256),
    [failingChannelLabel]: id,
  },
  annotations: { summary: `The notification channel ${name} does not deliver`, description: error.slice(0, 1000) },
});

/** Why the alert of a channel fires. */
export const channelReason = (name: string, error: string): string =>
  `the last attempts of the notification channel ${name.slice(0, 256)} failed: ${error.slice(0, 1000)}`;

/** The alert that says that nobody is on call in a schedule soon. */
export const aboutGap = (
  scheduleId: string,
  { name, reason, ...gap }: Omit<OnCallGap, 'startedAt'>,
): AboutPlatform => ({
  kind: 'on-call-gap',
  alertId: `on-call-gap-${scheduleId}`,
  ruleName: 'Nobody is on call',
  severity: 'warning',
  labels: {
    alertname: 'OnCallGap',
    severity: 'warning',
    origin: 'platform',
    schedule: name.slice(0, 256),
    reason,
  },
  annotations: { summary: `Nobody is on call in ${name} soon`, description: gapReason({ name, reason, ...gap }) },
});

const gapReasonTexts: Readonly<Record<string, string>> = {
  'no-one': 'no layer has anybody',
  restricted: 'restrictions leave it out',
  left: 'who would be has left',
  unreachable: 'who would be is kept out of the organization',
};

/** Why the alert of a gap fires. */
export const gapReason = ({ name, reason, from, to }: Omit<OnCallGap, 'startedAt'>): string =>
  `nobody is on call in ${name.slice(0, 256)} from ${from} to ${to}: ${gapReasonTexts[reason] ?? reason}`;

/** The alert that says that a location of synthetic checks has no vote. */
export const aboutSuspect = (id: string, { name, reason }: Omit<SyntheticSuspect, 'startedAt'>): AboutPlatform => ({
  kind: 'suspect-location',
  alertId: `suspect-location-${id}`,
  ruleName: 'Location is suspect',
  severity: 'warning',
  labels: {
    alertname: 'SyntheticLocationSuspect',
    severity: 'warning',
    origin: 'platform',
    location: id,
    location_name: name.slice(0, 256),
    reason,
  },
  annotations: {
    summary: `The location ${name} has no vote on synthetic checks`,
    description: suspectReason({ name, reason }),
  },
});

const suspectReasonTexts: Readonly<Record<SyntheticSuspect['reason'], string>> = {
  silent: 'was not heard of for three intervals of its checks',
  differs: 'fails more than half of the checks that other locations pass',
};

/** Why the alert of a location fires. */
export const suspectReason = ({ name, reason }: Omit<SyntheticSuspect, 'startedAt'>): string =>
  `${name.slice(0, 256)} ${suspectReasonTexts[reason]}: its results say nothing of them`;

/** The alerts of locations that have no vote. */
export const activeSuspectAlerts = (
  suspects: readonly Named<SyntheticSuspect>[],
  nowMs: number,
): ActivePlatformAlert[] =>
  suspects.map(({ id, ...suspect }) => {
    const { startedAt } = suspect;
    return activeAlert(
      aboutSuspect(id, suspect),
      { reason: suspectReason(suspect), since: startedAt, startedAt },
      nowMs,
    );
  });

/** The alerts of schedules in which nobody is on call soon. */
export const activeGapAlerts = (gaps: readonly Named<OnCallGap>[], nowMs: number): ActivePlatformAlert[] =>
  gaps.map(({ id, ...gap }) =>
    activeAlert(aboutGap(id, gap), { reason: gapReason(gap), since: gap.startedAt, startedAt: gap.startedAt }, nowMs),
  );

/** The transition that begins or ends an alert of the platform. Equal for the same alert, whichever process tells it. */
export const platformTransition = (
  tenantId: string,
  about: AboutPlatform,
  { reason, startedAt }: Pick<PlatformAlert, 'reason' | 'startedAt'>,
  /** Present where it ends. */
  ended?: { readonly atMs: number; readonly reason: string },
): AlertTransition => {
  const startedAtMs = Date.parse(startedAt);
  const { alertId, ruleName, severity, labels, annotations } = about;
  return AlertTransition.parse({
    tenantId,
    alertId,
    ruleId: platformRuleId,
    ruleVersion: 1,
    value: null,
    ruleName,
    severity,
    labels,
    annotations,
    id: `${alertId}-${startedAtMs}-${ended ? 'end' : 'begin'}`,
    from: ended ? 'firing' : 'inactive',
    to: ended ? 'inactive' : 'firing',
    startedAtMs,
    atMs: ended?.atMs ?? startedAtMs,
    ...(ended && { endedAtMs: ended.atMs }),
    reason: ended?.reason ?? reason,
  });
};

/** An alert of the platform as alerts of rules are shown. */
export interface ActivePlatformAlert extends ActiveAlert {
  readonly kind: string;
  readonly ruleName: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const activeAlert = (
  { kind, alertId, ruleName, severity, labels, annotations }: AboutPlatform,
  { reason, since, startedAt }: Pick<PlatformAlert, 'reason' | 'since' | 'startedAt'>,
  nowMs: number,
): ActivePlatformAlert => ({
  kind,
  ruleId: platformRuleId,
  ruleName,
  alertId,
  projectId: '',
  labels,
  annotations: { ...annotations },
  state: 'firing',
  severity,
  value: null,
  reason,
  error: '',
  evaluatedMs: nowMs,
  sinceMs: Date.parse(since),
  startedAtMs: Date.parse(startedAt),
  durationMs: 0,
  lateMs: 0,
  groups: 1,
  firing: 1,
});

/** A stored alert of the platform as it stands. */
export const activePlatformAlert = (kind: PlatformAlertKind, alert: PlatformAlert, nowMs: number) =>
  activeAlert(aboutKind(kind, alert.reason), alert, nowMs);

type Named<Fields> = Fields & { readonly id: string };

/** The alerts of channels that fail. One that is deleted or disabled is tried no more, and fails no more. */
export const activeChannelAlerts = (
  channels: readonly Named<Pick<NotificationChannel, 'name' | 'enabled'>>[],
  healths: readonly Named<ChannelHealth>[],
  nowMs: number,
): ActivePlatformAlert[] => {
  const enabled = new Map(channels.flatMap((channel) => (channel.enabled ? [[channel.id, channel.name]] : [])));
  return healths.flatMap(({ id, failingSince, lastError }) => {
    const name = enabled.get(id);
    if (name === undefined || failingSince === null) return [];
    const reason = channelReason(name, lastError ?? '');
    return activeAlert(
      aboutChannel(id, name, lastError ?? ''),
      { reason, since: failingSince, startedAt: failingSince },
      nowMs,
    );
  });
};
