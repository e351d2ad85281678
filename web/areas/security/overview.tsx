/** Overview of security: what is open, with links to the lists */
import { StatTiles, type TileDefinition } from '../../components/stat-tile.tsx';
import { toArea } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { overviewCall, type SecurityOverview } from './calls.ts';
import { Events } from './events.tsx';

const tiles: readonly TileDefinition<SecurityOverview>[] = [
  [
    'Critical vulnerabilities',
    ({ criticalVulnerabilities, vulnerabilities }) => ({
      value: criticalVulnerabilities.count,
      note: `${vulnerabilities.count} open`,
      url: toArea('/security/vulnerabilities', { priority: 'critical' }),
    }),
  ],
  [
    'Running vulnerabilities',
    ({ runningVulnerabilities }) => ({
      value: runningVulnerabilities.count,
      note: 'seen in the last day',
      url: toArea('/security/vulnerabilities', { running: 'running,exposed' }),
    }),
  ],
  [
    'Runtime threats',
    ({ threats, criticalThreats }) => ({
      value: threats.count,
      note: `${criticalThreats.count} critical`,
      url: toArea('/security/threats', { state: 'open' }),
    }),
  ],
  [
    'Secrets in telemetry',
    ({ secrets, activeKeys }) => ({
      value: secrets.count,
      note: `${activeKeys} active keys to revoke`,
      url: toArea('/security/secrets', { state: 'open' }),
    }),
  ],
  [
    'Signals',
    ({ signals, criticalSignals }) => ({
      value: signals.count,
      note: `${criticalSignals.count} critical`,
      url: toArea('/detections'),
    }),
  ],
  ['Detection rules', ({ rules }) => ({ value: rules.count, note: 'enabled', url: toArea('/detections/rules') })],
];

export const SecurityOverviewPage = () => {
  const state = useQuery(overviewCall, { query: { ...timeRange.value, ...projectScope.value } });
  return (
    <>
      <ErrorMessage error={state.error} />
      <StatTiles tiles={tiles} response={state.response} />
      <h2>Latest events</h2>
      <Events />
    </>
  );
};
SecurityOverviewPage.requiredCall = overviewCall;
