/** Select that filters a list by assignee: the user, or the assignee in the URL */
import { readParam, setParams } from '../frame/address.ts';
import { renderText } from '../frame/display-text.tsx';
import { session } from '../frame/session.ts';

export const AssigneeFilter = () => {
  const assigneeId = readParam('assigneeId');
  const currentUserId = session.value?.user.id ?? '';
  return (
    <label>
      Assignee{' '}
      <select value={assigneeId} onChange={({ currentTarget: { value } }) => setParams({ assigneeId: value })}>
        <option value="">Anyone</option>
        <option value={currentUserId}>Me</option>
        {assigneeId === '' || assigneeId === currentUserId ? null : (
          <option value={assigneeId}>of {renderText(assigneeId)}</option>
        )}
      </select>
    </label>
  );
};
