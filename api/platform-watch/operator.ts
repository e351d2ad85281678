/**
 * Notifies the operator of the installation through the channels in the settings, without the bus and its consumers.
 */
import { createHash } from 'node:crypto';
import { openOutbound } from '../../runtime/outbound.ts';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import type { Settings } from '../../schemas/settings.ts';
import { attemptDelivery } from '../../subjects/notification-channels/deliver.ts';
import { renderMessage } from '../../subjects/notification-channels/message.ts';
import { findChannelType } from '../../subjects/notification-channels/registry.ts';

/** A problem of the installation. */
export interface Problem {
  readonly name: string;
  readonly text: string;
  readonly sinceMs: number;
  /** End of the problem; undefined while it is ongoing */
  readonly endedMs?: number | undefined;
}

interface OperatorPorts {
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<Settings, 'OPERATOR_WEBHOOK_URL' | 'OPERATOR_MAIL' | 'PUBLIC_URL'>;
}

const toAlert = ({ name, text, sinceMs, endedMs }: Problem): NotifiedAlert => ({
  alertId: name,
  ruleId: 'platform',
  status: endedMs === undefined ? 'firing' : 'resolved',
  value: null,
  labels: { alertname: 'OiqStalled', severity: 'critical', component: name },
  annotations: { summary: `${name} ${text}` },
  startsAtMs: sinceMs,
  ...(endedMs !== undefined && { endsAtMs: endedMs }),
});

const toNotification = (problems: readonly Problem[], nowMs: number): Notification => {
  const alerts = problems.map(toAlert);
  const firingCount = alerts.filter(({ status }) => status === 'firing').length;
  const digest = createHash('sha256').update(JSON.stringify(alerts)).digest('hex').slice(0, 24);
  return {
    tenantId: '-',
    id: `operator-${digest}`,
    channelId: 'operator',
    receiver: 'operator',
    groupKey: 'platform',
    groupLabels: { alertname: 'OiqStalled' },
    commonAnnotations: {},
    alerts,
    atMs: nowMs,
    commonLabels: { alertname: 'OiqStalled', severity: 'critical' },
    status: firingCount > 0 ? 'firing' : 'resolved',
    reason: firingCount > 0 ? 'firing' : 'resolved',
    firing: firingCount,
    resolved: alerts.length - firingCount,
    truncatedAlerts: 0,
  };
};

/** A notification channel to the operator. */
export interface OperatorChannel {
  readonly type: string;
  /** Returns whether the notification was accepted; also true for a permanent failure, which is logged. */
  notify(problems: readonly Problem[]): Promise<boolean>;
}

/** Returns the configured channels. */
export const createOperatorChannels = ({ mailer, clock, log, settings }: OperatorPorts): readonly OperatorChannel[] => {
  const { OPERATOR_WEBHOOK_URL: url, OPERATOR_MAIL: to, PUBLIC_URL: publicUrl = '' } = settings;
  // Any network is allowed, because the address was chosen by the operator.
  const outbound = openOutbound({ allowedNetworks: ['0.0.0.0/0', '::/0'] });
  const configuredChannels = [
    ...(url === undefined ? [] : [{ type: 'webhook', url }]),
    ...(to.length === 0 ? [] : [{ type: 'email', to }]),
  ];
  return configuredChannels.map((channel) => ({
    type: channel.type,
    async notify(problems) {
      const message = renderMessage(toNotification(problems, clock.now()), { publicUrl });
      const delivery = { message, settings: channel };
      const { outcome, answer } = await attemptDelivery(findChannelType(channel.type), delivery, {
        outbound,
        mailer,
        clock,
      });
      if (outcome !== 'delivered')
        log.warn({ channel: channel.type, answer }, 'the operator could not be notified about a stalled component');
      return outcome !== 'retry';
    },
  }));
};
