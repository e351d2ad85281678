/** Escalation policies: their steps, and a preview of pages */
import { useState } from 'preact/hooks';
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { formatInterval } from '../../editors/intervals.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { RouteCount, RoutesToTargets, useStoredRouting } from '../alerts/routing/used-by.tsx';
import {
  createEscalationPolicyCall,
  type EscalationPolicy,
  escalationPoliciesCall,
  escalationPolicyCall,
} from './calls.ts';
import { PolicyForm } from './policy-form.tsx';
import { useTargetOptions } from './targets.ts';

const resourceName = 'escalation policy';

const openingTimes = { now: 'now', 'now+6h': 'in 6 hours', 'now+12h': 'in 12 hours', 'now+24h': 'tomorrow' } as const;
const skipReasons = { 'outside-hours': 'outside its hours', 'nobody-on-call': 'no one on call' } as const;

/** Preview of who would be paged when, if nobody acknowledges. */
const EscalationPreview = ({ id }: { readonly id: string }) => {
  const [openingTime, setOpeningTime] = useState<string>('now');
  const { response, error } = useQuery(escalationPolicyCall, {
    params: { id },
    query: { preview: 'true', at: openingTime },
  });
  return (
    <>
      <h3>Preview for an unacknowledged incident</h3>
      <label>
        Opening time{' '}
        <select value={openingTime} onChange={({ currentTarget }) => setOpeningTime(currentTarget.value)}>
          {Object.entries(openingTimes).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <ErrorMessage error={error} />
      <table class="figures texts previewed">
        <TableHeader columns={['At', 'Responder', 'Step', 'Round']} />
        <tbody>
          {response?.preview?.flatMap(({ at, pages, skipped }) => [
            ...pages.map(({ kind, id, name, step, round }) => (
              <tr key={`${at} ${kind} ${id}`}>
                <td>{formatIsoMinute(at)}</td>
                <td>
                  <bdi>{renderText(name)}</bdi>
                </td>
                <td>{step === null ? 'owners (no one else was reached)' : step + 1}</td>
                <td>{round + 1}</td>
              </tr>
            )),
            ...skipped.map(({ step, reason }) => (
              <tr key={`${at} ${step}`}>
                <td>{formatIsoMinute(at)}</td>
                <td class="text-error">no one: {skipReasons[reason]}</td>
                <td>{step + 1}</td>
                <td />
              </tr>
            )),
          ])}
        </tbody>
      </table>
    </>
  );
};

const PolicyDetails = ({ item: policy }: { readonly item: EscalationPolicy }) => {
  const names = new Map(Object.values(useTargetOptions()).flat());
  const { steps, repeat, repeatAfterMinutes, acknowledgeTimeoutMinutes } = policy;
  return (
    <>
      <ol>
        {steps.map(({ targets, afterMinutes, hours = [] }, index) => (
          <li key={index}>
            {afterMinutes === 0 ? 'Immediately' : `After ${afterMinutes} minutes`}:{' '}
            {renderText(targets.map(({ kind, id }) => names.get(`${kind} ${id}`) ?? id).join(', '))}
            {hours.length === 0 ? '' : renderText(`; only during ${hours.map(formatInterval).join(' or ')}`)}
          </li>
        ))}
      </ol>
      <Fields
        values={{
          repetitions: repeat === 0 ? 'never' : `${repeat} times, each after ${repeatAfterMinutes} minutes`,
          'acknowledgement timeout':
            acknowledgeTimeoutMinutes === null ? 'never' : `after ${acknowledgeTimeoutMinutes} minutes`,
          resolved: `${policy.resolveAfterMinutes} minutes after the last alert`,
          'reopen window': `within ${policy.reopenWithinMinutes} minutes`,
        }}
      />
      <RoutesToTargets
        noun="escalation policy"
        name={policy.name}
        targets={{ channelIds: [], escalationPolicyId: policy.id }}
        isRequested={({ escalationPolicyId }) => escalationPolicyId === policy.id}
      />
      <EscalationPreview id={policy.id} />
    </>
  );
};

const PolicyList = createListView({
  title: 'Escalation policies',
  call: escalationPoliciesCall,
  emptyText: 'No escalation policies yet. Without one, incidents page no one.',
  toKey: ({ id }) => id,
  columns: {
    Policy: ({ name }) => name,
    Steps: ({ steps }) => steps.length,
    Routes: ({ id }) => <RouteCount isRequested={({ escalationPolicyId }) => escalationPolicyId === id} />,
    Repetitions: ({ repeat }) => (repeat === 0 ? 'never' : `${repeat} times`),
  },
  wideColumns: ['Routes', 'Repetitions'],
  numericColumns: ['Steps'],
  Tools: createNewButton(resourceName, createEscalationPolicyCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/on-call/escalation-policies/{id}',
    Form: PolicyForm,
    Details: PolicyDetails,
  }),
});

export const Policies = () => {
  useStoredRouting();
  return <PolicyList />;
};
