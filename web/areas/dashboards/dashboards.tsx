/** Dashboards: the list, a single dashboard, templates and imports */
import { path, readParam, toArea } from '../../frame/address.ts';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { importDashboardCall } from './calls.ts';
import { DashboardList } from './list.tsx';
import { DashboardView } from './view.tsx';

const tabs = [
  ['', 'All', DashboardList],
  ['templates', 'Templates', lazyLoad(async () => (await import('./templates.tsx')).Templates)],
  ['import', 'Import', lazyLoad(async () => (await import('./import.tsx')).DashboardImport)],
] as const;

/** Adds a query to a dashboard. It is opened from other views, so it has no tab. */
const AddToDashboard = lazyLoad(async () => (await import('./put.tsx')).AddToDashboard);

const DashboardsHome = () => {
  const currentTab = readParam('show');
  const [, , View] =
    currentTab === 'put' ? ['', '', AddToDashboard] : (tabs.find(([name]) => name === currentTab) ?? tabs[0]);
  return (
    <>
      <nav class="tabs" aria-label="Dashboards">
        <ul>
          {tabs
            .filter(([name]) => name !== 'import' || isPermitted(importDashboardCall))
            .map(([name, title]) => (
              <li key={name}>
                <Link url={toArea('/dashboards', { show: name })} isCurrent={name === currentTab}>
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
      {id === undefined ? <DashboardsHome /> : <DashboardView key={id} id={decodeURIComponent(id)} />}
    </div>
  );
};
