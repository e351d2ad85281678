/** Assignee, which can be changed by permitted users */
import type { Action } from '../client/action.ts';
import { Problem } from '../frame/freshness.tsx';
import { usePeople } from '../frame/people.ts';
import { type AnyCall, isPermitted } from '../frame/rights.ts';
import { shownText } from '../frame/shown-text.tsx';
import { Options } from './inputs.tsx';

export const Assignee = ({
  of,
  call,
  action,
  assign,
}: {
  /** User id; `null` if nobody is assigned */
  readonly of: string | null;
  /** Call that changes the assignee */
  readonly call: AnyCall;
  readonly action: Pick<Action<never>, 'isRunning' | 'error'>;
  readonly assign: (id: string | null) => void;
}) => {
  const people = usePeople();
  const nameOf = (id: string): string => people[id] ?? id;
  if (!isPermitted(call)) return of === null ? null : <p>Assigned to {shownText(nameOf(of))}</p>;
  const others = Object.entries(people).filter(([id]) => id !== of);
  return (
    <div class="act">
      <label>
        Assigned to{' '}
        <select
          key={of}
          value={of ?? ''}
          disabled={action.isRunning.value}
          onChange={({ currentTarget: { value } }) => assign(value === '' ? null : value)}
        >
          <Options of={[['', 'unassigned'], ...(of === null ? [] : [[of, nameOf(of)] as const]), ...others]} />
        </select>
      </label>
      <Problem error={action.error.value} />
    </div>
  );
};
