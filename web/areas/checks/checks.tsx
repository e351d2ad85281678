/** Synthetic checks with their current state and uptime, and the details of a single check with its runs */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Button } from '../../components/button.tsx';
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { noDataFilter } from '../../lists/empty-results-filter.ts';
import { Fields } from '../../lists/side-panel.tsx';
import {
  type Check,
  checksCall,
  createCheckCall,
  downtimesCall,
  exportChecksCall,
  type Location,
  locationsCall,
  renewTokenCall,
  updateCheckCall,
  variablesCall,
} from './calls.ts';
import { describeState, formatMs, formatUptime, StateLabel } from './check-format.tsx';
import { newHeartbeatToken } from './fresh-token.ts';
import { Screenshots } from './pictures.tsx';
import { RunNow, Runs } from './runs.tsx';
import { typeNames } from './setting-kinds.ts';
import { HourlyUptime, Uptimes } from './uptime.tsx';

/** Minimum clock skew that is displayed, in milliseconds */
const minClockSkewMs = 1000;

/** Locations whose clocks differ from the platform's clock. */
const ClockSkewWarningList = ({ locations }: { readonly locations: readonly Location[] }) => {
  const skewedLocations = locations.filter(({ clockAheadMs }) => Math.abs(clockAheadMs ?? 0) >= minClockSkewMs);
  if (skewedLocations.length === 0) return null;
  return (
    <ul aria-label="Locations with clock differences">
      {skewedLocations.map(({ id, name, clockAheadMs }) => (
        <li key={id} class="text-warn">
          The clock of <bdi>{renderText(name)}</bdi> is {formatMs(Math.abs(clockAheadMs ?? 0))}{' '}
          {(clockAheadMs ?? 0) > 0 ? 'ahead' : 'behind'}; timestamps use the clock of the platform.
        </li>
      ))}
    </ul>
  );
};

/** Token of a heartbeat: the newly created one, or the prefix of the existing one, and a button to create another. */
const HeartbeatToken = ({ check: { id, tokenPrefix } }: { readonly check: Check }) => {
  const [action] = useState(() => new Action(renewTokenCall));
  const newToken = newHeartbeatToken.value?.id === id ? newHeartbeatToken.value.token : '';
  const renewToken = async (): Promise<void> => {
    const renewedToken = await action.run({ params: { id } });
    if (renewedToken === undefined) return;
    newHeartbeatToken.value = { id, token: renewedToken.token };
    refresh();
  };
  return (
    <>
      {newToken === '' ? (
        <p>
          Token prefix: <code>{renderText(tokenPrefix ?? '')}</code>
        </p>
      ) : (
        <p role="status">
          Send heartbeats to <code>/beats/{newToken}</code>. The token is shown only once.
        </p>
      )}
      {isPermitted(renewTokenCall) ? (
        <ActionForm action={action} label="Create new token" onSubmit={renewToken}>
          <span class="soft">The previous token is revoked.</span>
        </ActionForm>
      ) : null}
    </>
  );
};

const EnableButton = ({ check: { id, version, enabled } }: { readonly check: Check }) => {
  const [action] = useState(() => new Action(updateCheckCall));
  if (!isPermitted(updateCheckCall)) return null;
  const toggleEnabled = async (): Promise<void> => {
    if ((await action.run({ params: { id }, body: { enabled: !enabled }, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <div class="act">
      <Button disabled={action.isRunning.value} onClick={() => void toggleEnabled()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <ErrorMessage error={action.error.value} />
    </div>
  );
};

const CheckDetails = ({ item: check }: { readonly item: Check }) => {
  const { id } = check;
  const { response, error } = useQuery(locationsCall, {});
  const locations = response?.items ?? [];
  const formatLocation = (location: string): string =>
    locations.find((knownLocation) => knownLocation.id === location)?.name ?? location;
  const unsupportedLocations = locations.flatMap(({ id: location, name, unsupportedTypes: types }) =>
    types
      .filter(({ type }) => type === check.type && check.locations.includes(location))
      .map(({ reason }) => ({ location, name, reason })),
  );
  return (
    <>
      <ErrorMessage error={error} />
      <p>{renderText(check.description ?? '', { lines: true })}</p>
      <p>
        <StateLabel state={describeState(check)} />
        {check.since === null ? '' : ` since ${formatIsoTime(check.since)}`}
      </p>
      {check.hasNoData ? (
        <p class="problem">No location has returned a result so far. Check that a probe of its locations runs.</p>
      ) : null}
      {unsupportedLocations.length === 0 ? null : (
        <ul aria-label="Locations that cannot run this check">
          {unsupportedLocations.map(({ location, name, reason }) => (
            <li key={location} class="text-warn">
              <bdi>{renderText(name)}</bdi> cannot run this check: {renderText(reason)}
            </li>
          ))}
        </ul>
      )}
      <ClockSkewWarningList locations={locations.filter(({ id: location }) => check.locations.includes(location))} />
      <div class="check-actions">
        {check.locations.length === 0 ? null : <RunNow id={id} getLocationName={formatLocation} />}
        <EnableButton key={check.version} check={check} />
      </div>
      {check.type === 'heartbeat' ? <HeartbeatToken check={check} /> : null}
      <Uptimes check={check} getLocationName={formatLocation} />
      <Runs id={id} getLocationName={formatLocation} />
      {check.type === 'browser' ? <Screenshots id={id} getLocationName={formatLocation} /> : null}
      <h3>Configuration</h3>
      <Fields
        values={{
          type: typeNames[check.type],
          frequency: check.every,
          timeout: check.timeout,
          retries: check.retries?.count,
          locations: check.locations.map(formatLocation).join(', '),
          'next run': check.nextDueAt?.map((at) => formatIsoTime(at)).join(', '),
          ...check.labels,
        }}
      />
    </>
  );
};

const resourceName = 'check';
const CheckForm = lazyLoad(async () => (await import('./check-form.tsx')).CheckForm);

const CheckList = createListView({
  title: 'Checks',
  call: checksCall,
  isOfProject: true,
  search: 'Search by name',
  choices: [noDataFilter],
  emptyText: 'No checks yet.',
  toKey: ({ id }) => id,
  columns: {
    Name: ({ name }) => name,
    State: (check) =>
      check.hasNoData && check.enabled ? <StateLabel state="no data" /> : <StateLabel state={describeState(check)} />,
    Since: ({ since }) => formatIsoTime(since),
    'Last 24 hours': (check) => <HourlyUptime check={check} />,
    '1 day': ({ uptime }) => formatUptime(uptime?.day),
    '30 days': ({ uptime }) => formatUptime(uptime?.days30),
    '90 days': ({ uptime }) => formatUptime(uptime?.days90),
    Type: ({ type }) => typeNames[type],
    Frequency: ({ every }) => every,
  },
  wideColumns: ['Since', 'Last 24 hours', '1 day', '30 days', '90 days', 'Type', 'Frequency'],
  numericColumns: ['1 day', '30 days', '90 days'],
  Tools: createNewButton(resourceName, createCheckCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/synthetics/checks/{id}',
    Form: CheckForm,
    Details: CheckDetails,
  }),
});

export const Checks = createTabbedView('Checks', [
  { name: '', title: 'Checks', View: CheckList },
  {
    name: 'variables',
    title: 'Variables',
    requiredCall: variablesCall,
    View: lazyLoad(async () => (await import('./variables.tsx')).Variables),
  },
  {
    name: 'downtimes',
    title: 'Downtimes',
    requiredCall: downtimesCall,
    View: lazyLoad(async () => (await import('./downtimes.tsx')).Downtimes),
  },
  {
    name: 'locations',
    title: 'Locations',
    requiredCall: locationsCall,
    View: lazyLoad(async () => (await import('./locations.tsx')).Locations),
  },
  {
    name: 'code',
    title: 'As code',
    requiredCall: exportChecksCall,
    View: lazyLoad(async () => (await import('./as-code.tsx')).ChecksAsCode),
  },
]);
