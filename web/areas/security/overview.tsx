/** Overview of security: what is open, with links to the lists */
import { SkeletonTiles, StatTile } from '../../components/stat-tile.tsx';
import { toArea } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { overviewCall, type SecurityOverview } from './calls.ts';
import { Events } from './events.tsx';

const Tiles = (overview: SecurityOverview) => (
  <div class="columns tiles">
    <StatTile
      title="Critical vulnerabilities"
      value={overview.criticalVulnerabilities.count}
      note={`${overview.vulnerabilities.count} open`}
      url={toArea('/security/vulnerabilities', { priority: 'critical' })}
    />
    <StatTile
      title="Running vulnerabilities"
      value={overview.runningVulnerabilities.count}
      note="seen in the last day"
      url={toArea('/security/vulnerabilities', { running: 'running,exposed' })}
    />
    <StatTile
      title="Runtime threats"
      value={overview.threats.count}
      note={`${overview.criticalThreats.count} critical`}
      url={toArea('/security/threats', { state: 'open' })}
    />
    <StatTile
      title="Secrets in telemetry"
      value={overview.secrets.count}
      note={`${overview.activeKeys} active keys to revoke`}
      url={toArea('/security/secrets', { state: 'open' })}
    />
    <StatTile
      title="Signals"
      value={overview.signals.count}
      note={`${overview.criticalSignals.count} critical`}
      url={toArea('/detections')}
    />
    <StatTile title="Detection rules" value={overview.rules.count} note="enabled" url={toArea('/detections/rules')} />
  </div>
);

/** Titles of the tiles while they load */
const tileTitles = [
  'Critical vulnerabilities',
  'Running vulnerabilities',
  'Runtime threats',
  'Secrets in telemetry',
  'Signals',
  'Detection rules',
];

export const SecurityOverviewPage = () => {
  const state = useQuery(overviewCall, { query: { ...timeRange.value, ...projectScope.value } });
  return (
    <>
      <ErrorMessage error={state.error} />
      {state.response === undefined ? <SkeletonTiles titles={tileTitles} /> : <Tiles {...state.response} />}
      <h2>Latest events</h2>
      <Events />
    </>
  );
};
SecurityOverviewPage.requiredCall = overviewCall;
