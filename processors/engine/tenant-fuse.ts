/**
 * Stops a processor that sends messages of several tenants to the dead letters, and identifies a tenant that is the
 * only cause.
 */
import type { TenantUsage } from './batch-result.ts';

/** Maximum ratio of dead letters, above a minimum number of messages. */
const maxDeadRatio = 0.1;
const minMessages = 20;
/** Older messages count half after each window, so that an old incident does not affect a new one. */
const windowMessages = 1_000;

interface MessageCounts {
  messages: number;
  dead: number;
}

const exceedsRatio = ({ messages, dead }: MessageCounts): boolean =>
  messages >= minMessages && dead / messages > maxDeadRatio;

export class TenantFuse {
  readonly #group: string;
  #tenants = new Map<string, MessageCounts>();

  constructor(group: string) {
    this.#group = group;
  }

  /**
   * Counts one batch, before any of its results are published. Returns the tenant that causes most of the dead letters
   * if the others alone would have few. Throws if several tenants have too many. A batch for which it throws is not
   * counted.
   */
  check(usages: readonly TenantUsage[]): string | undefined {
    const tenants = new Map([...this.#tenants].map(([tenantId, counts]) => [tenantId, { ...counts }]));
    for (const { tenantId, messages, poison } of usages) {
      const counts = tenants.get(tenantId) ?? { messages: 0, dead: 0 };
      tenants.set(tenantId, { messages: counts.messages + messages, dead: counts.dead + poison });
    }
    const total = sumCounts(tenants.values());
    const worstTenant = exceedsRatio(total)
      ? [...tenants].reduce((left, right) => (right[1].dead > left[1].dead ? right : left))
      : undefined;
    if (worstTenant !== undefined) {
      const others = { messages: total.messages - worstTenant[1].messages, dead: total.dead - worstTenant[1].dead };
      if (exceedsRatio(others)) {
        throw new Error(
          `${this.#group} could not process ${total.dead} of the last ${total.messages} messages of several tenants and stopped rather than sending them all to the dead letter: fix the cause, then start it again`,
        );
      }
      // The tenant is skipped from now on, and its count restarts afterwards.
      tenants.delete(worstTenant[0]);
    }
    if (total.messages >= windowMessages) {
      for (const counts of tenants.values()) {
        counts.messages /= 2;
        counts.dead /= 2;
      }
    }
    this.#tenants = tenants;
    return worstTenant?.[0];
  }
}

const sumCounts = (counts: Iterable<MessageCounts>): MessageCounts => {
  let messages = 0;
  let dead = 0;
  for (const tenantCounts of counts) {
    messages += tenantCounts.messages;
    dead += tenantCounts.dead;
  }
  return { messages, dead };
};
