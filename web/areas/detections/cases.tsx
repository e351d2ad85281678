/** Cases: subject, status, comments and evidence */

import { useState } from 'preact/hooks';
import type { caseResource } from '../../../api/groups/siem/case.ts';
import type { commentOnCase } from '../../../api/groups/siem/case-additions.ts';
import { Action } from '../../client/action.ts';
import {
  declareCall,
  declareListCall,
  declareReadCall,
  declareUpdateCall,
  type ResourceView,
} from '../../client/call.ts';
import { Assignee } from '../../editors/assignee.tsx';
import { Options } from '../../editors/inputs.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { LoadedItem } from '../../lists/read-one.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { Evidence } from './evidence.tsx';
import { verdicts } from './signal.tsx';

type Case = ResourceView<typeof caseResource>;
const states = ['open', 'investigating', 'contained', 'closed'] as const;
const updateCaseCall = declareUpdateCall<typeof caseResource, object>('/api/siem/cases/{id}');
const addCommentCall = declareCall<typeof commentOnCase>('POST', '/api/siem/cases/{id}/comments');

const severities = ['informational', 'low', 'medium', 'high', 'critical'] as const;

const CaseAssignee = ({ securityCase: { id, version, assigneeId = null } }: { readonly securityCase: Case }) => {
  const [action] = useState(() => new Action(updateCaseCall));
  const assign = async (newAssigneeId: string | null): Promise<void> => {
    if ((await action.run({ params: { id }, body: { assigneeId: newAssigneeId }, ifMatch: version })) !== undefined)
      refresh();
  };
  return (
    <Assignee
      assigneeId={assigneeId}
      call={updateCaseCall}
      action={action}
      assign={(newState) => void assign(newState)}
    />
  );
};

const CaseActions = ({ of }: { readonly of: Case }) => {
  const [action] = useState(() => new Action(updateCaseCall));
  const [commentAction] = useState(() => new Action(addCommentCall));
  const { id, version, state = 'open', severity = 'medium', resolution } = of;
  if (!isPermitted(updateCaseCall)) return <p class="soft">{explainDenial(updateCaseCall, 'Editing cases')}</p>;
  const updateCase = async (body: Partial<Case>): Promise<void> => {
    if ((await action.run({ params: { id }, body, ifMatch: version })) !== undefined) refresh();
  };
  const changeState = (next: string): Promise<void> =>
    updateCase({ state: next as 'open', resolution: next === 'closed' ? (resolution ?? 'true-positive') : null });
  const addComment = async (form: HTMLFormElement): Promise<void> => {
    const text = String(new FormData(form).get('text'));
    if ((await commentAction.run({ params: { id }, body: { text } })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <>
      <div class="act">
        <label>
          State{' '}
          <select value={state} onChange={({ currentTarget }) => void changeState(currentTarget.value)}>
            <Options options={states.map((caseState) => [caseState, caseState])} />
          </select>
        </label>
        {state === 'closed' ? (
          <label>
            Classification{' '}
            <select
              value={resolution ?? ''}
              onChange={({ currentTarget }) => void updateCase({ resolution: currentTarget.value as 'other' })}
            >
              <Options options={Object.entries(verdicts)} />
            </select>
          </label>
        ) : null}
        <label>
          Severity{' '}
          <select
            value={severity}
            onChange={({ currentTarget }) => void updateCase({ severity: currentTarget.value as 'low' })}
          >
            <Options options={severities.map((severityName) => [severityName, severityName])} />
          </select>
        </label>
        <ErrorMessage error={action.error.value} />
      </div>
      <ActionForm action={commentAction} label="Add" onSubmit={addComment}>
        <label>
          Comment <input name="text" required={true} maxLength={16_384} autocomplete="off" />
        </label>
      </ActionForm>
    </>
  );
};

const CaseDetails = ({ item }: { readonly item: Case }) => (
  <>
    <p>{renderText(item.summary ?? '', { lines: true })}</p>
    <CaseActions key={item.version} of={item} />
    <CaseAssignee key={`assigned ${item.version}`} securityCase={item} />
    <Fields
      values={{
        state: item.state,
        severity: item.severity,
        resolution: item.resolution,
        opened: formatIsoTime(item.createdAt),
        contained: formatIsoTime(item.containedAt),
        closed: formatIsoTime(item.closedAt),
      }}
    />
    <h3>Signals</h3>
    <ul class="links column">
      {(item.signalIds ?? []).map((signalId) => (
        <li key={signalId}>
          <Link url={toArea('/detections', { open: signalId })}>{renderText(signalId)}</Link>
        </li>
      ))}
    </ul>
    <h3>Comments</h3>
    <ol class="around">
      {item.comments.map(({ id, authorName, createdAt, text }) => (
        <li key={id}>
          <time>{formatIsoTime(createdAt)}</time> <b>{renderText(authorName)}</b>: {renderText(text, { lines: true })}
        </li>
      ))}
    </ol>
    <Evidence caseId={item.id} evidence={item.evidence} />
  </>
);

const CasePanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Case | undefined;
  readonly onClose: () => void;
}) =>
  item === undefined ? (
    <LoadedItem key={id} call={declareReadCall('/api/siem/cases/{id}')} id={id} label="Case" onClose={onClose}>
      {(loadedCase) => <CasePanel id={id} item={loadedCase as Case} onClose={onClose} />}
    </LoadedItem>
  ) : (
    <SidePanel label="Case" title={item.title} onClose={onClose}>
      <CaseDetails item={item} />
    </SidePanel>
  );

export const Cases = createListView({
  title: 'Cases',
  call: declareListCall<typeof caseResource>('/api/siem/cases'),
  hasAssigneeFilter: true,
  search: 'Search by title',
  choices: [
    {
      name: 'state',
      label: 'Status',
      options: [['', 'all'], ...states.map((caseState) => [caseState, caseState] as const)],
    },
  ],
  emptyText: 'No cases yet. Open a case from a signal.',
  toKey: ({ id }) => id,
  columns: {
    Case: ({ title }) => title,
    State: ({ state }) => state,
    Severity: ({ severity }) => <SeverityBadge severity={severity} />,
    Signals: ({ signalIds }) => signalIds?.length ?? 0,
    Opened: ({ createdAt }) => formatIsoMinute(createdAt),
  },
  wideColumns: ['Signals', 'Opened'],
  numericColumns: ['Signals'],
  ItemPanel: CasePanel,
});
