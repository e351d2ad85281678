/** Alerts that the platform raises about itself, for notifications and for display. */
import { type AlertSeverity, AlertTransition } from '../../schemas/alerts.ts';
import type { NotificationChannel } from '../../schemas/resources/notification-channel.ts';
import type { ChannelHealth } from '../../schemas/resources/notification-delivery.ts';
import type { OnCallGap } from '../../schemas/resources/on-call-gap.ts';
import type { PlatformAlert, PlatformAlertKind } from '../../schemas/resources/platform-alert.ts';
import type { SyntheticSuspect } from '../../schemas/resources/synthetic-notification.ts';
import type { ActiveAlert } from './history.ts';

/** Rule ID of platform alerts. */
export const platformRuleId = 'platform';

/** Label with the ID of the failing channel. The alert about it is sent only to other channels. */
export const failingChannelLabel = 'failing_channel';

/** Subject of a platform alert. */
export interface PlatformAlertSubject {
  readonly kind: string;
  readonly alertId: string;
  readonly ruleName: string;
  readonly severity: AlertSeverity;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface AlertDeclaration {
  readonly alertname: string;
  readonly severity: AlertSeverity;
  readonly summary: string;
}

const alertDeclarations: Readonly<Record<PlatformAlertKind, AlertDeclaration>> = {
  'rules-not-evaluated': {
    alertname: 'PlatformRulesNotEvaluated',
    severity: 'critical',
    summary: 'Alert rules are not evaluated',
  },
  'detections-late': {
    alertname: 'PlatformDetectionsLate',
    severity: 'error',
    summary: 'Detection rules receive records late',
  },
  'records-late': { alertname: 'PlatformRecordsLate', severity: 'error', summary: 'Records are stored late' },
};

/** Returns the platform alert of a kind. */
export const createPlatformAlertSubject = (kind: PlatformAlertKind, reason: string): PlatformAlertSubject => {
  const { alertname, severity, summary } = alertDeclarations[kind];
  return {
    kind,
    alertId: `platform-${kind}`,
    ruleName: summary,
    severity,
    labels: { alertname, severity, origin: 'platform' },
    annotations: { summary, description: reason },
  };
};

/** Returns the alert about a failing notification channel. */
export const createChannelAlertSubject = (id: string, name: string, error: string): PlatformAlertSubject => ({
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

/** Returns the reason of a channel alert. */
export const describeChannelFailure = (name: string, error: string): string =>
  `the last attempts of the notification channel ${name.slice(0, 256)} failed: ${error.slice(0, 1000)}`;

/** Returns the alert about a schedule with nobody on call soon. */
export const createGapAlertSubject = (
  scheduleId: string,
  { name, reason, ...gap }: Omit<OnCallGap, 'startedAt'>,
): PlatformAlertSubject => ({
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
  annotations: { summary: `Nobody is on call in ${name} soon`, description: describeGap({ name, reason, ...gap }) },
});

const gapReasonTexts: Readonly<Record<string, string>> = {
  'no-one': 'no layer has a member',
  restricted: 'restrictions exclude everyone',
  left: 'the scheduled person has left',
  unreachable: 'the scheduled person has no access to the organization',
};

/** Returns the reason of a gap alert. */
export const describeGap = ({ name, reason, from, to }: Omit<OnCallGap, 'startedAt'>): string =>
  `nobody is on call in ${name.slice(0, 256)} from ${from} to ${to}: ${gapReasonTexts[reason] ?? reason}`;

/** Returns the alert about a location of synthetic checks whose results are ignored because they are not reliable. */
export const createSuspectAlertSubject = (
  id: string,
  { name, reason }: Omit<SyntheticSuspect, 'startedAt'>,
): PlatformAlertSubject => ({
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
    summary: `The location ${name} is ignored by synthetic checks`,
    description: describeSuspect({ name, reason }),
  },
});

const suspectReasonTexts: Readonly<Record<SyntheticSuspect['reason'], string>> = {
  silent: 'has sent no results for three intervals of its checks',
  differs: 'fails more than half of the checks that other locations pass',
};

/** Returns the reason of a location alert. */
export const describeSuspect = ({ name, reason }: Omit<SyntheticSuspect, 'startedAt'>): string =>
  `${name.slice(0, 256)} ${suspectReasonTexts[reason]}: its results are not reliable`;

/** Returns the alerts about locations whose results are ignored. */
export const activeSuspectAlerts = (
  suspects: readonly WithId<SyntheticSuspect>[],
  nowMs: number,
): ActivePlatformAlert[] =>
  suspects.map(({ id, ...suspect }) => {
    const { startedAt } = suspect;
    return toActivePlatformAlert(
      createSuspectAlertSubject(id, suspect),
      { reason: describeSuspect(suspect), since: startedAt, startedAt },
      nowMs,
    );
  });

/** Returns the alerts about schedules with nobody on call soon. */
export const activeGapAlerts = (gaps: readonly WithId<OnCallGap>[], nowMs: number): ActivePlatformAlert[] =>
  gaps.map(({ id, ...gap }) =>
    toActivePlatformAlert(
      createGapAlertSubject(id, gap),
      { reason: describeGap(gap), since: gap.startedAt, startedAt: gap.startedAt },
      nowMs,
    ),
  );

/**
 * Returns the transition that starts or ends a platform alert. Its ID is the same in all processes, so duplicates are
 * harmless.
 */
export const platformTransition = (
  tenantId: string,
  subject: PlatformAlertSubject,
  { reason, startedAt }: Pick<PlatformAlert, 'reason' | 'startedAt'>,
  /** Present for the end of the alert. */
  end?: { readonly atMs: number; readonly reason: string },
): AlertTransition => {
  const startedAtMs = Date.parse(startedAt);
  const { alertId, ruleName, severity, labels, annotations } = subject;
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
    id: `${alertId}-${startedAtMs}-${end ? 'end' : 'begin'}`,
    from: end ? 'firing' : 'inactive',
    to: end ? 'inactive' : 'firing',
    startedAtMs,
    atMs: end?.atMs ?? startedAtMs,
    ...(end && { endedAtMs: end.atMs }),
    reason: end?.reason ?? reason,
  });
};

/** A platform alert in the form of rule alerts. */
export interface ActivePlatformAlert extends ActiveAlert {
  readonly kind: string;
  readonly ruleName: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const toActivePlatformAlert = (
  { kind, alertId, ruleName, severity, labels, annotations }: PlatformAlertSubject,
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

/** Returns the current state of a stored platform alert. */
export const activePlatformAlert = (kind: PlatformAlertKind, alert: PlatformAlert, nowMs: number) =>
  toActivePlatformAlert(createPlatformAlertSubject(kind, alert.reason), alert, nowMs);

type WithId<Fields> = Fields & { readonly id: string };

/** Returns the alerts about failing channels. A deleted or disabled channel is not tried and does not fail. */
export const activeChannelAlerts = (
  channels: readonly WithId<Pick<NotificationChannel, 'name' | 'enabled'>>[],
  healths: readonly WithId<ChannelHealth>[],
  nowMs: number,
): ActivePlatformAlert[] => {
  const enabled = new Map(channels.flatMap((channel) => (channel.enabled ? [[channel.id, channel.name]] : [])));
  return healths.flatMap(({ id, failingSince, lastError }) => {
    const name = enabled.get(id);
    if (name === undefined || failingSince === null) return [];
    const reason = describeChannelFailure(name, lastError ?? '');
    return toActivePlatformAlert(
      createChannelAlertSubject(id, name, lastError ?? ''),
      { reason, since: failingSince, startedAt: failingSince },
      nowMs,
    );
  });
};
