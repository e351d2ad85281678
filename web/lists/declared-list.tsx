/** Declared lists: query, columns, and side panel. The URL contains the project, search, filters and open item. */
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Call, Declared, Sent } from '../client/call.ts';
import { Paged } from '../client/pages.ts';
import type { QueryState } from '../client/query.ts';
import { change, inAddress } from '../frame/address.ts';
import { useEscape } from '../frame/escape.ts';
import { Freshness, Problem } from '../frame/freshness.tsx';
import type { CallingView } from '../frame/parts.tsx';
import { projectId } from '../frame/project.ts';
import { Search } from '../frame/search.tsx';
import { shownText, textOf } from '../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../frame/time-range.ts';
import { titleInSentence } from '../frame/title-in-sentence.ts';
import { Whose } from './owner-select.tsx';
import { ReadOne } from './read-one.tsx';
import { Scrolled } from './scrolled.tsx';
import { ShowMore } from './show-more.tsx';

/** A single selection by which the API filters or sorts */
export interface Choice {
  readonly name: string;
  readonly label: string;
  /** Options, of which the first is the default */
  readonly options: readonly (readonly [value: string, title: string])[];
}

interface Page {
  readonly items: readonly unknown[];
}
type ItemOf<Answer> = Answer extends { readonly items: readonly (infer Item)[] } ? Item : never;

export interface DeclaredList<Operation extends Declared, Item> {
  readonly title: string;
  readonly call: Call<Operation>;
  /** Whether the request includes the range of the page */
  readonly isRanged?: boolean;
  /** Whether the list can be filtered by assignee */
  readonly isAssigned?: boolean;
  /** Placeholder of the search field, if the list can be searched */
  readonly search?: string;
  readonly choices?: readonly Choice[];
  /** Parameters that only links set; each can be removed */
  readonly filters?: readonly string[];
  /** Parameters sent in addition to range, search and choices */
  readonly sent?: Readonly<Record<string, string | number>>;
  readonly params?: () => Readonly<Record<string, string>>;
  readonly nothing: string;
  readonly keyOf: (item: Item) => string;
  /** Columns; strings are rendered as text and need no escaping */
  readonly columns: Readonly<Record<string, (item: Item) => ComponentChildren | undefined>>;
  /** Names of numeric columns */
  readonly numbers?: readonly string[];
  /** Component next to the search, such as a creation form */
  readonly Tools?: ComponentType;
  /** Call and label to read an item that is not on the loaded pages */
  readonly one?: { readonly call: Call<Declared>; readonly label: string };
  /** Side panel. The item is `undefined` if the list does not contain it (any more) */
  readonly Open?: ComponentType<{ readonly id: string; readonly item: Item | undefined; readonly onClose: () => void }>;
}

type QueryParamOf<Operation extends Declared> = keyof NonNullable<Sent<Operation>['query']>;

/**
 * A list that supports projects declares it, and is requested for the selected one. The compiler verifies this, except
 * for lists of resources.
 */
type OfProject<Operation extends Declared> =
  string extends QueryParamOf<Operation>
    ? { readonly isOfProject?: true }
    : 'projectId' extends QueryParamOf<Operation>
      ? { readonly isOfProject: true }
      : { readonly isOfProject?: never };

const shown = (cell: ComponentChildren | undefined): ComponentChildren => {
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'string' || typeof cell === 'number' ? <bdi>{shownText(textOf(cell))}</bdi> : cell;
};

const setOpen = (open: string): void => change({ open }, { replace: inAddress('open') !== '' });

const chosenOf = ({ name, options }: Choice): string =>
  options.find(([value]) => value === inAddress(name))?.[0] ?? options[0]?.[0] ?? '';

const Choices = ({ of }: { readonly of: readonly Choice[] }) => (
  <>
    {of.map((choice) => (
      <label key={choice.name}>
        {choice.label}{' '}
        <select
          value={chosenOf(choice)}
          onChange={({ currentTarget }) => change({ [choice.name]: currentTarget.value, open: '' })}
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

const Filters = ({ of }: { readonly of: readonly string[] }) => (
  <>
    {of
      .filter((name) => inAddress(name) !== '')
      .map((name) => (
        <button key={name} type="button" class="plain" onClick={() => change({ [name]: '' })}>
          {name}: {shownText(inAddress(name))} ✕<span class="sr-only"> clear filter</span>
        </button>
      ))}
  </>
);

const Table = <Operation extends Declared, Item>({
  spec,
  items,
}: {
  readonly spec: DeclaredList<Operation, Item>;
  readonly items: readonly Item[];
}) => {
  const columns = Object.entries(spec.columns);
  const classOf = (name: string): string => (spec.numbers?.includes(name) ? 'number' : '');
  return (
    <table class="figures texts">
      <thead>
        <tr>
          {columns.map(([name]) => (
            <th key={name} scope="col" class={classOf(name)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const key = spec.keyOf(item);
          return (
            <tr key={key} class={inAddress('open') === key ? 'open' : ''}>
              {columns.map(([name, cell], at) => (
                <td key={name} class={classOf(name)}>
                  {at === 0 && spec.Open !== undefined ? (
                    <button type="button" class="value opens" onClick={() => setOpen(key)}>
                      {shown(cell(item)) || key}
                    </button>
                  ) : (
                    shown(cell(item))
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

/** Returns the view of a declared list. */
export const listed = <Operation extends Declared>(
  spec: DeclaredList<Operation, ItemOf<Operation['response']['_zod']['output']>> & OfProject<Operation>,
): CallingView => {
  type Item = ItemOf<Operation['response']['_zod']['output']>;
  const list = new Paged(spec.call, (page) => (page as Page).items as readonly Item[]);
  const { choices = [], filters = [], isRanged = false, isAssigned = false, search, Open, Tools } = spec;
  const queryParams = (): Readonly<Record<string, string | number>> => ({
    limit: 100,
    ...spec.sent,
    ...(isRanged ? writtenRange.value : {}),
    ...(spec.isOfProject === true ? { projectId: projectId.value } : {}),
    ...(isAssigned ? { assigneeId: inAddress('assigneeId') } : {}),
    ...(search === undefined ? {} : { search: inAddress('search') }),
    ...Object.fromEntries(choices.map((choice) => [choice.name, chosenOf(choice)])),
    ...Object.fromEntries(filters.map((name) => [name, inAddress(name)])),
  });
  const Found = () => {
    const { answer, isLoading } = list.first.state.value;
    const items = list.items.value;
    if (answer === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
    if (items.length === 0)
      return (
        <p class="said" role="status">
          {spec.nothing}
        </p>
      );
    return (
      <Scrolled class="scrolled" label={spec.title}>
        <Table spec={spec} items={items} />
        <ShowMore of={list} />
      </Scrolled>
    );
  };
  const hasToolbar = search !== undefined || choices.length + filters.length > 0 || isAssigned || Tools !== undefined;
  const Toolbar = ({ problem }: { readonly problem: string | undefined }) =>
    hasToolbar ? (
      <div class="toolbar">
        {search === undefined ? null : (
          <Search
            key={inAddress('search')}
            label={`Search ${titleInSentence(spec.title)}`}
            placeholder={search}
            value={inAddress('search')}
            problem={problem}
            onSearch={(typed) => change({ search: typed.trim(), open: '' })}
          />
        )}
        <Choices of={choices} />
        {isAssigned ? <Whose /> : null}
        <Filters of={filters} />
        {Tools === undefined ? null : <Tools />}
      </div>
    ) : null;
  const View = () => {
    const query = queryParams();
    const params = spec.params?.();
    const text = JSON.stringify([query, params]);
    useEffect(() => {
      list.load({ query, ...(params === undefined ? {} : { params }) } as Sent<Operation>);
      return () => list.cancel();
    }, [text, refreshes.value]);
    useEscape(() => {
      if (inAddress('open') !== '') setOpen('');
    });
    const { error, answer } = list.first.state.value;
    const open = Open === undefined ? '' : inAddress('open');
    const item = list.items.value.find((each) => spec.keyOf(each) === open);
    const close = (): void => setOpen('');
    const isKnown = answer !== undefined || error !== undefined;
    return (
      <>
        <Toolbar problem={error?.of('search')} />
        {error?.of('search') === undefined ? <Problem error={error} /> : null}
        <div class={open === '' ? 'list' : 'list with-record'}>
          <Found />
          {Open === undefined || open === '' || !isKnown ? null : item === undefined && spec.one !== undefined ? (
            <ReadOne key={`read ${open}`} {...spec.one} id={open} onClose={close}>
              {(found) => <Open id={open} item={found as Item} onClose={close} />}
            </ReadOne>
          ) : (
            <Open key={open} id={open} item={item} onClose={close} />
          )}
        </div>
        <Problem error={list.furtherError.value} />
        <Freshness of={list.first.state.value as QueryState<object>} />
      </>
    );
  };
  return Object.assign(View, { requiredCall: spec.call });
};
