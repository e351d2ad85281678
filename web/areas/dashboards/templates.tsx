/** Dashboard templates, those with the most matching panels first */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { change, go, inAddress } from '../../frame/address.ts';
import { useEscape } from '../../frame/escape.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { Search } from '../../frame/search.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { addFavouriteCall, instantiateCall, removeFavouriteCall, type Template, templatesCall } from './calls.ts';
import { dashboardUrl } from './list.tsx';

const OpenTemplate = later(async () => (await import('./template.tsx')).TemplatePanel);

const openTemplate = (open: string): void => change({ open }, { replace: inAddress('open') !== '' });

const TemplateRow = ({ template }: { readonly template: Template }) => {
  const [action] = useState(() => new Action(instantiateCall));
  const [addFavouriteAction] = useState(() => new Action(addFavouriteCall));
  const [removeFavouriteAction] = useState(() => new Action(removeFavouriteCall));
  const { id, name, description, sentBy, filled, panels, dashboards, favourites, isFavourite } = template;
  const createDashboard = async (): Promise<void> => {
    const dashboard = await action.run({ params: { id }, body: {} });
    if (dashboard !== undefined) go(dashboardUrl(dashboard.id));
  };
  const toggleFavourite = async (): Promise<void> => {
    const done = await (isFavourite ? removeFavouriteAction : addFavouriteAction).run({ params: { id } });
    if (done !== undefined) refresh();
  };
  return (
    <tr>
      <td>
        <button type="button" class="value opens" onClick={() => openTemplate(id)}>
          <bdi>{shownText(name)}</bdi>
        </button>
        <p class="soft">{shownText(description.split('\n')[0] ?? '')}</p>
      </td>
      <td>{shownText(sentBy.join(', '))}</td>
      <td>{filled === null ? 'no data' : `${filled} of ${panels}`}</td>
      <td>{dashboards}</td>
      <td>
        <button type="button" class="plain" aria-pressed={isFavourite} onClick={() => void toggleFavourite()}>
          {isFavourite ? '★' : '☆'} {favourites}
          <span class="sr-only"> {isFavourite ? 'remove from favorites' : 'add to favorites'}</span>
        </button>
      </td>
      <td>
        {isPermitted(instantiateCall) ? (
          <button type="button" disabled={action.isRunning.value} onClick={() => void createDashboard()}>
            Create dashboard<span class="sr-only"> from {name}</span>
          </button>
        ) : null}
        <Problem error={action.error.value ?? addFavouriteAction.error.value ?? removeFavouriteAction.error.value} />
      </td>
    </tr>
  );
};

export const Templates = () => {
  const search = inAddress('search');
  const open = inAddress('open');
  const queryState = useQuery(templatesCall, { query: { search } });
  useEscape(() => {
    if (inAddress('open') !== '') openTemplate('');
  });
  const { answer, error } = queryState;
  return (
    <>
      <Search
        key={search}
        label="Search templates"
        placeholder="Search by name or source"
        value={search}
        problem={error?.of('search')}
        onSearch={(text) => change({ search: text.trim() })}
      />
      <Problem error={error} />
      <div class={open === '' ? 'list' : 'list with-record'}>
        <Scrolled class="scrolled" label="Templates">
          {answer === undefined ? null : (
            <table class="figures texts">
              <TableHeader columns={['Template', 'Source', 'Panels with data', 'Dashboards', 'Favorites', 'Actions']} />
              <tbody>
                {answer.items.map((template) => (
                  <TemplateRow key={`${template.id} ${template.isFavourite}`} template={template} />
                ))}
              </tbody>
            </table>
          )}
        </Scrolled>
        {open === '' ? null : <OpenTemplate key={open} id={open} onClose={() => openTemplate('')} />}
      </div>
      <Freshness of={queryState} />
    </>
  );
};
