/** Creates list views from definitions. The URL has the project, search, filters and the open item. */
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Call, CallInput, OperationDeclaration } from '../client/call.ts';
import { PagedList } from '../client/pages.ts';
import type { QueryState } from '../client/query.ts';
import { SkeletonRows } from '../components/skeleton.tsx';
import { readParam, setParams } from '../frame/address.ts';
import { renderText, toText } from '../frame/display-text.tsx';
import { useEscape } from '../frame/escape.ts';
import { ErrorMessage, Freshness } from '../frame/freshness.tsx';
import { toBreakClass } from '../frame/line-breaks.ts';
import type { ViewWithCall } from '../frame/parts.tsx';
import { projectId } from '../frame/project.ts';
import { Search } from '../frame/search.tsx';
import { refreshCount, timeRange } from '../frame/time-range.ts';
import { toMidSentenceTitle } from '../frame/title-in-sentence.ts';
import { EmptyView } from './empty-view.tsx';
import { AssigneeFilter } from './owner-select.tsx';
import { LoadedItem } from './read-one.tsx';
import { ScrollRegion } from './scroll-region.tsx';
import { ShowMore } from './show-more.tsx';

/** Select whose value filters or sorts the list */
export interface SelectFilter {
  readonly name: string;
  readonly label: string;
  /** Options; the first is the default */
  readonly options: readonly (readonly [value: string, title: string])[];
}

interface Page {
  readonly items: readonly unknown[];
}
type ListItem<Answer> = Answer extends { readonly items: readonly (infer Item)[] } ? Item : never;

export interface ListDefinition<Operation extends OperationDeclaration, Item> {
  readonly title: string;
  readonly call: Call<Operation>;
  /** Whether the request has the time range of the page */
  readonly hasTimeRange?: boolean;
  /** Whether the list can be filtered by assignee */
  readonly hasAssigneeFilter?: boolean;
  /** Placeholder of the search field, if the list can be searched */
  readonly search?: string;
  readonly choices?: readonly SelectFilter[];
  /** Filter parameters that only links set; the user can remove each */
  readonly filters?: readonly string[];
  /** Fixed parameters of the request */
  readonly fixedParams?: Readonly<Record<string, string | number>>;
  readonly params?: () => Readonly<Record<string, string>>;
  readonly emptyText: string;
  readonly toKey: (item: Item) => string;
  /** Columns by title. Cells that are strings need no escaping. */
  readonly columns: Readonly<Record<string, (item: Item) => ComponentChildren | undefined>>;
  /** Names of numeric columns */
  readonly numericColumns?: readonly string[];
  /** Names of columns that narrow screens leave out */
  readonly wideColumns?: readonly string[];
  /** Component next to the search, such as a creation form */
  readonly Tools?: ComponentType;
  /** Call and label for an open item that is not on the loaded pages */
  readonly readItem?: { readonly call: Call<OperationDeclaration>; readonly label: string };
  /** Side panel of the open item. `item` is `undefined` if the list does not contain it. */
  readonly ItemPanel?: ComponentType<{
    readonly id: string;
    readonly item: Item | undefined;
    readonly onClose: () => void;
  }>;
}

type QueryParamName<Operation extends OperationDeclaration> = keyof NonNullable<CallInput<Operation>['query']>;

/**
 * A list whose operation has the parameter `projectId` must declare it, and is requested for the selected project. The
 * compiler checks this, except for lists of configuration resources.
 */
type ProjectSupport<Operation extends OperationDeclaration> =
  string extends QueryParamName<Operation>
    ? { readonly isOfProject?: true }
    : 'projectId' extends QueryParamName<Operation>
      ? { readonly isOfProject: true }
      : { readonly isOfProject?: never };

const renderCell = (cell: ComponentChildren | undefined): ComponentChildren => {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string' && typeof cell !== 'number') return cell;
  const text = toText(cell);
  return <bdi class={toBreakClass(text)}>{renderText(text)}</bdi>;
};

const setOpenKey = (open: string): void => setParams({ open }, { replace: readParam('open') !== '' });

const getSelected = ({ name, options }: SelectFilter): string =>
  options.find(([value]) => value === readParam(name))?.[0] ?? options[0]?.[0] ?? '';

export const SelectFilters = ({ selectFilters }: { readonly selectFilters: readonly SelectFilter[] }) => (
  <>
    {selectFilters.map((choice) => (
      <label key={choice.name}>
        {choice.label}{' '}
        <select
          value={getSelected(choice)}
          onChange={({ currentTarget }) => setParams({ [choice.name]: currentTarget.value, open: '' })}
        >
          {choice.options.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
    ))}
  </>
);

/** Filters that links set, each with a button that removes the filter */
export const Filters = ({ filterNames }: { readonly filterNames: readonly string[] }) => (
  <>
    {filterNames
      .filter((name) => readParam(name) !== '')
      .map((name) => (
        <button key={name} type="button" class="plain" onClick={() => setParams({ [name]: '' })}>
          {name}: {renderText(readParam(name))} ✕<span class="sr-only"> clear filter</span>
        </button>
      ))}
  </>
);

const Table = <Operation extends OperationDeclaration, Item>({
  spec,
  items,
}: {
  readonly spec: ListDefinition<Operation, Item>;
  readonly items: readonly Item[];
}) => {
  const columns = Object.entries(spec.columns);
  const { numericColumns = [], wideColumns = [] } = spec;
  const toClass = (name: string): string =>
    [numericColumns.includes(name) ? 'number' : '', wideColumns.includes(name) ? 'wide-only' : ''].join(' ').trim();
  return (
    <table class="figures texts">
      <thead>
        <tr>
          {columns.map(([name]) => (
            <th key={name} scope="col" class={toClass(name)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const key = spec.toKey(item);
          return (
            <tr key={key} class={readParam('open') === key ? 'open' : ''}>
              {columns.map(([name, cell], columnIndex) => (
                <td key={name} class={toClass(name)}>
                  {columnIndex === 0 && spec.ItemPanel !== undefined ? (
                    <button type="button" class="value opens" onClick={() => setOpenKey(key)}>
                      {renderCell(cell(item)) || key}
                    </button>
                  ) : (
                    renderCell(cell(item))
                  )}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
};

/** Creates the view of a list. */
export const createListView = <Operation extends OperationDeclaration>(
  spec: ListDefinition<Operation, ListItem<Operation['response']['_zod']['output']>> & ProjectSupport<Operation>,
): ViewWithCall => {
  type Item = ListItem<Operation['response']['_zod']['output']>;
  const list = new PagedList(spec.call, (page) => (page as Page).items as readonly Item[]);
  const {
    choices = [],
    filters = [],
    hasTimeRange = false,
    hasAssigneeFilter = false,
    search,
    ItemPanel,
    Tools,
  } = spec;
  const queryParams = (): Readonly<Record<string, string | number>> => ({
    limit: 100,
    ...spec.fixedParams,
    ...(hasTimeRange ? timeRange.value : {}),
    ...(spec.isOfProject === true ? { projectId: projectId.value } : {}),
    ...(hasAssigneeFilter ? { assigneeId: readParam('assigneeId') } : {}),
    ...(search === undefined ? {} : { search: readParam('search') }),
    ...Object.fromEntries(choices.map((choice) => [choice.name, getSelected(choice)])),
    ...Object.fromEntries(filters.map((name) => [name, readParam(name)])),
  });
  const ListResult = () => {
    const { response, isLoading } = list.first.state.value;
    const items = list.items.value;
    if (response === undefined) return isLoading ? <SkeletonRows /> : <p class="said" />;
    if (items.length === 0) return <EmptyView title={spec.emptyText} />;
    return (
      <ScrollRegion class="scrolled" label={spec.title}>
        <Table spec={spec} items={items} />
        <ShowMore list={list} />
      </ScrollRegion>
    );
  };
  const hasToolbar =
    search !== undefined || choices.length + filters.length > 0 || hasAssigneeFilter || Tools !== undefined;
  const Toolbar = ({ problem }: { readonly problem: string | undefined }) =>
    hasToolbar ? (
      <div class="toolbar">
        {search === undefined ? null : (
          <Search
            key={readParam('search')}
            label={`Search ${toMidSentenceTitle(spec.title)}`}
            placeholder={search}
            value={readParam('search')}
            problem={problem}
            onSearch={(typed) => setParams({ search: typed.trim(), open: '' })}
          />
        )}
        <SelectFilters selectFilters={choices} />
        {hasAssigneeFilter ? <AssigneeFilter /> : null}
        <Filters filterNames={filters} />
        {Tools === undefined ? null : <Tools />}
      </div>
    ) : null;
  const View = () => {
    const query = queryParams();
    const params = spec.params?.();
    const paramsKey = JSON.stringify([query, params]);
    useEffect(() => {
      list.load({ query, ...(params === undefined ? {} : { params }) } as CallInput<Operation>);
      return () => list.cancel();
    }, [paramsKey, refreshCount.value]);
    useEscape(() => {
      if (readParam('open') !== '') setOpenKey('');
    });
    const { error, response } = list.first.state.value;
    const openKey = ItemPanel === undefined ? '' : readParam('open');
    const item = list.items.value.find((candidate) => spec.toKey(candidate) === openKey);
    const close = (): void => setOpenKey('');
    const isLoaded = response !== undefined || error !== undefined;
    return (
      <>
        <Toolbar problem={error?.of('search')} />
        {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
        <div class={openKey === '' ? 'list' : 'list with-record'}>
          <ListResult />
          {ItemPanel === undefined || openKey === '' || !isLoaded ? null : item === undefined &&
            spec.readItem !== undefined ? (
            <LoadedItem key={`read ${openKey}`} {...spec.readItem} id={openKey} onClose={close}>
              {(found) => <ItemPanel id={openKey} item={found as Item} onClose={close} />}
            </LoadedItem>
          ) : (
            <ItemPanel key={openKey} id={openKey} item={item} onClose={close} />
          )}
        </div>
        <ErrorMessage error={list.loadMoreError.value} />
        <Freshness queryState={list.first.state.value as QueryState<object>} />
      </>
    );
  };
  return Object.assign(View, { requiredCall: spec.call });
};
