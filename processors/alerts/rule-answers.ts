/** Where alert rules ask: rules of an organization that are due together ask together, and organizations take turns. */

import { type TurnLimits, Turns } from '../../queries/limits/turns.ts';
import { Answers, type Turn } from '../../queries/together/answers.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { askLimits } from '../../subjects/alerts/ask.ts';

/** Rules that are due together begin within one look at what is due. */
const gatherMs = 20;

interface OfColumns {
  readonly turns: Turns;
  readonly byTenant: Map<string, Answers>;
}

type Limits = Pick<TurnLimits, 'slots' | 'slotsPerTenant'>;

/** Answers of each organization, the same for all that asks there; they take turns that are their own. */
export const answersInTurns = (limits: Limits): ((columns: Columns, tenantId: string) => Answers) => {
  const known = new WeakMap<Columns, OfColumns>();
  return (columns, tenantId) => {
    const own = known.get(columns) ?? {
      turns: new Turns({ ...limits, waitingPerTenant: Number.POSITIVE_INFINITY }),
      byTenant: new Map<string, Answers>(),
    };
    known.set(columns, own);
    const turn: Turn = async (work, signal) => {
      const end = await own.turns.take(tenantId, signal);
      try {
        return await work();
      } finally {
        end();
      }
    };
    const answers = own.byTenant.get(tenantId) ?? new Answers({ ...askLimits, gatherMs, turn });
    own.byTenant.set(tenantId, answers);
    return answers;
  };
};

/**
 * What rules may ask at once in a process, beside what people ask (`queries/limits/settings.ts`): neither waits for the other's turns.
 * An organization has two thirds of it at most.
 */
export const ruleAnswers = answersInTurns({ slots: 3, slotsPerTenant: 2 });
