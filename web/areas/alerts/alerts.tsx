/** Alerts area: current and past alerts, rules, silences, and notification channels */
import { path, toArea } from '../../frame/address.ts';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import type { Tab } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { toMidSentenceTitle } from '../../frame/title-in-sentence.ts';
import { recordingGroupsCall } from './calls.ts';
import { Channels } from './channels/channels.tsx';
import { ActiveAlerts } from './now.tsx';
import { Routing } from './routing/routing.tsx';
import { Rules } from './rules.tsx';
import { Silences } from './silences.tsx';

const parts: readonly Tab[] = [
  { name: '', title: 'Active', View: ActiveAlerts },
  { name: 'history', title: 'History', View: lazyLoad(async () => (await import('./history.tsx')).History) },
  { name: 'rules', title: 'Rules', View: Rules },
  {
    name: 'recording',
    title: 'Recording',
    requiredCall: recordingGroupsCall,
    View: lazyLoad(async () => (await import('./recording.tsx')).Recording),
  },
  { name: 'silences', title: 'Silences', View: Silences },
  {
    name: 'maintenance',
    title: 'Maintenance',
    View: lazyLoad(async () => (await import('./maintenance.tsx')).Maintenance),
  },
  { name: 'routing', title: 'Routing', View: Routing },
  { name: 'channels', title: 'Contact points', View: Channels },
];

/** Parts without a tab of their own, which other parts link to */
const subparts: readonly (Tab & { readonly of: string })[] = [
  {
    name: 'alert',
    title: 'Alert',
    of: '',
    View: lazyLoad(async () => (await import('./alert-page.tsx')).AlertPage),
  },
  {
    name: 'rule',
    title: 'Rule',
    of: 'rules',
    View: lazyLoad(async () => (await import('./rule/editor.tsx')).RuleEditor),
  },
  {
    name: 'import',
    title: 'Import',
    of: 'rules',
    View: lazyLoad(async () => (await import('./rule-import.tsx')).RuleImport),
  },
];

export const Alerts = () => {
  const partName = path.value.split('/')[2] ?? '';
  const permittedParts = parts.filter(({ requiredCall }) => isPermitted(requiredCall));
  const tabName = subparts.find(({ name }) => name === partName)?.of;
  const part = [...permittedParts, ...subparts].find(({ name }) => name === partName) ?? permittedParts[0];
  if (part === undefined) return null;
  return (
    <div class="logs">
      <h1 class="sr-only">{`Alerts: ${toMidSentenceTitle(part.title)}`}</h1>
      <nav class="tabs" aria-label="Alerts">
        <ul>
          {permittedParts.map(({ name, title }) => (
            <li key={name}>
              <Link
                url={toArea(name === '' ? '/alerts' : `/alerts/${name}`)}
                isCurrent={name === (tabName ?? part.name)}
              >
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <part.View key={part.name} />
    </div>
  );
};
