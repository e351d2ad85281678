import type { Organization } from '../../../schemas/resources/organization.ts';
import type { Plan } from '../../../schemas/resources/plan.ts';
import { signals } from '../../../schemas/topics.ts';
import type { Detail } from '../../kernel/errors.ts';

type RetentionDays = Organization['retentionDays'];

/** The organization's own retention, where the plan allows as much; what is above it goes, so that the plan's counts. */
export const retentionWithin = (own: RetentionDays, plan: Plan): RetentionDays =>
  Object.fromEntries(
    signals.flatMap((signal) => {
      const days = own[signal];
      return days === undefined || days > plan.retentionDays[signal] ? [] : [[signal, days] as const];
    }),
  );

/** What an organization loses when it goes from one plan to another; `path` names the setting of the plan. */
export const lossesOf = (
  { retentionDays: own }: Pick<Organization, 'retentionDays'>,
  from: Plan,
  to: Plan,
  bytesToday: number,
): Detail[] => {
  const losses: Detail[] = [];
  for (const signal of signals) {
    const kept = Math.min(own[signal] ?? from.retentionDays[signal], from.retentionDays[signal]);
    const most = to.retentionDays[signal];
    if (kept <= most) continue;
    const whose = own[signal] === undefined ? '' : ' (the organization’s retention)';
    losses.push({
      path: `retentionDays.${signal}`,
      message: `${signal} are kept for ${kept} days${whose}; the plan keeps ${most} days, and older data is permanently deleted`,
    });
  }
  const lost = from.entitlements.filter((name) => !to.entitlements.includes(name));
  for (const name of lost) {
    const refused = (signals as readonly string[]).includes(name) ? ', and new data is refused' : '';
    losses.push({
      path: `entitlements.${name}`,
      message: `the plan does not include ${name}: this data can no longer be read${refused}`,
    });
  }
  const { bytesPerDay } = to.limits;
  if (bytesPerDay !== null && bytesToday >= bytesPerDay)
    losses.push({
      path: 'limits.bytesPerDay',
      message: `${bytesToday} bytes were accepted today; the plan allows ${bytesPerDay} per day, so ingest stops until 00:00 UTC`,
    });
  return losses;
};
