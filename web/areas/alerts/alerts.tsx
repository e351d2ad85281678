/** Alerts: those that there are now, the rules, the silences, and where they are told. */
import { path, toArea } from '../../frame/address.ts';
import { later } from '../../frame/later.tsx';
import { Link } from '../../frame/link.tsx';
import { Channels } from './channels/channels.tsx';
import { AlertsNow } from './now.tsx';
import { Routing } from './routing.tsx';
import { Rules } from './rules.tsx';
import { Silences } from './silences.tsx';

const parts = [
  ['', 'Now', AlertsNow],
  ['rules', 'Rules', Rules],
  ['silences', 'Silences', Silences],
  ['maintenance', 'Maintenance', later(async () => (await import('./maintenance.tsx')).Maintenance)],
  ['routing', 'Routing', Routing],
  ['channels', 'Channels', Channels],
] as const;

const RuleEditor = later(async () => (await import('./rule/editor.tsx')).RuleEditor);

export const Alerts = () => {
  const at = path.value.split('/')[2] ?? '';
  const [, title, View] =
    at === 'rule' ? ['rule', 'A rule', RuleEditor] : (parts.find(([name]) => name === at) ?? parts[0]);
  return (
    <div class="logs">
      <h1 class="sr-only">{`Alerts: ${title.toLowerCase()}`}</h1>
      <nav class="tabs" aria-label="Alerts">
        <ul>
          {parts.map(([name, title]) => (
            <li key={name}>
              <Link
                to={toArea(name === '' ? '/alerts' : `/alerts/${name}`)}
                isCurrent={name === (at === 'rule' ? 'rules' : at)}
              >
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <View />
    </div>
  );
};
