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
import { instantiateCall, markCall, type Template, templatesCall, unmarkCall } from './calls.ts';
import { placeOf } from './list.tsx';

const OpenTemplate = later(async () => (await import('./template.tsx')).OpenTemplate);

const setOpen = (open: string): void => change({ open }, { replace: inAddress('open') !== '' });

const Line = ({ template }: { readonly template: Template }) => {
  const [action] = useState(() => new Action(instantiateCall));
  const [marking] = useState(() => new Action(markCall));
  const [unmarking] = useState(() => new Action(unmarkCall));
  const { id, name, description, sentBy, filled, panels, dashboards, favourites, isFavourite } = template;
  const make = async (): Promise<void> => {
    const dashboard = await action.run({ params: { id }, body: {} });
    if (dashboard !== undefined) go(placeOf(dashboard.id));
  };
  const mark = async (): Promise<void> => {
    const done = await (isFavourite ? unmarking : marking).run({ params: { id } });
    if (done !== undefined) refresh();
  };
  return (
    <tr>
      <td>
        <button type="button" class="value opens" onClick={() => setOpen(id)}>
          <bdi>{shownText(name)}</bdi>
        </button>
        <p class="soft">{shownText(description.split('\n')[0] ?? '')}</p>
      </td>
      <td>{shownText(sentBy.join(', '))}</td>
      <td>{filled === null ? 'no data' : `${filled} of ${panels}`}</td>
      <td>{dashboards}</td>
      <td>
        <button type="button" class="plain" aria-pressed={isFavourite} onClick={() => void mark()}>
          {isFavourite ? '★' : '☆'} {favourites}
          <span class="sr-only"> {isFavourite ? 'remove from favorites' : 'add to favorites'}</span>
        </button>
      </td>
      <td>
        {isPermitted(instantiateCall) ? (
          <button type="button" disabled={action.isRunning.value} onClick={() => void make()}>
            Create dashboard<span class="sr-only"> of {name}</span>
          </button>
        ) : null}
        <Problem error={action.error.value ?? marking.error.value ?? unmarking.error.value} />
      </td>
    </tr>
  );
};

export const Templates = () => {
  const search = inAddress('search');
  const open = inAddress('open');
  const queryState = useQuery(templatesCall, { query: { search } });
  useEscape(() => {
    if (inAddress('open') !== '') setOpen('');
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
                  <Line key={`${template.id} ${template.isFavourite}`} template={template} />
                ))}
              </tbody>
            </table>
          )}
        </Scrolled>
        {open === '' ? null : <OpenTemplate key={open} id={open} onClose={() => setOpen('')} />}
      </div>
      <Freshness of={queryState} />
    </>
  );
};
