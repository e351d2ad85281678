/** Side panel of a security signal: matched events, reasons, and triage */
import { useState } from 'preact/hooks';
import type { caseResource } from '../../../api/groups/siem/case.ts';
import type { getSignal, triageSignal } from '../../../api/groups/siem/signals.ts';
import { Action } from '../../client/action.ts';
import { declareCall, declareCreateCall, type ResponseBody } from '../../client/call.ts';
import { Assignee } from '../../editors/assignee.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { navigate, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { formatConditions, previewCall } from './exceptions.tsx';

type SecuritySignal = ResponseBody<typeof getSignal>;
type Verdict = NonNullable<SecuritySignal['verdict']>;

export const verdicts: Readonly<Record<Verdict, string>> = {
  'true-positive': 'True positive',
  'benign-true-positive': 'Benign true positive',
  'false-positive': 'False positive',
  duplicate: 'Duplicate',
  other: 'Other',
};

const triageSignalCall = declareCall<typeof triageSignal>('PATCH', '/api/siem/signals/{id}');
const openCaseCall = declareCreateCall<typeof caseResource, never>('/api/siem/cases');

const TriageActions = ({ signal }: { readonly signal: SecuritySignal }) => {
  const [action] = useState(() => new Action(triageSignalCall));
  const [openCaseAction] = useState(() => new Action(openCaseCall));
  const { id, state, severity, ruleTitle } = signal;
  if (!isPermitted(triageSignalCall)) return <p class="soft">{explainDenial(triageSignalCall, 'Triage')}</p>;
  const changeState = async (
    newState: SecuritySignal['state'],
    closingFields: { verdict?: Verdict; reason?: string } = {},
  ): Promise<void> => {
    if ((await action.run({ params: { id }, body: { state: newState, ...closingFields } })) !== undefined) refresh();
  };
  const openCase = async (): Promise<void> => {
    const createdCase = await openCaseAction.run({ body: { title: ruleTitle, severity, signalIds: [id] } as never });
    if (createdCase !== undefined) navigate(toArea('/detections/cases', { open: createdCase.id }));
  };
  const closeSignal = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    await changeState('closed', {
      verdict: String(formData.get('verdict')) as Verdict,
      reason: String(formData.get('reason')),
    });
  };
  return (
    <>
      <div class="act">
        {state === 'open' ? (
          <button type="button" disabled={action.isRunning.value} onClick={() => void changeState('acknowledged')}>
            Acknowledge
          </button>
        ) : null}
        {state === 'closed' ? (
          <button type="button" disabled={action.isRunning.value} onClick={() => void changeState('open')}>
            Reopen
          </button>
        ) : null}
        <button type="button" class="plain" disabled={openCaseAction.isRunning.value} onClick={() => void openCase()}>
          Create case
        </button>
        <ErrorMessage error={openCaseAction.error.value} />
      </div>
      {state === 'closed' ? (
        <ErrorMessage error={action.error.value} />
      ) : (
        <ActionForm action={action} label="Close" onSubmit={closeSignal}>
          <label>
            Classification{' '}
            <select name="verdict">
              {Object.entries(verdicts).map(([verdict, title]) => (
                <option key={verdict} value={verdict}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label>
            Reason <input name="reason" maxLength={4096} autocomplete="off" />
          </label>
        </ActionForm>
      )}
    </>
  );
};

const SignalAssignee = ({ signal: { id, assigneeId } }: { readonly signal: SecuritySignal }) => {
  const [action] = useState(() => new Action(triageSignalCall));
  const assign = async (newAssigneeId: string | null): Promise<void> => {
    if ((await action.run({ params: { id }, body: { assigneeId: newAssigneeId } })) !== undefined) refresh();
  };
  return (
    <Assignee
      assigneeId={assigneeId}
      call={triageSignalCall}
      action={action}
      assign={(newAssigneeId) => void assign(newAssigneeId)}
    />
  );
};

export const SignalPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { response, error } = useQuery(declareCall<typeof getSignal>('GET', '/api/siem/signals/{id}'), {
    params: { id },
  });
  return (
    <SidePanel label="Signal" title={response?.ruleTitle ?? 'Signal'} onClose={onClose}>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <TriageActions key={response.state} signal={response} />
          <SignalAssignee signal={response} />
          <ul class="links">
            <li>
              <Link url={toArea('/detections/rules', { open: response.ruleId })}>Rule</Link>
            </li>
            {response.kind === 'rule' && isPermitted(previewCall) ? (
              <li>
                <Link
                  url={toArea('/detections/rules', {
                    open: response.ruleId,
                    except: formatConditions(
                      (response.events[0]?.fields ?? []).map(({ field, value }) => [field, value]),
                    ),
                  })}
                >
                  Create exception
                </Link>
              </li>
            ) : null}
          </ul>
          <Fields
            values={{
              state: response.state,
              verdict: response.verdict,
              reason: response.reason,
              severity: response.severity,
              time: formatIsoTime(response.time),
              risk: response.riskScore,
              records: response.eventCount,
              suppressed: response.hidden,
              'covered by exception': response.suppressedBy,
              tactics: response.tactics.join(', '),
              techniques: response.techniques.join(', '),
            }}
          />
          <h3>Entities</h3>
          <ul>
            {response.entities.map(({ type, value }) => (
              <li key={`${type} ${value}`}>
                {type} <bdi>{renderText(value)}</bdi>
              </li>
            ))}
          </ul>
          <h3>Matching records</h3>
          {response.events.map((event, recordIndex) => (
            <details key={recordIndex} open={recordIndex === 0}>
              <summary>Record {recordIndex + 1}</summary>
              <Link url={toArea('/logs', { record: event.recordId })}>View in logs</Link>
              <Fields
                values={{
                  service: event.service,
                  time: formatIsoSecond(new Date(event.timeMs).toISOString()),
                  ...Object.fromEntries(
                    event.fields.map(({ field, path, value, selection, condition: comment }) => [
                      field || path,
                      `${value} – ${selection}: ${comment}`,
                    ]),
                  ),
                }}
              />
            </details>
          ))}
        </>
      )}
    </SidePanel>
  );
};
