/** Stops a processor that sends the messages of several tenants to the dead letter, and names a tenant that is alone in it. */
import type { TenantUsage } from './answer.ts';

/** Above this ratio of dead letters, among at least so many messages. */
const ratio = 0.1;
const minMessages = 20;
/** Older messages count half at each window's end, so that an old incident does not blame a new one. */
const window = 1_000;

interface Seen {
  messages: number;
  dead: number;
}

const isOver = ({ messages, dead }: Seen): boolean => messages >= minMessages && dead / messages > ratio;

export class TenantFuse {
  readonly #group: string;
  #tenants = new Map<string, Seen>();

  constructor(group: string) {
    this.#group = group;
  }

  /**
   * Counts one batch, before anything of it is published. Answers the tenant whose messages are most of the dead letters, where the
   * others' alone would be few; throws where several have too many. A batch that made it throw does not count.
   */
  check(usages: readonly TenantUsage[]): string | undefined {
    const tenants = new Map([...this.#tenants].map(([tenantId, seen]) => [tenantId, { ...seen }]));
    for (const { tenantId, messages, poison } of usages) {
      const seen = tenants.get(tenantId) ?? { messages: 0, dead: 0 };
      tenants.set(tenantId, { messages: seen.messages + messages, dead: seen.dead + poison });
    }
    const all = sum(tenants.values());
    const worst = isOver(all)
      ? [...tenants].reduce((left, right) => (right[1].dead > left[1].dead ? right : left))
      : undefined;
    if (worst !== undefined) {
      const others = { messages: all.messages - worst[1].messages, dead: all.dead - worst[1].dead };
      if (isOver(others)) {
        throw new Error(
          `${this.#group} could not process ${all.dead} of the last ${all.messages} messages of several tenants and stopped rather than sending them all to the dead letter: fix the cause, then start it again`,
        );
      }
      // It is passed by from now on, and counts anew afterwards.
      tenants.delete(worst[0]);
    }
    if (all.messages >= window) {
      for (const seen of tenants.values()) {
        seen.messages /= 2;
        seen.dead /= 2;
      }
    }
    this.#tenants = tenants;
    return worst?.[0];
  }
}

const sum = (seen: Iterable<Seen>): Seen => {
  let messages = 0;
  let dead = 0;
  for (const each of seen) {
    messages += each.messages;
    dead += each.dead;
  }
  return { messages, dead };
};
