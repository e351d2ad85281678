/** List of dashboards: search, filters by tag and folder with counts, and creation */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { PagedList } from '../../client/pages.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { navigate, readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { Search } from '../../frame/search.tsx';
import { refreshCount } from '../../frame/time-range.ts';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { createDashboardCall, type DashboardSummary, listDashboardsCall } from './calls.ts';
import { DashboardFacets } from './facets.tsx';

const pagedDashboards = new PagedList(listDashboardsCall, ({ items }) => items);

/** Returns the URL of a dashboard. */
export const buildDashboardUrl = (id: string): string => toArea(`/dashboards/${id}`);

const CreateDashboardForm = () => {
  const [action] = useState(() => new Action(createDashboardCall));
  const createDashboard = async (form: HTMLFormElement): Promise<void> => {
    const name = String(new FormData(form).get('name')).trim();
    const createdDashboard = await action.run({ body: { name, folder: readParam('folder') } });
    if (createdDashboard !== undefined) navigate(toArea(`/dashboards/${createdDashboard.id}`, { edit: 'true' }));
  };
  return (
    <ActionForm action={action} label="Create dashboard" onSubmit={createDashboard}>
      <label>
        Name <input name="name" required={true} maxLength={256} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const DashboardRow = ({ dashboard }: { readonly dashboard: DashboardSummary }) => {
  const { id, name, description, folder, tags, panels, updatedAt, visibility } = dashboard;
  return (
    <tr>
      <td>
        <Link url={buildDashboardUrl(id)}>
          <bdi>{renderText(name)}</bdi>
        </Link>
        {visibility === 'private' ? ' (private)' : ''}
        {description === '' ? null : <p class="soft">{renderText(description.split('\n')[0] ?? '')}</p>}
      </td>
      <td>
        {folder === '' ? null : (
          <button type="button" class="value" onClick={() => setParams({ folder })}>
            {renderText(folder)}
          </button>
        )}
      </td>
      <td>
        {tags.map((tag) => (
          <button key={tag} type="button" class="value tag" onClick={() => setParams({ tag })}>
            {renderText(tag)}
          </button>
        ))}
      </td>
      <td>{panels}</td>
      <td>{formatIsoMinute(updatedAt)}</td>
    </tr>
  );
};

const ActiveFilter = ({ name }: { readonly name: 'tag' | 'folder' }) =>
  readParam(name) === '' ? null : (
    <button type="button" class="plain" onClick={() => setParams({ [name]: '' })}>
      {name}: {renderText(readParam(name))} ✕<span class="sr-only"> clear filter</span>
    </button>
  );

const DashboardTable = () => {
  const { response, isLoading } = pagedDashboards.first.state.value;
  if (response === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  if (pagedDashboards.items.value.length === 0)
    return <EmptyView title="No dashboards found. Start from a template, or import dashboards from Grafana." />;
  return (
    <ScrollRegion class="scrolled" label="Dashboards">
      <table class="figures texts">
        <TableHeader columns={['Name', 'Folder', 'Tags', 'Panels', 'Updated']} />
        <tbody>
          {pagedDashboards.items.value.map((dashboard) => (
            <DashboardRow key={dashboard.id} dashboard={dashboard} />
          ))}
        </tbody>
      </table>
      <ShowMore list={pagedDashboards} />
    </ScrollRegion>
  );
};

export const DashboardList = () => {
  const [search, tag, folder] = [readParam('search'), readParam('tag'), readParam('folder')];
  useEffect(() => {
    pagedDashboards.load({ query: { search, tag, folder, sort: 'name', limit: 100 } });
    return () => pagedDashboards.cancel();
  }, [search, tag, folder, refreshCount.value]);
  const { error } = pagedDashboards.first.state.value;
  return (
    <>
      <div class="toolbar">
        <Search
          key={search}
          label="Search dashboards"
          placeholder="Search by name"
          value={search}
          problem={error?.of('search')}
          onSearch={(text) => setParams({ search: text.trim() })}
        />
        <ActiveFilter name="tag" />
        <ActiveFilter name="folder" />
        {isPermitted(createDashboardCall) ? <CreateDashboardForm /> : null}
      </div>
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      <div class="explored">
        <DashboardFacets />
        <div class="listed">
          <DashboardTable />
          <ErrorMessage error={pagedDashboards.loadMoreError.value} />
        </div>
      </div>
      <Freshness queryState={pagedDashboards.first.state.value} />
    </>
  );
};
