/** Assignee of an item, with a select for users who may change it */
import type { Action } from '../client/action.ts';
import { renderText } from '../frame/display-text.tsx';
import { ErrorMessage } from '../frame/freshness.tsx';
import { useNames } from '../frame/people.ts';
import { type AnyCall, isPermitted } from '../frame/rights.ts';
import { Options } from './inputs.tsx';

export const Assignee = ({
  assigneeId,
  call,
  action,
  assign,
}: {
  /** User id; `null` if nobody is assigned */
  readonly assigneeId: string | null;
  /** Call that changes the assignee */
  readonly call: AnyCall;
  readonly action: Pick<Action<never>, 'isRunning' | 'error'>;
  readonly assign: (id: string | null) => void;
}) => {
  const people = useNames();
  const findName = (id: string): string => people[id] ?? id;
  if (!isPermitted(call)) return assigneeId === null ? null : <p>Assigned to {renderText(findName(assigneeId))}</p>;
  const otherPeople = Object.entries(people).filter(([id]) => id !== assigneeId);
  return (
    <div class="act">
      <label>
        Assigned to{' '}
        <select
          key={assigneeId}
          value={assigneeId ?? ''}
          disabled={action.isRunning.value}
          onChange={({ currentTarget: { value } }) => assign(value === '' ? null : value)}
        >
          <Options
            options={[
              ['', 'unassigned'],
              ...(assigneeId === null ? [] : [[assigneeId, findName(assigneeId)] as const]),
              ...otherPeople,
            ]}
          />
        </select>
      </label>
      <ErrorMessage error={action.error.value} />
    </div>
  );
};
