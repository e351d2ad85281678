/** Decision about a finding: state, its end, the reason and the assignee */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { Call, OperationDeclaration } from '../../client/call.ts';
import { Assignee } from '../../editors/assignee.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';

interface Triaged {
  readonly id: string;
  readonly state: 'open' | 'resolved' | 'ignored' | 'accepted';
  readonly isReopened: boolean;
  readonly until: string | null;
  readonly reason: string;
  readonly assigneeId: string | null;
}

const dayMs = 86_400_000;
const states = [
  ['resolved', 'Resolved: open again with the next occurrence'],
  ['ignored', 'Ignored'],
  ['accepted', 'Accepted risk'],
] as const;

/** Text of the current state. */
export const describeState = ({ state, isReopened, until }: Omit<Triaged, 'id' | 'reason' | 'assigneeId'>): string => {
  if (isReopened) return 'open again';
  return until === null || state === 'open' ? state : `${state} until ${formatIsoTime(until).slice(0, 10)}`;
};

export const TriageForm = <Operation extends OperationDeclaration>({
  item,
  call,
  preview,
}: {
  readonly item: Triaged;
  readonly call: Call<Operation>;
  /** Effect of a decision, shown before it is made */
  readonly preview?: ComponentChildren;
}) => {
  const [action] = useState(() => new Action(call));
  if (!isPermitted(call)) return <p class="soft">{explainDenial(call, 'Triage')}</p>;
  const send = async (body: object): Promise<void> => {
    if ((await action.run({ params: { id: item.id }, body } as never)) !== undefined) refresh();
  };
  const decide = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    const state = String(data.get('state'));
    const days = Number(data.get('days'));
    const until = state === 'resolved' || days === 0 ? undefined : new Date(Date.now() + days * dayMs).toISOString();
    await send({ state, reason: String(data.get('reason')), ...(until !== undefined && { until }) });
  };
  return (
    <>
      <h3>Decision</h3>
      <p>
        {describeState(item)}
        {item.reason === '' ? null : <>: {renderText(item.reason)}</>}
      </p>
      {item.state === 'open' ? (
        <ActionForm action={action} label="Decide" onSubmit={decide}>
          {preview}
          <label>
            State{' '}
            <select name="state">
              {states.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label>
            Days of ignored or accepted{' '}
            <input name="days" type="number" min={1} max={3650} required={true} defaultValue="30" />
          </label>
          <label>
            Reason <input name="reason" maxLength={4096} autocomplete="off" />
          </label>
        </ActionForm>
      ) : (
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void send({ state: 'open' })}>
            Reopen
          </button>
        </div>
      )}
      <Assignee
        assigneeId={item.assigneeId}
        call={call}
        action={action as never}
        assign={(assigneeId) => void send({ assigneeId })}
      />
    </>
  );
};

/** Filter of lists by state */
export const stateFilter = {
  name: 'state',
  label: 'State',
  options: [
    ['', 'all'],
    ['open', 'open'],
    ['resolved', 'resolved'],
    ['ignored', 'ignored'],
    ['accepted', 'accepted'],
  ],
} as const;
