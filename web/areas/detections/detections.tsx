/** Detections: signals and their triage, rules, the ATT&CK matrix, cases, and further lists */
import type { listFileChanges } from '../../../api/groups/siem/file-changes.ts';
import type { ruleResource } from '../../../api/groups/siem/rule.ts';
import type { listSignals } from '../../../api/groups/siem/signals.ts';
import type { listThreatMatches } from '../../../api/groups/siem/threat-matches.ts';
import { callOf, listOf } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { later } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Cases } from './cases.tsx';
import { Entities } from './entities.tsx';
import { Hunts } from './hunts.tsx';
import { RulePanel, RuleTools } from './rule.tsx';
import { SignalPanel } from './signal.tsx';

const severities = ['critical', 'high', 'medium', 'low', 'informational'];
const severityChoice = {
  name: 'severity',
  label: 'Severity',
  options: [['', 'all'] as const, ...severities.map((each) => [each, each] as const)],
};

const Severity = ({ of }: { readonly of: string }) => (
  <span class={of === 'critical' || of === 'high' ? 'text-error' : of === 'medium' ? 'text-warn' : 'soft'}>{of}</span>
);

const Signals = listed({
  title: 'Signals',
  call: callOf<typeof listSignals>('GET', '/api/siem/signals'),
  isOfProject: true,
  isRanged: true,
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
    severityChoice,
  ],
  isAssigned: true,
  filters: ['ruleId', 'technique', 'entity'],
  nothing: 'No security signals in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Rule: ({ ruleTitle }) => ruleTitle,
    Severity: ({ severity }) => <Severity of={severity} />,
    State: ({ state, verdict }) => `${state}${verdict === null ? '' : `: ${verdict}`}`,
    Entity: ({ entities }) => entities.map(({ type, value }) => `${type} ${value}`).join(', '),
    Techniques: ({ techniques }) => techniques.join(', '),
    Records: ({ eventCount }) => eventCount,
    Time: ({ time }) => shownMoment(time).slice(0, 19),
  },
  numbers: ['Records'],
  Open: SignalPanel,
});

const Rules = listed({
  title: 'Rules',
  call: listOf<typeof ruleResource>('/api/siem/rules'),
  search: 'Search by title',
  choices: [
    severityChoice,
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
  nothing: 'No detection rules yet.',
  keyOf: ({ id }) => id,
  Tools: RuleTools,
  columns: {
    Rule: ({ title }) => title,
    Severity: ({ level }) => <Severity of={level} />,
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
    Updated: ({ updatedAt }) => shownMoment(updatedAt).slice(0, 16),
  },
  Open: RulePanel,
});

const ThreatMatches = listed({
  title: 'Matches',
  call: callOf<typeof listThreatMatches>('GET', '/api/siem/threat-intel/matches'),
  isOfProject: true,
  isRanged: true,
  nothing: 'No records in this range match a known indicator.',
  keyOf: ({ id }) => id,
  columns: {
    Indicator: ({ indicator }) => `${indicator.type} ${indicator.value}`,
    Confidence: ({ indicator }) => indicator.score,
    Source: ({ indicator }) => indicator.source,
    Field: ({ field }) => field,
    Host: ({ host }) => host,
    User: ({ user }) => user,
    Records: ({ count }) => count,
    'First record': ({ recordId, time }) => (
      <Link to={toArea('/logs', { record: recordId })}>{shownText(shownMoment(time).slice(0, 19))}</Link>
    ),
  },
  numbers: ['Confidence', 'Records'],
});

const FileChanges = listed({
  title: 'File changes',
  call: callOf<typeof listFileChanges>('GET', '/api/siem/fim'),
  isOfProject: true,
  isRanged: true,
  nothing: 'No file changes in this range.',
  keyOf: ({ id }) => id,
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
      <Link to={toArea('/logs', { record: recordId })}>{shownText(shownMoment(time).slice(0, 19))}</Link>
    ),
  },
});

export const Detections = partsOf('Detections', [
  { name: '', title: 'Signals', View: Signals },
  { name: 'entities', title: 'Entities', View: Entities },
  { name: 'rules', title: 'Rules', View: Rules },
  {
    name: 'import',
    title: 'Import',
    View: later(async () => (await import('./import.tsx')).Import),
    requiredCall: { method: 'POST', path: '/api/siem/rules/import' },
  },
  {
    name: 'placeholders',
    title: 'Placeholders',
    View: later(async () => (await import('./placeholders.tsx')).Placeholders),
    requiredCall: { method: 'GET', path: '/api/siem/placeholders' },
  },
  {
    name: 'fields',
    title: 'Fields',
    View: later(async () => (await import('./field-tables.tsx')).FieldTables),
    requiredCall: { method: 'GET', path: '/api/siem/field-tables' },
  },
  { name: 'matrix', title: 'ATT&CK', View: later(async () => (await import('./matrix.tsx')).Matrix) },
  { name: 'hunts', title: 'Hunts', View: Hunts },
  { name: 'cases', title: 'Cases', View: Cases },
  { name: 'matches', title: 'Threat matches', View: ThreatMatches },
  {
    name: 'indicators',
    title: 'Indicators',
    View: later(async () => (await import('./indicators.tsx')).Indicators),
    requiredCall: { method: 'GET', path: '/api/siem/threat-intel/indicators' },
  },
  {
    name: 'feeds',
    title: 'Feeds',
    View: later(async () => (await import('./feeds.tsx')).Feeds),
    requiredCall: { method: 'GET', path: '/api/siem/threat-intel/feeds' },
  },
  { name: 'files', title: 'Files', View: FileChanges },
  {
    name: 'baselines',
    title: 'Baselines',
    View: later(async () => (await import('./baselines.tsx')).Baselines),
    requiredCall: { method: 'GET', path: '/api/siem/fim/baselines' },
  },
]);
