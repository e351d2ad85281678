/** List of dashboards: search, filters by tag and folder with counts, and creation */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Paged } from '../../client/pages.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { change, go, inAddress, toArea } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { Search } from '../../frame/search.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { refreshes } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { createCall, listDashboardsCall, type Summary } from './calls.ts';
import { DashboardFacets } from './facets.tsx';

const dashboardPages = new Paged(listDashboardsCall, ({ items }) => items);

/** Returns the URL of a dashboard. */
export const dashboardUrl = (id: string): string => toArea(`/dashboards/${id}`);

const CreateForm = () => {
  const [action] = useState(() => new Action(createCall));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const name = String(new FormData(form).get('name')).trim();
    const createdDashboard = await action.run({ body: { name, folder: inAddress('folder') } });
    if (createdDashboard !== undefined) go(toArea(`/dashboards/${createdDashboard.id}`, { edit: 'true' }));
  };
  return (
    <ActionForm action={action} label="Create dashboard" onSubmit={run}>
      <label>
        Name <input name="name" required={true} maxLength={256} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const DashboardRow = ({ dashboard }: { readonly dashboard: Summary }) => {
  const { id, name, description, folder, tags, panels, updatedAt, visibility } = dashboard;
  return (
    <tr>
      <td>
        <Link to={dashboardUrl(id)}>
          <bdi>{shownText(name)}</bdi>
        </Link>
        {visibility === 'private' ? ' (private)' : ''}
        {description === '' ? null : <p class="soft">{shownText(description.split('\n')[0] ?? '')}</p>}
      </td>
      <td>
        {folder === '' ? null : (
          <button type="button" class="value" onClick={() => change({ folder })}>
            {shownText(folder)}
          </button>
        )}
      </td>
      <td>
        {tags.map((tag) => (
          <button key={tag} type="button" class="value tag" onClick={() => change({ tag })}>
            {shownText(tag)}
          </button>
        ))}
      </td>
      <td>{panels}</td>
      <td>{shownTime(Date.parse(updatedAt)).slice(0, 16)}</td>
    </tr>
  );
};

const ActiveFilter = ({ name }: { readonly name: 'tag' | 'folder' }) =>
  inAddress(name) === '' ? null : (
    <button type="button" class="plain" onClick={() => change({ [name]: '' })}>
      {name}: {shownText(inAddress(name))} ✕<span class="sr-only"> clear filter</span>
    </button>
  );

const DashboardTable = () => {
  const { answer, isLoading } = dashboardPages.first.state.value;
  if (answer === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  if (dashboardPages.items.value.length === 0)
    return (
      <p class="said" role="status">
        No dashboards found. Start from a template, or import dashboards from Grafana.
      </p>
    );
  return (
    <Scrolled class="scrolled" label="Dashboards">
      <table class="figures texts">
        <TableHeader columns={['Name', 'Folder', 'Tags', 'Panels', 'Updated']} />
        <tbody>
          {dashboardPages.items.value.map((dashboard) => (
            <DashboardRow key={dashboard.id} dashboard={dashboard} />
          ))}
        </tbody>
      </table>
      <ShowMore of={dashboardPages} />
    </Scrolled>
  );
};

export const DashboardList = () => {
  const [search, tag, folder] = [inAddress('search'), inAddress('tag'), inAddress('folder')];
  useEffect(() => {
    dashboardPages.load({ query: { search, tag, folder, sort: 'name', limit: 100 } });
    return () => dashboardPages.cancel();
  }, [search, tag, folder, refreshes.value]);
  const { error } = dashboardPages.first.state.value;
  return (
    <>
      <div class="toolbar">
        <Search
          key={search}
          label="Search dashboards"
          placeholder="Search by name"
          value={search}
          problem={error?.of('search')}
          onSearch={(text) => change({ search: text.trim() })}
        />
        <ActiveFilter name="tag" />
        <ActiveFilter name="folder" />
        {isPermitted(createCall) ? <CreateForm /> : null}
      </div>
      {error?.of('search') === undefined ? <Problem error={error} /> : null}
      <div class="explored">
        <DashboardFacets />
        <div class="listed">
          <DashboardTable />
          <Problem error={dashboardPages.furtherError.value} />
        </div>
      </div>
      <Freshness of={dashboardPages.first.state.value} />
    </>
  );
};
