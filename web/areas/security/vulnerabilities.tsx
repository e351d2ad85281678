/** Vulnerabilities by priority, and their packages and targets */

import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { triageVulnerabilityCall, type Vulnerability, vulnerabilitiesCall } from './calls.ts';
import { describeState, stateFilter, TriageForm } from './triage.tsx';

const factorTitles: Readonly<Record<Vulnerability['factors'][number]['factor'], string>> = {
  'known-exploited': 'Known exploited',
  epss: 'EPSS',
  cvss: 'CVSS',
  'fix-available': 'Fix available',
  running: 'Running',
  process: 'Process of the package',
};

const Factors = ({ factors, score }: Pick<Vulnerability, 'factors' | 'score'>) => (
  <>
    <h3>Priority: {score} points</h3>
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">Factor</th>
          <th scope="col">Value</th>
          <th scope="col" class="number">
            Points
          </th>
        </tr>
      </thead>
      <tbody>
        {factors.map(({ factor, value, points, maxPoints }) => (
          <tr key={factor}>
            <td>{factorTitles[factor]}</td>
            <td>{renderText(value ?? 'unknown')}</td>
            <td class="number">
              {points} of {maxPoints}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
);

const VulnerabilityPanel = ({
  item,
  onClose,
}: {
  readonly item: Vulnerability | undefined;
  readonly onClose: () => void;
}) =>
  item === undefined ? (
    <SidePanel label="Vulnerability" title="Not in this list" onClose={onClose}>
      <p class="soft">The vulnerability is not on the loaded pages, or the filters exclude it.</p>
    </SidePanel>
  ) : (
    <SidePanel label="Vulnerability" title={item.vulnerability} onClose={onClose}>
      <p>{renderText(item.title)}</p>
      <Fields
        values={{
          Package: `${item.package.name} ${item.package.version}`,
          Ecosystem: item.package.ecosystem,
          Target: item.target.name,
          Location: item.location,
          'Fixed in': item.fixedVersions.join(', '),
          Aliases: item.aliases.join(', '),
          'CVSS vector': item.cvssVector ?? '',
          Services: item.services.join(', '),
          First: formatIsoSecond(item.firstTime),
          Last: formatIsoSecond(item.lastTime),
          Scanners: item.sources.map(({ scanner, id, severity }) => `${scanner}: ${id} ${severity}`).join(', '),
          VEX: item.vex.map(({ status, justification }) => `${status} ${justification}`).join(', '),
        }}
      />
      <Factors factors={item.factors} score={item.score} />
      <TriageForm item={item} call={triageVulnerabilityCall} />
    </SidePanel>
  );

const FindingList = createListView({
  title: 'Vulnerabilities',
  call: vulnerabilitiesCall,
  choices: [
    {
      name: 'priority',
      label: 'Priority',
      options: [['', 'all'], ...['critical', 'high', 'medium', 'low'].map((name) => [name, name] as const)],
    },
    {
      name: 'running',
      label: 'Runs',
      options: [
        ['', 'any'],
        ['running,exposed', 'running'],
        ['exposed', 'called by others'],
        ['unknown', 'unknown'],
        ['not-running', 'not running'],
      ],
    },
    {
      name: 'status',
      label: 'Scanners',
      options: [
        ['open', 'open'],
        ['fixed', 'fixed'],
        ['all', 'all'],
      ],
    },
    stateFilter,
  ],
  filters: ['package', 'target', 'vulnerability', 'service'],
  emptyText: 'No vulnerabilities found.',
  toKey: ({ id }) => id,
  columns: {
    Vulnerability: ({ vulnerability }) => vulnerability,
    Priority: ({ priority }) => <SeverityBadge severity={priority} />,
    Package: ({ package: item }) => `${item.name} ${item.version}`,
    Target: ({ target }) => target.name,
    Runs: ({ running }) => running,
    CVSS: ({ cvss }) => cvss ?? 'unknown',
    'Fixed in': ({ fixedVersions }) => fixedVersions[0] ?? 'no fix',
    State: (item) => describeState(item),
  },
  numericColumns: ['CVSS'],
  wideColumns: ['Target', 'Runs', 'CVSS', 'Fixed in', 'State'],
  ItemPanel: VulnerabilityPanel,
});

const groupings = [
  ['', 'Findings'],
  ['package', 'Packages'],
  ['target', 'Images, hosts and repositories'],
] as const;

const GroupTable = ({ groupBy }: { readonly groupBy: 'package' | 'target' }) => {
  const { response, error } = useQuery(vulnerabilitiesCall, { query: { groupBy, limit: 200 } });
  const toFilter = (name: string): string =>
    toArea('/security/vulnerabilities', { [groupBy]: groupBy === 'package' ? (name.split(' ')[0] ?? '') : name });
  return (
    <>
      <ErrorMessage error={error} />
      {response === undefined ? null : response.groups.length === 0 ? (
        <p class="said">No open vulnerabilities.</p>
      ) : (
        <ScrollRegion class="scrolled" label="Groups">
          <table class="figures texts">
            <thead>
              <tr>
                <th scope="col">{groupBy === 'package' ? 'Package' : 'Target'}</th>
                <th scope="col">Kind</th>
                <th scope="col">Highest priority</th>
                <th scope="col">Runs</th>
                <th scope="col" class="number">
                  Findings
                </th>
              </tr>
            </thead>
            <tbody>
              {response.groups.map(({ name, kind, findings, priority, running }) => (
                <tr key={name}>
                  <td>
                    <Link url={toFilter(name)}>{renderText(name)}</Link>
                  </td>
                  <td>{kind}</td>
                  <td>
                    <SeverityBadge severity={priority} />
                  </td>
                  <td>{running}</td>
                  <td class="number">{findings}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </>
  );
};

export const Vulnerabilities = () => {
  const groupBy = readParam('view');
  return (
    <>
      <div class="toolbar">
        <label>
          View{' '}
          <select value={groupBy} onChange={({ currentTarget }) => setParams({ view: currentTarget.value, open: '' })}>
            {groupings.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      {groupBy === 'package' || groupBy === 'target' ? <GroupTable key={groupBy} groupBy={groupBy} /> : <FindingList />}
    </>
  );
};
Vulnerabilities.requiredCall = vulnerabilitiesCall;
