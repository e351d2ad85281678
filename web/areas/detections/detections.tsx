/** Detections: signals and their triage, rules, the ATT&CK matrix, cases, and further lists */

import type { listFileChanges } from '../../../api/groups/siem/file-changes.ts';
import type { ruleResource } from '../../../api/groups/siem/rule.ts';
import type { listSignals } from '../../../api/groups/siem/signals.ts';
import type { listThreatMatches } from '../../../api/groups/siem/threat-matches.ts';
import { formatNumber } from '../../charts/values.ts';
import { declareCall, declareListCall } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoSecond } from '../../frame/format-time.ts';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { Cases } from './cases.tsx';
import { Entities } from './entities.tsx';
import { Hunts } from './hunts.tsx';
import { RulePanel, RuleTools } from './rule.tsx';
import { SignalPanel } from './signal.tsx';

const severities = ['critical', 'high', 'medium', 'low', 'informational'];
const severityFilter = {
  name: 'severity',
  label: 'Severity',
  options: [['', 'all'] as const, ...severities.map((severity) => [severity, severity] as const)],
};

const Signals = createListView({
  title: 'Signals',
  call: declareCall<typeof listSignals>('GET', '/api/siem/signals'),
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    {
      name: 'state',
      label: 'Status',
      options: [
        ['', 'all'],
        ['open', 'open'],
        ['acknowledged', 'acknowledged'],
        ['closed', 'closed'],
      ],
    },
    severityFilter,
  ],
  hasAssigneeFilter: true,
  filters: ['ruleId', 'technique', 'entity'],
  emptyText: 'No security signals in this range.',
  toKey: ({ id }) => id,
  columns: {
    Rule: ({ ruleTitle }) => ruleTitle,
    Severity: ({ severity }) => <SeverityBadge severity={severity} />,
    State: ({ state, verdict }) => `${state}${verdict === null ? '' : `: ${verdict}`}`,
    Entity: ({ entities }) => entities.map(({ type, value }) => `${type} ${value}`).join(', '),
    Techniques: ({ techniques }) => techniques.join(', '),
    Records: ({ eventCount }) => formatNumber(eventCount),
    Time: ({ time }) => formatIsoSecond(time),
  },
  wideColumns: ['Entity', 'Techniques', 'Records', 'Time'],
  numericColumns: ['Records'],
  ItemPanel: SignalPanel,
});

const Rules = createListView({
  title: 'Rules',
  call: declareListCall<typeof ruleResource>('/api/siem/rules'),
  search: 'Search by title',
  choices: [
    severityFilter,
    {
      name: 'enabled',
      label: 'Status',
      options: [
        ['', 'all'],
        ['true', 'enabled'],
        ['false', 'disabled'],
      ],
    },
  ],
  emptyText: 'No detection rules yet.',
  toKey: ({ id }) => id,
  Tools: RuleTools,
  columns: {
    Rule: ({ title }) => title,
    Severity: ({ level }) => <SeverityBadge severity={level} />,
    Kind: ({ kind }) => kind,
    State: ({ enabled, switchedOff }) =>
      switchedOff === null ? (
        enabled ? (
          'enabled'
        ) : (
          'disabled'
        )
      ) : (
        <span class="text-error">disabled: {switchedOff.reason}</span>
      ),
    Tags: ({ tags }) => tags.join(', '),
    Updated: ({ updatedAt }) => formatIsoMinute(updatedAt),
  },
  wideColumns: ['Kind', 'Tags', 'Updated'],
  ItemPanel: RulePanel,
});

const ThreatMatches = createListView({
  title: 'Matches',
  call: declareCall<typeof listThreatMatches>('GET', '/api/siem/threat-intel/matches'),
  isOfProject: true,
  hasTimeRange: true,
  emptyText: 'No records in this range match a known indicator.',
  toKey: ({ id }) => id,
  columns: {
    Indicator: ({ indicator }) => `${indicator.type} ${indicator.value}`,
    Confidence: ({ indicator }) => indicator.score,
    Source: ({ indicator }) => indicator.source,
    Field: ({ field }) => field,
    Host: ({ host }) => host,
    User: ({ user }) => user,
    Records: ({ count }) => count,
    'First record': ({ recordId, time }) => (
      <Link url={toArea('/logs', { record: recordId })}>{renderText(formatIsoSecond(time))}</Link>
    ),
  },
  wideColumns: ['Confidence', 'Source', 'Field', 'Host', 'User', 'First record'],
  numericColumns: ['Confidence', 'Records'],
});

const FileChanges = createListView({
  title: 'File changes',
  call: declareCall<typeof listFileChanges>('GET', '/api/siem/fim'),
  isOfProject: true,
  hasTimeRange: true,
  emptyText: 'No file changes in this range.',
  toKey: ({ id }) => id,
  columns: {
    Path: ({ path }) => path,
    Action: ({ action }) => action,
    Verdict: ({ verdict, reason }) => (
      <span class={verdict === 'unapproved' ? 'text-error' : ''} title={reason}>
        {verdict}
      </span>
    ),
    Host: ({ host }) => host,
    User: ({ user }) => user,
    Process: ({ process }) => process,
    Record: ({ recordId, time }) => (
      <Link url={toArea('/logs', { record: recordId })}>{renderText(formatIsoSecond(time))}</Link>
    ),
  },
  wideColumns: ['Action', 'Host', 'User', 'Process', 'Record'],
});

export const Detections = createTabbedView('Detections', [
  { name: '', title: 'Signals', View: Signals },
  { name: 'entities', title: 'Entities', View: Entities },
  { name: 'rules', title: 'Rules', View: Rules },
  {
    name: 'import',
    title: 'Import',
    View: lazyLoad(async () => (await import('./import.tsx')).RuleImport),
    requiredCall: { method: 'POST', path: '/api/siem/rules/import' },
  },
  {
    name: 'placeholders',
    title: 'Placeholders',
    View: lazyLoad(async () => (await import('./placeholders.tsx')).Placeholders),
    requiredCall: { method: 'GET', path: '/api/siem/placeholders' },
  },
  {
    name: 'fields',
    title: 'Fields',
    View: lazyLoad(async () => (await import('./field-tables.tsx')).FieldTables),
    requiredCall: { method: 'GET', path: '/api/siem/field-tables' },
  },
  { name: 'matrix', title: 'ATT&CK', View: lazyLoad(async () => (await import('./matrix.tsx')).MitreMatrix) },
  { name: 'hunts', title: 'Hunts', View: Hunts },
  { name: 'cases', title: 'Cases', View: Cases },
  { name: 'matches', title: 'Threat matches', View: ThreatMatches },
  {
    name: 'indicators',
    title: 'Indicators',
    View: lazyLoad(async () => (await import('./indicators.tsx')).Indicators),
    requiredCall: { method: 'GET', path: '/api/siem/threat-intel/indicators' },
  },
  {
    name: 'feeds',
    title: 'Feeds',
    View: lazyLoad(async () => (await import('./feeds.tsx')).Feeds),
    requiredCall: { method: 'GET', path: '/api/siem/threat-intel/feeds' },
  },
  { name: 'files', title: 'Files', View: FileChanges },
  {
    name: 'baselines',
    title: 'Baselines',
    View: lazyLoad(async () => (await import('./baselines.tsx')).Baselines),
    requiredCall: { method: 'GET', path: '/api/siem/fim/baselines' },
  },
]);
