/** Synthetic checks: how each stands and how it stood, and one with its runs and where they came from. */
import { useAsked } from '../../frame/asked.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { Problem } from '../../frame/standing.tsx';
import { Beside, Fields } from '../../lists/beside.tsx';
import { listed } from '../../lists/listed.tsx';
import { type Check, checksCall, type Location, locationsCall } from './calls.ts';
import { Pictures } from './pictures.tsx';
import { RunNow, Runs } from './runs.tsx';
import { Standing, shownMs, shownUptime, stateOf } from './shown.tsx';
import { Try } from './try.tsx';
import { Uptimes } from './uptime.tsx';

/** Clocks that differ by less trouble nobody. */
const toldAheadMs = 1000;

/** Locations whose clocks differ from the platform's. */
const Clocks = ({ of }: { readonly of: readonly Location[] }) => {
  const wrong = of.filter(({ clockAheadMs }) => Math.abs(clockAheadMs ?? 0) >= toldAheadMs);
  if (wrong.length === 0) return null;
  return (
    <ul aria-label="Locations whose clocks differ">
      {wrong.map(({ id, name, clockAheadMs }) => (
        <li key={id} class="text-warn">
          The clock of <bdi>{shownText(name)}</bdi> is {shownMs(Math.abs(clockAheadMs ?? 0))}{' '}
          {(clockAheadMs ?? 0) > 0 ? 'ahead' : 'behind'}; times are shown by the platform’s.
        </li>
      ))}
    </ul>
  );
};

const OpenCheck = ({
  id,
  item: check,
  onClose,
}: {
  readonly id: string;
  readonly item: Check | undefined;
  readonly onClose: () => void;
}) => {
  const { answer, error } = useAsked(locationsCall, {});
  const locations = answer?.items ?? [];
  const nameOf = (location: string): string => locations.find((one) => one.id === location)?.name ?? location;
  const cannot = locations.flatMap(({ id: location, name, cannot: types }) =>
    types
      .filter(({ type }) => type === check?.type && check.locations.includes(location))
      .map(({ reason }) => ({ location, name, reason })),
  );
  return (
    <Beside label="Check" title={check?.name ?? 'Check'} onClose={onClose}>
      <Problem error={error} />
      {check === undefined ? (
        <p>This check is not on the pages that were read.</p>
      ) : (
        <>
          <p>{shownText(check.description ?? '', { lines: true })}</p>
          <p>
            <Standing of={stateOf(check)} />
            {check.since === null ? '' : ` since ${shownMoment(check.since)}`}
          </p>
          {cannot.length === 0 ? null : (
            <ul aria-label="Locations that cannot run it">
              {cannot.map(({ location, name, reason }) => (
                <li key={location} class="text-warn">
                  <bdi>{shownText(name)}</bdi> cannot run it: {shownText(reason)}
                </li>
              ))}
            </ul>
          )}
          <Clocks of={locations.filter(({ id: location }) => check.locations.includes(location))} />
          {check.locations.length === 0 ? null : <RunNow id={id} nameOf={nameOf} />}
          {check.type === 'heartbeat' ? null : <Try key={check.version} check={check} nameOf={nameOf} />}
          <Uptimes check={check} nameOf={nameOf} />
          <Runs id={id} nameOf={nameOf} />
          {check.type === 'browser' ? <Pictures id={id} nameOf={nameOf} /> : null}
          <h3>How it is set up</h3>
          <Fields
            values={{
              ...{ type: check.type, every: check.every, 'an attempt takes at most': check.timeout },
              ...{ 'more attempts': check.retries?.count, locations: check.locations.map(nameOf).join(', ') },
              ...check.labels,
            }}
          />
        </>
      )}
    </Beside>
  );
};

const List = listed({
  title: 'Checks',
  call: checksCall,
  search: 'part of a name',
  nothing: 'No checks were found. They are set up through the API, or as code.',
  keyOf: ({ id }) => id,
  columns: {
    Name: ({ name }) => name,
    State: (check) => <Standing of={stateOf(check)} />,
    Since: ({ since }) => shownMoment(since),
    '1 day': ({ uptime }) => shownUptime(uptime?.day),
    '30 days': ({ uptime }) => shownUptime(uptime?.days30),
    '90 days': ({ uptime }) => shownUptime(uptime?.days90),
    Type: ({ type }) => type,
    Every: ({ every }) => every,
  },
  numbers: ['1 day', '30 days', '90 days'],
  Open: OpenCheck,
});

export const Checks = () => (
  <div class="logs">
    <h1 class="sr-only">Checks</h1>
    <List />
  </div>
);
