/** Tells the operator of the installation: by the channels of the settings, without the bus and what reads it. */
import { createHash } from 'node:crypto';
import { openOutbound } from '../../runtime/outbound.ts';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import type { Settings } from '../../schemas/settings.ts';
import { deliver } from '../../subjects/notification-channels/deliver.ts';
import { messageOf } from '../../subjects/notification-channels/message.ts';
import { channelTypeOf } from '../../subjects/notification-channels/registry.ts';

/** One thing that is wrong with the installation. */
export interface Problem {
  readonly name: string;
  readonly text: string;
  readonly sinceMs: number;
  /** When it ended; undefined while it goes on. */
  readonly endedMs?: number | undefined;
}

interface OperatorPorts {
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<Settings, 'OPERATOR_WEBHOOK_URL' | 'OPERATOR_MAIL' | 'PUBLIC_URL'>;
}

const alertOf = ({ name, text, sinceMs, endedMs }: Problem): NotifiedAlert => ({
  ...{ alertId: name, ruleId: 'platform', status: endedMs === undefined ? 'firing' : 'resolved', value: null },
  labels: { alertname: 'OiqStandsStill', severity: 'critical', component: name },
  annotations: { summary: `${name} ${text}` },
  startsAtMs: sinceMs,
  ...(endedMs !== undefined && { endsAtMs: endedMs }),
});

const notificationOf = (problems: readonly Problem[], nowMs: number): Notification => {
  const alerts = problems.map(alertOf);
  const firing = alerts.filter(({ status }) => status === 'firing').length;
  const digest = createHash('sha256').update(JSON.stringify(alerts)).digest('hex').slice(0, 24);
  return {
    ...{ tenantId: '-', id: `operator-${digest}`, channelId: 'operator', receiver: 'operator', groupKey: 'platform' },
    ...{ groupLabels: { alertname: 'OiqStandsStill' }, commonAnnotations: {}, alerts, atMs: nowMs },
    commonLabels: { alertname: 'OiqStandsStill', severity: 'critical' },
    ...{ status: firing > 0 ? 'firing' : 'resolved', reason: firing > 0 ? 'firing' : 'resolved' },
    ...{ firing, resolved: alerts.length - firing, truncatedAlerts: 0 },
  };
};

/** Makes a function that tells the operator by every channel that is set, and answers whether all took it. */
export const openOperatorChannel = ({ mailer, clock, log, settings }: OperatorPorts) => {
  const { OPERATOR_WEBHOOK_URL: url, OPERATOR_MAIL: to, PUBLIC_URL: publicUrl = '' } = settings;
  // The operator chose the address, who may reach any network.
  const outbound = openOutbound({ allowedNetworks: ['0.0.0.0/0', '::/0'] });
  const channels = [
    ...(url === undefined ? [] : [{ type: 'webhook', url }]),
    ...(to.length === 0 ? [] : [{ type: 'email', to }]),
  ];
  return async (problems: readonly Problem[]): Promise<boolean> => {
    const message = messageOf(notificationOf(problems, clock.now()), { publicUrl });
    let isTold = true;
    for (const channel of channels) {
      const { outcome, answer } = await deliver(
        channelTypeOf(channel.type),
        { message, settings: channel },
        { outbound, mailer, clock },
      );
      if (outcome !== 'delivered')
        log.warn({ channel: channel.type, answer }, 'the operator could not be told that something stands still');
      if (outcome === 'retry') isTold = false;
    }
    return isTold;
  };
};
