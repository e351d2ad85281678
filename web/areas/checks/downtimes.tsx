/** Planned downtimes of checks: next occurrence and scope. Each is also a maintenance window. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { writeOf, wrongIn } from '../../editors/form-state.tsx';
import { PairsInput, SomeInput } from '../../editors/inputs.tsx';
import { againOf, NextTimes, newPlan, PlanObjectives, PlanProjects, PlanTimes } from '../../editors/plan.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { change, toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { checksCall, createDowntimeCall, type Downtime, deleteDowntimeCall, downtimesCall } from './calls.ts';

const DowntimeForm = () => {
  const [action] = useState(() => new Action(createDowntimeCall));
  const { answer, error: loadError } = useQuery(checksCall, { query: { limit: 1000 } });
  const [plan, setPlan] = useState(newPlan);
  const [scope, setScope] = useState<{ readonly checkIds: readonly string[]; readonly labels: Record<string, string> }>(
    { checkIds: [], labels: {} },
  );
  const error = action.error.value;
  const wrong = (path: string): string | undefined => wrongIn(error)(path);
  const planProps = {
    plan,
    wrong,
    onChange: (changed: Partial<typeof plan>): void => setPlan((now) => ({ ...now, ...changed })),
  };
  const save = async (): Promise<void> => {
    const createdDowntime = await action.run({
      body: { ...plan, checkIds: [...scope.checkIds], labels: scope.labels },
    });
    if (createdDowntime === undefined) return;
    change({ open: createdDowntime.id });
    refresh();
  };
  return (
    <div class="form">
      <Problem error={loadError} />
      <PlanTimes {...planProps} />
      <SomeInput
        label="Checks"
        value={scope.checkIds}
        problem={wrong('checkIds')}
        options={(answer?.items ?? []).map(({ id, name }) => [id, name] as const)}
        onChange={(checkIds) => setScope({ ...scope, checkIds })}
      />
      <PairsInput
        label="Check labels (match all), one per line"
        hint="team=shop"
        between="="
        value={scope.labels}
        problem={wrong('labels')}
        onChange={(labels) => setScope({ ...scope, labels })}
      />
      <PlanProjects {...planProps} />
      <PlanObjectives {...planProps} />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Schedule downtime
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};

const DowntimeActions = ({ of: { id, version }, onClose }: { readonly of: Downtime; readonly onClose: () => void }) => {
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
      <Link to={toArea('/alerts/maintenance', { open: id, edit: id })}>Edit as maintenance window</Link>
    </RemovalForm>
  );
};

const noun = 'downtime';

export const Downtimes = listed({
  title: 'Downtimes',
  call: downtimesCall,
  sent: { limit: '' },
  filters: ['checkId'],
  nothing: 'No downtimes yet.',
  keyOf: ({ id }) => id,
  columns: {
    Downtime: ({ name }) => name,
    State: ({ isActive }) => (isActive ? <span class="text-warn">active</span> : 'no'),
    Checks: ({ checks }) => checks.map(({ name }) => name).join(', '),
    'Next occurrence': ({ times: [next] }) => shownMoment(next?.from ?? null).slice(0, 16),
    Recurrence: againOf,
  },
  Tools: writeOf(noun, createDowntimeCall),
  Open: ({
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
          <DowntimeActions key={item.version} of={item} onClose={onClose} />
          <p>{shownText(item.description ?? '', { lines: true })}</p>
          <Fields
            values={{
              recurrence: againOf(item),
              'duration (minutes)': item.durationMinutes,
              'time zone': item.timeZone,
              labels: Object.entries(item.labels).join(', '),
              'excluded from SLOs': item.excludedFromSlos === true ? 'yes' : 'no',
            }}
          />
          <h3>Checks</h3>
          {item.checks.length === 0 ? <p class="soft">No matching checks.</p> : null}
          <ul class="links column">
            {item.checks.map((check) => (
              <li key={check.id}>
                <Link to={toArea('/checks', { open: check.id })}>{shownText(check.name)}</Link>
              </li>
            ))}
          </ul>
          <NextTimes times={item.times} />
        </>
      )}
    </SidePanel>
  ),
});
