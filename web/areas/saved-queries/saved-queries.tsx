/** Saved queries: list, results, sharing, editing and deletion, and the predefined queries */
import { useState } from 'preact/hooks';
import type { Query } from '../../../queries/query.ts';
import { ResultView } from '../../charts/result.tsx';
import { Action } from '../../client/action.ts';
import type { ResponseBody } from '../../client/call.ts';
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { queryKindTitles, toQueryKind } from '../../editors/query-form.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { listQueryLinks } from '../../frame/query-links.ts';
import { isPermitted } from '../../frame/rights.ts';
import { session } from '../../frame/session.ts';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import {
  createSavedQueryCall,
  type QueryTemplate,
  queryTemplatesCall,
  runSavedQueryCall,
  type SavedQuery,
  savedQueriesCall,
  setFavouriteCall,
} from './calls.ts';

const describeQuery = (query: Query): string => {
  const kind = toQueryKind(query);
  return kind === 'json' ? query.kind : queryKindTitles[kind];
};

const formatVisibility = ({ visibility, ownerId }: SavedQuery): string =>
  visibility !== 'private' ? 'organization' : ownerId === session.value?.user.id ? 'private (me)' : 'private (owner)';

const FavouriteButton = ({ savedQuery: { id, isFavourite } }: { readonly savedQuery: SavedQuery }) => {
  const [action] = useState(() => new Action(setFavouriteCall));
  const toggleFavourite = async (): Promise<void> => {
    if ((await action.run({ params: { id }, body: { isFavourite: !isFavourite } })) !== undefined) refresh();
  };
  return (
    <>
      <button
        type="button"
        class="plain"
        aria-pressed={isFavourite}
        disabled={action.isRunning.value}
        onClick={() => void toggleFavourite()}
      >
        {isFavourite ? '★' : '☆'} Favorite
      </button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

const QueryRunner = ({ savedQuery: { id, name } }: { readonly savedQuery: SavedQuery }) => {
  const [action] = useState(() => new Action(runSavedQueryCall));
  const [result, setResult] = useState<ResponseBody<NonNullable<(typeof runSavedQueryCall)['operation']>>>();
  const run = async (): Promise<void> => setResult(await action.run({ params: { id }, body: {} }));
  return (
    <>
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        {action.isRunning.value ? 'Loading…' : 'Run query'}
      </button>
      <ErrorMessage error={action.error.value} />
      {result === undefined ? null : (
        <section aria-label="Result">
          {result.rows.length + result.series.length === 0 ? (
            <p role="status">No results. {renderText(result.hint ?? '')}</p>
          ) : (
            <ResultView result={result} title={name} />
          )}
        </section>
      )}
    </>
  );
};

const ValidityMessages = ({ validity: { problems, reason } }: { readonly validity: SavedQuery['validity'] }) => (
  <>
    {problems.map(({ path, message }) => (
      <p key={path} class="text-warn">
        {renderText(path)}: {renderText(message)}
      </p>
    ))}
    {reason === null ? null : <p class="soft">{renderText(reason)}</p>}
  </>
);

const SavedQueryDetails = ({ item }: { readonly item: SavedQuery }) => {
  const query = item.query as Query;
  const queryLinks = listQueryLinks({ query, from: item.from ?? '', to: item.to ?? '' });
  return (
    <>
      <p>{renderText(item.description ?? '', { lines: true })}</p>
      <div class="act">
        <FavouriteButton savedQuery={item} />
        <QueryRunner key={item.version} savedQuery={item} />
      </div>
      <ul class="links">
        {queryLinks.map(([title, address]) => (
          <li key={address}>
            <Link url={address}>{title}</Link>
          </li>
        ))}
      </ul>
      <ValidityMessages validity={item.validity} />
      <Fields
        values={{
          type: describeQuery(query),
          from: item.from,
          to: item.to,
          interval: item.step,
          tags: item.tags?.join(', '),
          visibility: formatVisibility(item),
          runs: item.runs,
          'last run': formatIsoTime(item.lastRunAt),
          updated: formatIsoTime(item.updatedAt),
          'used by': item.usedBy.map(({ noun, name }) => `${noun} ${name ?? '(private)'}`).join(', '),
        }}
      />
      <RawText label="Saved query" text={JSON.stringify(query, null, 2)} />
    </>
  );
};

const resourceName = 'saved query';

const SavedQueryList = createListView({
  title: 'Saved queries',
  call: savedQueriesCall,
  search: 'Search by name',
  choices: [
    {
      name: 'visibility',
      label: 'Visibility',
      options: [
        ['', 'all'],
        ['organization', 'Organization'],
        ['private', 'Private'],
      ],
    },
  ],
  filters: ['tag'],
  emptyText: 'No saved queries yet. Save a query from Logs or Metrics.',
  toKey: ({ id }) => id,
  columns: {
    Query: ({ name, isFavourite }) => `${isFavourite ? '★ ' : ''}${name}`,
    Type: ({ query }) => describeQuery(query as Query),
    Tags: ({ tags }) => tags?.join(', '),
    Visibility: formatVisibility,
    Runs: ({ runs }) => runs,
    'Last run': ({ lastRunAt }) => formatIsoMinute(lastRunAt),
  },
  numericColumns: ['Runs'],
  Tools: createNewButton(resourceName, createSavedQueryCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/saved-queries/{id}',
    Details: SavedQueryDetails,
    Form: lazyLoad(async () => (await import('./form.tsx')).SavedQueryForm),
  }),
});

const QueryTemplates = createListView({
  title: 'Templates',
  call: queryTemplatesCall,
  fixedParams: { limit: '' },
  choices: [
    {
      name: 'applicable',
      label: 'Data',
      options: [
        ['', 'all'],
        ['true', 'With data'],
      ],
    },
  ],
  emptyText: 'No query templates with data.',
  toKey: ({ id }) => id,
  columns: {
    Query: ({ name }) => name,
    Type: ({ query }) => describeQuery(query as Query),
    Tags: ({ tags }) => tags.join(', '),
    Data: ({ validity }) =>
      validity.isValid === true ? 'Available' : validity.isValid === false ? 'No data' : 'Unknown',
  },
  ItemPanel: ({
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: QueryTemplate | undefined;
    readonly onClose: () => void;
  }) => {
    if (item === undefined) return null;
    const { name, description, query, step, validity } = item;
    return (
      <SidePanel label="Template" title={name} onClose={onClose}>
        <p>{renderText(description)}</p>
        <ValidityMessages validity={validity} />
        <p class="links">
          {isPermitted(createSavedQueryCall) ? (
            <Link url={toArea('/saved-queries', { open: 'new', name, query: JSON.stringify(query), step: step ?? '' })}>
              Save as a copy
            </Link>
          ) : null}
          <QueryLinks query={query as Query} title={name} />
        </p>
        <RawText label="Saved query" text={JSON.stringify(query, null, 2)} />
      </SidePanel>
    );
  },
});

export const SavedQueries = createTabbedView('Saved queries', [
  { name: '', title: 'Saved', View: SavedQueryList },
  { name: 'templates', title: 'Templates', View: QueryTemplates },
]);
