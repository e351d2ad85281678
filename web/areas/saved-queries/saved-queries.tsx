/** Saved queries: list, results, sharing, editing and deletion, and the predefined queries */
import { useState } from 'preact/hooks';
import type { Query } from '../../../queries/query.ts';
import { ResultShown } from '../../charts/result.tsx';
import { Action } from '../../client/action.ts';
import type { Answered } from '../../client/call.ts';
import { openedOf, writeOf } from '../../editors/form-state.tsx';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { kindOf, questions } from '../../editors/question.ts';
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { listQueryLinks } from '../../frame/query-links.ts';
import { isPermitted } from '../../frame/rights.ts';
import { session } from '../../frame/session.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Raw } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import {
  createCall,
  runCall,
  type SavedQuery,
  savedQueriesCall,
  setFavouriteCall,
  type Template,
  templatesCall,
} from './calls.ts';

const describeQuery = (query: Query): string => {
  const kind = kindOf(query);
  return kind === 'json' ? query.kind : questions[kind];
};

const formatVisibility = ({ visibility, ownerId }: SavedQuery): string =>
  visibility !== 'private' ? 'organization' : ownerId === session.value?.user.id ? 'private (me)' : 'private (owner)';

const FavouriteButton = ({ of: { id, isFavourite } }: { readonly of: SavedQuery }) => {
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
      <Problem error={action.error.value} />
    </>
  );
};

const QueryRunner = ({ of: { id, name } }: { readonly of: SavedQuery }) => {
  const [action] = useState(() => new Action(runCall));
  const [result, setResult] = useState<Answered<NonNullable<(typeof runCall)['of']>>>();
  const run = async (): Promise<void> => setResult(await action.run({ params: { id }, body: {} }));
  return (
    <>
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        {action.isRunning.value ? 'Loading…' : 'Run query'}
      </button>
      <Problem error={action.error.value} />
      {result === undefined ? null : (
        <section aria-label="Result">
          {result.rows.length + result.series.length === 0 ? (
            <p role="status">No results. {shownText(result.hint ?? '')}</p>
          ) : (
            <ResultShown result={result} title={name} />
          )}
        </section>
      )}
    </>
  );
};

const Validity = ({ of: { problems, reason } }: { readonly of: SavedQuery['validity'] }) => (
  <>
    {problems.map(({ path, message }) => (
      <p key={path} class="text-warn">
        {shownText(path)}: {shownText(message)}
      </p>
    ))}
    {reason === null ? null : <p class="soft">{shownText(reason)}</p>}
  </>
);

const Details = ({ item }: { readonly item: SavedQuery }) => {
  const query = item.query as Query;
  const queryLinks = listQueryLinks({ query, from: item.from ?? '', to: item.to ?? '' });
  return (
    <>
      <p>{shownText(item.description ?? '', { lines: true })}</p>
      <div class="act">
        <FavouriteButton of={item} />
        <QueryRunner key={item.version} of={item} />
      </div>
      <ul class="links">
        {queryLinks.map(([title, address]) => (
          <li key={address}>
            <Link to={address}>{title}</Link>
          </li>
        ))}
      </ul>
      <Validity of={item.validity} />
      <Fields
        values={{
          type: describeQuery(query),
          from: item.from,
          to: item.to,
          interval: item.step,
          tags: item.tags?.join(', '),
          visibility: formatVisibility(item),
          runs: item.runs,
          'last run': shownMoment(item.lastRunAt),
          updated: shownMoment(item.updatedAt),
          'used by': item.usedBy.map(({ noun, name }) => `${noun} ${name ?? '(private)'}`).join(', '),
        }}
      />
      <Raw label="Saved query" text={JSON.stringify(query, null, 2)} />
    </>
  );
};

const noun = 'saved query';

const SavedQueryList = listed({
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
  nothing: 'No saved queries yet. Save a query from Logs or Metrics.',
  keyOf: ({ id }) => id,
  columns: {
    Query: ({ name, isFavourite }) => `${isFavourite ? '★ ' : ''}${name}`,
    Type: ({ query }) => describeQuery(query as Query),
    Tags: ({ tags }) => tags?.join(', '),
    Visibility: formatVisibility,
    Runs: ({ runs }) => runs,
    'Last run': ({ lastRunAt }) => shownMoment(lastRunAt).slice(0, 16),
  },
  numbers: ['Runs'],
  Tools: writeOf(noun, createCall),
  Open: openedOf({
    noun,
    path: '/api/saved-queries/{id}',
    Details,
    Form: later(async () => (await import('./form.tsx')).SavedQueryForm),
  }),
});

const Templates = listed({
  title: 'Templates',
  call: templatesCall,
  sent: { limit: '' },
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
  nothing: 'No query templates with data.',
  keyOf: ({ id }) => id,
  columns: {
    Query: ({ name }) => name,
    Type: ({ query }) => describeQuery(query as Query),
    Tags: ({ tags }) => tags.join(', '),
    Data: ({ validity }) =>
      validity.isValid === true ? 'Available' : validity.isValid === false ? 'No data' : 'Unknown',
  },
  Open: ({
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Template | undefined;
    readonly onClose: () => void;
  }) => {
    if (item === undefined) return null;
    const { name, description, query, step, validity } = item;
    return (
      <SidePanel label="Template" title={name} onClose={onClose}>
        <p>{shownText(description)}</p>
        <Validity of={validity} />
        <p class="links">
          {isPermitted(createCall) ? (
            <Link to={toArea('/saved-queries', { open: 'new', name, query: JSON.stringify(query), step: step ?? '' })}>
              Save as a copy
            </Link>
          ) : null}
          <QueryLinks query={query as Query} title={name} />
        </p>
        <Raw label="Saved query" text={JSON.stringify(query, null, 2)} />
      </SidePanel>
    );
  },
});

export const SavedQueries = partsOf('Saved queries', [
  { name: '', title: 'Saved', View: SavedQueryList },
  { name: 'templates', title: 'Templates', View: Templates },
]);
