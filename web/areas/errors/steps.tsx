/** Actions on an error group: resolve, ignore for a period, reopen, and assign */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Assignee } from '../../editors/assignee.tsx';
import { Options } from '../../editors/inputs.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { type ErrorDetails, updateErrorCall } from './calls.ts';

type ErrorChange = NonNullable<
  Parameters<Action<NonNullable<(typeof updateErrorCall)['operation']>>['run']>[0]['body']
>;

const dayMs = 86_400_000;
const toTimeAfterDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

/** Further ways to resolve or ignore an error */
const statusOptions: Readonly<Record<string, readonly [title: string, body: () => ErrorChange]>> = {
  next: ['Resolve in the next version', () => ({ status: 'resolved', resolvedIn: { next: true } })],
  day: ['Ignore for a day', () => ({ status: 'ignored', ignoredUntil: { time: toTimeAfterDays(1) } })],
  week: ['Ignore for a week', () => ({ status: 'ignored', ignoredUntil: { time: toTimeAfterDays(7) } })],
  hundred: ['Ignore for 100 more occurrences', () => ({ status: 'ignored', ignoredUntil: { occurrences: 100 } })],
  version: ['Ignore until the next version', () => ({ status: 'ignored', ignoredUntil: { nextVersion: true } })],
};

/** Formats the status, including when it ends. */
export const formatStatus = ({ status, decision: { resolvedIn, ignoredUntil } }: ErrorDetails): string => {
  if (status === 'resolved' && resolvedIn !== null)
    return `resolved in ${'version' in resolvedIn ? resolvedIn.version : 'the next version'}`;
  if (status !== 'ignored' || ignoredUntil === null) return status;
  const { time, occurrences, nextVersion } = ignoredUntil;
  const endConditions = [
    ...(time === undefined ? [] : [formatIsoMinute(time)]),
    ...(occurrences === undefined ? [] : [`${occurrences} more occurrences`]),
    ...(nextVersion === undefined ? [] : ['the next version']),
  ];
  return `ignored until ${endConditions.join(' or ')}`;
};

export const StatusActions = ({ error: { id, status } }: { readonly error: ErrorDetails }) => {
  const [action] = useState(() => new Action(updateErrorCall));
  if (!isPermitted(updateErrorCall)) return <p class="soft">{explainDenial(updateErrorCall, 'Resolving errors')}</p>;
  const updateStatus = async (body: ErrorChange): Promise<void> => {
    if ((await action.run({ params: { id }, body })) !== undefined) refresh();
  };
  if (status !== 'unresolved')
    return (
      <ActionForm action={action} label="Reopen" onSubmit={() => updateStatus({ status: 'unresolved' })}>
        {null}
      </ActionForm>
    );
  return (
    <ActionForm
      action={action}
      label="Apply"
      onSubmit={(form) => {
        const [, createBody] = statusOptions[String(new FormData(form).get('way'))] ?? [];
        return createBody === undefined ? Promise.resolve() : updateStatus(createBody());
      }}
    >
      {(['resolved', 'ignored'] as const).map((newStatus) => (
        <button
          key={newStatus}
          type="button"
          disabled={action.isRunning.value}
          onClick={() => void updateStatus({ status: newStatus })}
        >
          {newStatus === 'resolved' ? 'Resolve' : 'Ignore'}
        </button>
      ))}
      <label>
        or{' '}
        <select name="way">
          <Options options={Object.entries(statusOptions).map(([name, [title]]) => [name, title] as const)} />
        </select>
      </label>
    </ActionForm>
  );
};

export const ErrorAssignee = ({ error: { id, decision } }: { readonly error: ErrorDetails }) => {
  const [action] = useState(() => new Action(updateErrorCall));
  const assign = async (newAssigneeId: string | null): Promise<void> => {
    if ((await action.run({ params: { id }, body: { assigneeId: newAssigneeId } })) !== undefined) refresh();
  };
  return (
    <Assignee
      assigneeId={decision.assigneeId}
      call={updateErrorCall}
      action={action}
      assign={(newAssigneeId) => void assign(newAssigneeId)}
    />
  );
};
