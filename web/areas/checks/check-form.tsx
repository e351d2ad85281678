/** Form to edit a check and test it before it is saved */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { createProblemFinder, useSaving } from '../../editors/form-state.tsx';
import { CheckboxGroup, CheckInput, NumberInput, PairsInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projects } from '../../frame/project.ts';
import { useQuery } from '../../frame/use-query.ts';
import { type Check, createCheckCall, type Location, locationsCall, replaceCheckCall, tryCheckCall } from './calls.ts';
import { type LocationResult, RunResults } from './came.tsx';
import { newHeartbeatToken } from './fresh-token.ts';
import { defaultSettings, type Type, typeNames, type Written } from './setting-kinds.ts';
import { TypedSettings } from './settings.tsx';

const emptyCheck: Written = {
  name: '',
  description: '',
  type: 'http',
  http: defaultSettings.http,
  enabled: true,
  projectId: null,
  labels: {},
  every: '1m',
  timeout: '10s',
  locations: ['local'],
  consensus: { down: null },
  retries: { count: 1, wait: '5s' },
  alerting: { enabled: true, severity: 'critical' },
};

/** Returns the writable fields of a check. */
const pickWritableFields = (check: Check): Written => {
  const { id, version, createdAt, updatedAt, state, since, uptime, nextDueAt, tokenPrefix, token, ...written } = check;
  return written;
};

/** Converts a check to another type: type-specific settings are in a field named after the type, and a heartbeat has no locations. */
const convertToType = (check: Written, type: Type): Written => {
  const commonFields = Object.fromEntries(Object.entries(check).filter(([name]) => name !== check.type)) as Written;
  const locations = type === 'heartbeat' ? [] : check.type === 'heartbeat' ? ['local'] : check.locations;
  return { ...commonFields, type, [type]: defaultSettings[type], locations };
};

const CheckTest = ({
  check,
  action,
  nameOf,
}: {
  readonly check: Written;
  readonly action: Action<NonNullable<(typeof tryCheckCall)['operation']>>;
  readonly nameOf: (id: string) => string;
}) => {
  const [results, setResults] = useState<readonly LocationResult[]>([]);
  const run = async (): Promise<void> => {
    setResults([]);
    const answer = await action.run({ body: { check } });
    if (answer !== undefined) setResults(answer.items);
  };
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void run()}>
        {action.isRunning.value ? 'Waiting for results …' : 'Run test'}
      </button>
      <RunResults of={results} nameOf={nameOf} />
      <ErrorMessage error={action.error.value} />
    </>
  );
};

interface CheckFieldsProps {
  readonly check: Written;
  readonly wrong: (path: string) => string | undefined;
  readonly set: (fields: Partial<Written>) => void;
}

/** Timeout, retries and locations. */
const RunSettings = ({
  check: { timeout, locations = [], consensus = {}, retries = {} },
  known: availableLocations,
  wrong,
  set,
}: CheckFieldsProps & { readonly known: readonly Location[] }) => (
  <>
    <TextInput
      label="Timeout"
      value={timeout ?? ''}
      problem={wrong('timeout')}
      onChange={(timeout) => set({ timeout })}
    />
    <NumberInput
      label="Retries"
      value={retries.count ?? null}
      problem={wrong('retries.count') ?? wrong('retries')}
      onChange={(count) => set({ retries: { ...retries, count: count ?? 0 } })}
    />
    <TextInput
      label="Retry delay"
      value={retries.wait ?? ''}
      problem={wrong('retries.wait')}
      onChange={(wait) => set({ retries: { ...retries, wait } })}
    />
    <CheckboxGroup
      label="Locations"
      value={locations}
      options={availableLocations.map(({ id, name }) => [id, name] as const)}
      problem={wrong('locations')}
      onChange={(ids) => set({ locations: [...ids] })}
    />
    <NumberInput
      label="Failing locations"
      hint="Default: the majority; both if there are two"
      value={consensus.down ?? null}
      problem={wrong('consensus.down')}
      onChange={(down) => set({ consensus: { down } })}
    />
  </>
);

/** Project of the results, and alert settings. */
const AlertingSettings = ({ check, wrong, set }: CheckFieldsProps) => {
  const { alerting = {} } = check;
  return (
    <>
      <SelectInput
        label="Project of the results"
        value={check.projectId ?? ''}
        problem={wrong('projectId')}
        options={[['', 'none'], ...projects.value.map(({ id, name }) => [id, name] as const)]}
        onChange={(projectId) => set({ projectId: projectId === '' ? null : projectId })}
      />
      <PairsInput
        label="Labels, one per line"
        hint="team=shop"
        separator="="
        value={check.labels ?? {}}
        problem={wrong('labels')}
        onChange={(labels) => set({ labels })}
      />
      <CheckInput
        label="Alert"
        value={alerting.enabled ?? true}
        onChange={(enabled) => set({ alerting: { ...alerting, enabled } })}
      />
      <SelectInput
        label="Severity"
        value={alerting.severity ?? 'critical'}
        problem={wrong('alerting.severity')}
        options={['info', 'warning', 'error', 'critical'].map((each) => [each, each] as const)}
        onChange={(severity) => set({ alerting: { ...alerting, severity: severity as 'critical' } })}
      />
      <CheckInput label="Enabled" value={check.enabled ?? true} onChange={(enabled) => set({ enabled })} />
    </>
  );
};

export const CheckForm = ({ savedItem }: { readonly savedItem: Check | undefined }) => {
  const [check, setCheck] = useState<Written>(() =>
    savedItem === undefined ? emptyCheck : pickWritableFields(savedItem),
  );
  const [tryAction] = useState(() => new Action(tryCheckCall));
  const { response, error: loadError } = useQuery(locationsCall, {});
  const { save, isRunning, error, ...saveState } = useSaving(createCheckCall, replaceCheckCall, savedItem, (saved) => {
    if (saved.token !== undefined) newHeartbeatToken.value = { id: saved.id, token: saved.token };
  });
  const wrong = (path: string): string | undefined =>
    saveState.findProblem(path) ?? createProblemFinder(tryAction.error.value)(`check.${path}`);
  const set = (fields: Partial<Written>): void => setCheck((now) => ({ ...now, ...fields }));
  const locations = response?.items ?? [];
  const { type } = check;
  const hasRuns = type !== 'heartbeat';
  return (
    <div class="form">
      <ErrorMessage error={loadError} />
      <TextInput label="Name" value={check.name} problem={wrong('name')} onChange={(name) => set({ name })} />
      <TextInput
        label="Description"
        maxLength={4096}
        value={check.description ?? ''}
        problem={wrong('description')}
        onChange={(description) => set({ description })}
      />
      <SelectInput
        label="Type"
        value={type}
        problem={wrong('type')}
        options={Object.entries(typeNames)}
        onChange={(next) => setCheck((now) => convertToType(now, next as Type))}
      />
      <TypedSettings key={type} check={check} wrong={wrong} onChange={set} />
      <TextInput
        label="Frequency"
        hint="10s, 1m or 1h"
        value={check.every ?? ''}
        problem={wrong('every')}
        onChange={(every) => set({ every })}
      />
      {hasRuns ? <RunSettings check={check} known={locations} wrong={wrong} set={set} /> : null}
      <AlertingSettings check={check} wrong={wrong} set={set} />
      <div class="act">
        {hasRuns ? (
          <CheckTest
            check={check}
            action={tryAction}
            nameOf={(id) => locations.find((one) => one.id === id)?.name ?? id}
          />
        ) : null}
        <button type="button" disabled={isRunning} onClick={() => void save(check)}>
          {savedItem === undefined ? 'Create check' : 'Save check'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
