/** People by their names: all of them for those who may list them, else whoever is on call, and oneself. */
import { useEffect } from 'preact/hooks';
import type { getOnCall } from '../../../api/groups/incidents/shifts.ts';
import type { listUsers } from '../../../api/groups/users/list-users.ts';
import { callOf, type Filtered } from '../../client/call.ts';
import { Question } from '../../client/question.ts';
import { may } from '../../frame/rights.ts';
import { session } from '../../frame/session.ts';
import { refreshes } from '../../frame/time-range.ts';

/** Of all schedules, once for all that show it. */
export const onCall = new Question(callOf<typeof getOnCall>('GET', '/api/on-call/now'));
const users = new Question(callOf<Filtered<typeof listUsers>>('GET', '/api/users'));

export type Names = Readonly<Record<string, string>>;

export const usePeople = (): Names => {
  useEffect(() => {
    onCall.ask({});
    if (may(users.call)) users.ask({ query: { limit: 1000 } });
    return () => {
      onCall.cancel();
      users.cancel();
    };
  }, [refreshes.value]);
  const { user } = session.value ?? {};
  return {
    ...onCall.standing.value.answer?.names,
    ...Object.fromEntries(users.standing.value.answer?.items.map(({ id, name }) => [id, name]) ?? []),
    ...(user === undefined ? {} : { [user.id]: user.name }),
  };
};

export const named = (userIds: readonly string[], names: Names): string =>
  userIds.map((id) => names[id] ?? id).join(', ');
