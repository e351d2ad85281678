/** Dashboard templates, sorted by the number of panels with data */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Button } from '../../components/button.tsx';
import { navigate, readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { useEscape } from '../../frame/escape.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { Search } from '../../frame/search.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { addFavouriteCall, instantiateCall, removeFavouriteCall, type Template, templatesCall } from './calls.ts';
import { buildDashboardUrl } from './list.tsx';

const TemplatePanel = lazyLoad(async () => (await import('./template.tsx')).TemplatePanel);

const openTemplate = (templateId: string): void =>
  setParams({ open: templateId }, { replace: readParam('open') !== '' });

const TemplateRow = ({ template }: { readonly template: Template }) => {
  const [createAction] = useState(() => new Action(instantiateCall));
  const [addFavouriteAction] = useState(() => new Action(addFavouriteCall));
  const [removeFavouriteAction] = useState(() => new Action(removeFavouriteCall));
  const { id, name, description, sentBy, filled, panels, dashboards, favourites, isFavourite } = template;
  const createDashboard = async (): Promise<void> => {
    const dashboard = await createAction.run({ params: { id }, body: {} });
    if (dashboard !== undefined) navigate(buildDashboardUrl(dashboard.id));
  };
  const toggleFavourite = async (): Promise<void> => {
    const result = await (isFavourite ? removeFavouriteAction : addFavouriteAction).run({ params: { id } });
    if (result !== undefined) refresh();
  };
  return (
    <tr>
      <td>
        <button type="button" class="value opens" onClick={() => openTemplate(id)}>
          <bdi>{renderText(name)}</bdi>
        </button>
        <p class="soft">{renderText(description.split('\n')[0] ?? '')}</p>
      </td>
      <td>{renderText(sentBy.join(', '))}</td>
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
          <Button disabled={createAction.isRunning.value} onClick={() => void createDashboard()}>
            Create dashboard<span class="sr-only"> from {name}</span>
          </Button>
        ) : null}
        <ErrorMessage
          error={createAction.error.value ?? addFavouriteAction.error.value ?? removeFavouriteAction.error.value}
        />
      </td>
    </tr>
  );
};

export const Templates = () => {
  const search = readParam('search');
  const openTemplateId = readParam('open');
  const queryState = useQuery(templatesCall, { query: { search } });
  useEscape(() => {
    if (readParam('open') !== '') openTemplate('');
  });
  const { response, error } = queryState;
  return (
    <>
      <Search
        key={search}
        label="Search templates"
        placeholder="Search by name or source"
        value={search}
        problem={error?.of('search')}
        onSearch={(text) => setParams({ search: text.trim() })}
      />
      <ErrorMessage error={error} />
      <div class={openTemplateId === '' ? 'list' : 'list with-record'}>
        <ScrollRegion class="scrolled" label="Templates">
          {response === undefined ? null : (
            <table class="figures texts templates">
              <TableHeader columns={['Template', 'Source', 'Panels with data', 'Dashboards', 'Favorites', 'Actions']} />
              <tbody>
                {response.items.map((template) => (
                  <TemplateRow key={`${template.id} ${template.isFavourite}`} template={template} />
                ))}
              </tbody>
            </table>
          )}
        </ScrollRegion>
        {openTemplateId === '' ? null : (
          <TemplatePanel key={openTemplateId} id={openTemplateId} onClose={() => openTemplate('')} />
        )}
      </div>
      <Freshness queryState={queryState} />
    </>
  );
};
