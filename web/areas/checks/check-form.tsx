/** Form to edit a check and test it before it is saved */
import { Play } from 'lucide';
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Button } from '../../components/button.tsx';
import { FormStep } from '../../components/form-step.tsx';
import { createProblemFinder, useSaving } from '../../editors/form-state.tsx';
import { CheckboxGroup, CheckInput, NumberInput, PairsInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projects } from '../../frame/project.ts';
import { useQuery } from '../../frame/use-query.ts';
import { type Check, createCheckCall, type Location, locationsCall, replaceCheckCall, testCheckCall } from './calls.ts';
import { newHeartbeatToken } from './fresh-token.ts';
import { type LocationResult, RunResults } from './run-results.tsx';
import { type CheckDraft, type CheckType, defaultSettingsByType, typeNames } from './setting-kinds.ts';
import { TypedSettings } from './settings.tsx';

const emptyCheck: CheckDraft = {
  name: '',
  description: '',
  type: 'http',
  http: defaultSettingsByType.http,
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

/** Fields of a response that a draft does not have. A field that is missing here fails to compile. */
const viewFields: Readonly<Record<Exclude<keyof Check, keyof CheckDraft>, true>> = {
  id: true,
  version: true,
  createdAt: true,
  updatedAt: true,
  state: true,
  since: true,
  hasNoData: true,
  uptime: true,
  nextDueAt: true,
  tokenPrefix: true,
  token: true,
  importedFrom: true,
};

const pickWritableFields = (check: Check): CheckDraft =>
  Object.fromEntries(Object.entries(check).filter(([name]) => !(name in viewFields))) as CheckDraft;

/** Converts a check to another type: type-specific settings are in a field named after the type, and a heartbeat has no locations. */
const convertToType = (check: CheckDraft, type: CheckType): CheckDraft => {
  const commonFields = Object.fromEntries(Object.entries(check).filter(([name]) => name !== check.type)) as CheckDraft;
  const locations = type === 'heartbeat' ? [] : check.type === 'heartbeat' ? ['local'] : check.locations;
  return { ...commonFields, type, [type]: defaultSettingsByType[type], locations };
};

/** Titles of the settings of a type */
const sectionTitles: Partial<Record<CheckType, string>> = {
  http: 'Requests',
  browser: 'Steps',
  heartbeat: 'Expected heartbeats',
};

const CheckTest = ({
  check,
  action,
  getLocationName,
}: {
  readonly check: CheckDraft;
  readonly action: Action<NonNullable<(typeof testCheckCall)['operation']>>;
  readonly getLocationName: (id: string) => string;
}) => {
  const [results, setResults] = useState<readonly LocationResult[]>([]);
  const testCheck = async (): Promise<void> => {
    setResults([]);
    const response = await action.run({ body: { check } });
    if (response !== undefined) setResults(response.items);
  };
  return (
    <section class="check-test" aria-label="Test">
      <div class="act">
        <Button icon={Play} disabled={action.isRunning.value} onClick={() => void testCheck()}>
          {action.isRunning.value ? 'Waiting for results …' : 'Run test'}
        </Button>
      </div>
      <ErrorMessage error={action.error.value} />
      {results.length > 0 || action.isRunning.value ? null : (
        <p class="soft">A test runs the check once at each location, without saving it.</p>
      )}
      <RunResults results={results} getLocationName={getLocationName} />
    </section>
  );
};

interface CheckFieldsProps {
  readonly check: CheckDraft;
  readonly wrong: (path: string) => string | undefined;
  readonly updateCheck: (fields: Partial<CheckDraft>) => void;
}

/** Timeout, retries and locations. */
const RunSettings = ({
  check: { timeout, locations = [], consensus = {}, retries = {} },
  availableLocations,
  wrong,
  updateCheck,
}: CheckFieldsProps & { readonly availableLocations: readonly Location[] }) => (
  <>
    <TextInput
      label="Timeout"
      value={timeout ?? ''}
      problem={wrong('timeout')}
      onChange={(timeout) => updateCheck({ timeout })}
    />
    <NumberInput
      label="Retries"
      value={retries.count ?? null}
      problem={wrong('retries.count') ?? wrong('retries')}
      onChange={(count) => updateCheck({ retries: { ...retries, count: count ?? 0 } })}
    />
    <TextInput
      label="Retry delay"
      value={retries.wait ?? ''}
      problem={wrong('retries.wait')}
      onChange={(wait) => updateCheck({ retries: { ...retries, wait } })}
    />
    <CheckboxGroup
      label="Locations"
      value={locations}
      options={availableLocations.map(({ id, name }) => [id, name] as const)}
      problem={wrong('locations')}
      onChange={(ids) => updateCheck({ locations: [...ids] })}
    />
    <NumberInput
      label="Failing locations"
      hint="Default: the majority; both if there are two"
      value={consensus.down ?? null}
      problem={wrong('consensus.down')}
      onChange={(down) => updateCheck({ consensus: { down } })}
    />
  </>
);

/** Project of the results, and alert settings. */
const AlertingSettings = ({ check, wrong, updateCheck }: CheckFieldsProps) => {
  const { alerting = {} } = check;
  return (
    <>
      <SelectInput
        label="Project of the results"
        value={check.projectId ?? ''}
        problem={wrong('projectId')}
        options={[['', 'none'], ...projects.value.map(({ id, name }) => [id, name] as const)]}
        onChange={(projectId) => updateCheck({ projectId: projectId === '' ? null : projectId })}
      />
      <PairsInput
        label="Labels"
        value={check.labels ?? {}}
        problem={wrong('labels')}
        onChange={(labels) => updateCheck({ labels })}
      />
      <CheckInput
        label="Alert"
        value={alerting.enabled ?? true}
        onChange={(enabled) => updateCheck({ alerting: { ...alerting, enabled } })}
      />
      <SelectInput
        label="Severity"
        value={alerting.severity ?? 'critical'}
        problem={wrong('alerting.severity')}
        options={['info', 'warning', 'error', 'critical'].map((severityName) => [severityName, severityName] as const)}
        onChange={(severity) => updateCheck({ alerting: { ...alerting, severity: severity as 'critical' } })}
      />
      <CheckInput label="Enabled" value={check.enabled ?? true} onChange={(enabled) => updateCheck({ enabled })} />
    </>
  );
};

export const CheckForm = ({ savedItem }: { readonly savedItem: Check | undefined }) => {
  const [check, setCheck] = useState<CheckDraft>(() =>
    savedItem === undefined ? emptyCheck : pickWritableFields(savedItem),
  );
  const [tryAction] = useState(() => new Action(testCheckCall));
  const { response, error: loadError } = useQuery(locationsCall, {});
  const { save, isRunning, error, ...saveState } = useSaving(
    createCheckCall,
    replaceCheckCall,
    savedItem,
    (savedCheck) => {
      if (savedCheck.token !== undefined) newHeartbeatToken.value = { id: savedCheck.id, token: savedCheck.token };
    },
  );
  const wrong = (path: string): string | undefined =>
    saveState.findProblem(path) ?? createProblemFinder(tryAction.error.value)(`check.${path}`);
  const updateCheck = (fields: Partial<CheckDraft>): void =>
    setCheck((currentCheck) => ({ ...currentCheck, ...fields }));
  const locations = response?.items ?? [];
  const { type } = check;
  const hasRuns = type !== 'heartbeat';
  return (
    <div class="check-editor">
      <div class="form">
        <ErrorMessage error={loadError} />
        <FormStep number={1} title="Check">
          <div class="field-row">
            <TextInput
              label="Name"
              value={check.name}
              problem={wrong('name')}
              onChange={(name) => updateCheck({ name })}
            />
            <SelectInput
              label="Type"
              value={type}
              problem={wrong('type')}
              options={Object.entries(typeNames)}
              onChange={(newType) => setCheck((currentCheck) => convertToType(currentCheck, newType as CheckType))}
            />
          </div>
          <TextInput
            label="Description"
            maxLength={4096}
            value={check.description ?? ''}
            problem={wrong('description')}
            onChange={(description) => updateCheck({ description })}
          />
        </FormStep>
        <FormStep number={2} title={sectionTitles[type] ?? 'Target'}>
          <TypedSettings key={type} check={check} findProblem={wrong} onChange={updateCheck} />
        </FormStep>
        <FormStep number={3} title="Schedule">
          <TextInput
            label="Frequency"
            hint="10s, 1m or 1h"
            value={check.every ?? ''}
            problem={wrong('every')}
            onChange={(every) => updateCheck({ every })}
          />
          {hasRuns ? (
            <RunSettings check={check} availableLocations={locations} wrong={wrong} updateCheck={updateCheck} />
          ) : null}
        </FormStep>
        <FormStep number={4} title="Alerting and labels">
          <AlertingSettings check={check} wrong={wrong} updateCheck={updateCheck} />
        </FormStep>
        <div class="act">
          <Button kind="primary" disabled={isRunning} onClick={() => void save(check)}>
            {savedItem === undefined ? 'Create check' : 'Save check'}
          </Button>
          <ErrorMessage error={error} />
        </div>
      </div>
      {hasRuns ? (
        <CheckTest
          check={check}
          action={tryAction}
          getLocationName={(id) => locations.find((location) => location.id === id)?.name ?? id}
        />
      ) : null}
    </div>
  );
};
