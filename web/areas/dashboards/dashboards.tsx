/** Dashboards: the list, a single dashboard, templates and imports */
import { inAddress, path, toArea } from '../../frame/address.ts';
import { later } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { importCall } from './calls.ts';
import { DashboardList } from './list.tsx';
import { DashboardView } from './view.tsx';

const parts = [
  ['', 'All', DashboardList],
  ['templates', 'Templates', later(async () => (await import('./templates.tsx')).Templates)],
  ['import', 'Import', later(async () => (await import('./import.tsx')).Import)],
] as const;

/** Opened from other views, so it has no tab. */
const Put = later(async () => (await import('./put.tsx')).Put);

const Begin = () => {
  const at = inAddress('show');
  const [, , View] = at === 'put' ? ['', '', Put] : (parts.find(([name]) => name === at) ?? parts[0]);
  return (
    <>
      <nav class="tabs" aria-label="Dashboards">
        <ul>
          {parts
            .filter(([name]) => name !== 'import' || isPermitted(importCall))
            .map(([name, title]) => (
              <li key={name}>
                <Link to={toArea('/dashboards', { show: name })} isCurrent={name === at}>
                  {title}
                </Link>
              </li>
            ))}
        </ul>
      </nav>
      <View />
    </>
  );
};

export const Dashboards = () => {
  const id = path.value.split('/')[2];
  return (
    <div class="logs">
      <h1 class="sr-only">Dashboards</h1>
      {id === undefined ? <Begin /> : <DashboardView key={id} id={decodeURIComponent(id)} />}
    </div>
  );
};
