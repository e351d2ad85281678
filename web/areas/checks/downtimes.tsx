/** Planned downtimes of checks: next occurrence and scope. Each is also a maintenance window. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { createNewButton, createProblemFinder } from '../../editors/form-state.tsx';
import { CheckboxGroup, PairsInput } from '../../editors/inputs.tsx';
import {
  createPlan,
  formatRecurrence,
  NextOccurrences,
  PlanProjectFields,
  PlanSloField,
  PlanTimeFields,
} from '../../editors/plan.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { checksCall, createDowntimeCall, type Downtime, deleteDowntimeCall, downtimesCall } from './calls.ts';

const DowntimeForm = () => {
  const [action] = useState(() => new Action(createDowntimeCall));
  const { response, error: loadError } = useQuery(checksCall, { query: { limit: 1000 } });
  const [plan, setPlan] = useState(createPlan);
  const [scope, setScope] = useState<{ readonly checkIds: readonly string[]; readonly labels: Record<string, string> }>(
    { checkIds: [], labels: {} },
  );
  const error = action.error.value;
  const findProblem = (path: string): string | undefined => createProblemFinder(error)(path);
  const planProps = {
    plan,
    findProblem,
    onChange: (planFields: Partial<typeof plan>): void => setPlan((currentPlan) => ({ ...currentPlan, ...planFields })),
  };
  const createDowntime = async (): Promise<void> => {
    const createdDowntime = await action.run({
      body: { ...plan, checkIds: [...scope.checkIds], labels: scope.labels },
    });
    if (createdDowntime === undefined) return;
    setParams({ open: createdDowntime.id });
    refresh();
  };
  return (
    <div class="form">
      <ErrorMessage error={loadError} />
      <PlanTimeFields {...planProps} />
      <CheckboxGroup
        label="Checks"
        value={scope.checkIds}
        problem={findProblem('checkIds')}
        options={(response?.items ?? []).map(({ id, name }) => [id, name] as const)}
        onChange={(checkIds) => setScope({ ...scope, checkIds })}
      />
      <PairsInput
        label="Check labels (match all)"
        value={scope.labels}
        problem={findProblem('labels')}
        onChange={(labels) => setScope({ ...scope, labels })}
      />
      <PlanProjectFields {...planProps} />
      <PlanSloField {...planProps} />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void createDowntime()}>
          Schedule downtime
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const DowntimeActions = ({
  downtime: { id, version },
  onClose,
}: {
  readonly downtime: Downtime;
  readonly onClose: () => void;
}) => {
  const [action] = useState(() => new Action(deleteDowntimeCall));
  if (!isPermitted(deleteDowntimeCall))
    return <p class="soft">{explainDenial(deleteDowntimeCall, 'Editing downtimes')}</p>;
  return (
    <RemovalForm
      action={action}
      labels={['Delete', 'Delete permanently']}
      remove={() => action.run({ params: { id }, ifMatch: version })}
      onRemoved={onClose}
    >
      <Link url={toArea('/alerts/maintenance', { open: id, edit: id })}>Edit as maintenance window</Link>
    </RemovalForm>
  );
};

const resourceName = 'downtime';

export const Downtimes = createListView({
  title: 'Downtimes',
  call: downtimesCall,
  fixedParams: { limit: '' },
  filters: ['checkId'],
  emptyText: 'No downtimes yet.',
  toKey: ({ id }) => id,
  columns: {
    Downtime: ({ name }) => name,
    State: ({ isActive }) => (isActive ? <span class="text-warn">active</span> : 'inactive'),
    Checks: ({ checks }) => checks.map(({ name }) => name).join(', '),
    'Next occurrence': ({ times: [next] }) => formatIsoMinute(next?.from ?? null),
    Recurrence: formatRecurrence,
  },
  wideColumns: ['Checks', 'Next occurrence'],
  Tools: createNewButton(resourceName, createDowntimeCall),
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Downtime | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Downtime" title={id === 'new' ? 'New downtime' : (item?.name ?? id)} onClose={onClose}>
      {id === 'new' ? (
        <DowntimeForm />
      ) : item === undefined ? (
        <p>This downtime does not exist.</p>
      ) : (
        <>
          <DowntimeActions key={item.version} downtime={item} onClose={onClose} />
          <p>{renderText(item.description ?? '', { lines: true })}</p>
          <Fields
            values={{
              recurrence: formatRecurrence(item),
              'duration (minutes)': item.durationMinutes,
              'time zone': item.timeZone,
              labels: Object.entries(item.labels)
                .map(([name, value]) => `${name}=${value}`)
                .join(', '),
              'excluded from SLOs': item.excludedFromSlos === true ? 'yes' : 'no',
            }}
          />
          <h3>Checks</h3>
          {item.checks.length === 0 ? <p class="soft">No matching checks.</p> : null}
          <ul class="links column">
            {item.checks.map((check) => (
              <li key={check.id}>
                <Link url={toArea('/checks', { open: check.id })}>{renderText(check.name)}</Link>
              </li>
            ))}
          </ul>
          <NextOccurrences times={item.times} />
        </>
      )}
    </SidePanel>
  ),
});
