/** Lists that are declared: what is asked, the columns, and what opens beside. The address holds project, search, filters and what is open. */
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
import { Whose } from './owner-select.tsx';
import { ReadOne } from './read-one.tsx';
import { Scrolled } from './scrolled.tsx';
import { ShowMore } from './show-more.tsx';

/** A choice of one value, by which the API filters or sorts. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  /** The first one is asked where the address has none. */
  readonly options: readonly (readonly [value: string, title: string])[];
}

interface Page {
  readonly items: readonly unknown[];
}
type ItemOf<Answer> = Answer extends { readonly items: readonly (infer Item)[] } ? Item : never;

export interface DeclaredList<Operation extends Declared, Item> {
  readonly title: string;
  readonly call: Call<Operation>;
  /** Whether it is asked for the range of the page. */
  readonly isRanged?: boolean;
  /** Whether it can be narrowed to what is assigned to somebody. */
  readonly isAssigned?: boolean;
  /** Where it can be searched: what the field says. */
  readonly search?: string;
  readonly choices?: readonly Choice[];
  /** Parameters that only links set. Each can be taken away. */
  readonly filters?: readonly string[];
  /** What is sent beside range, search and choices. */
  readonly sent?: Readonly<Record<string, string | number>>;
  readonly params?: () => Readonly<Record<string, string>>;
  readonly nothing: string;
  readonly keyOf: (item: Item) => string;
  /** Texts are shown as texts; nothing else needs care. */
  readonly columns: Readonly<Record<string, (item: Item) => ComponentChildren | undefined>>;
  /** Names of columns whose values are numbers. */
  readonly numbers?: readonly string[];
  /** What stands beside the search, such as a form that creates one. */
  readonly Tools?: ComponentType;
  /** Reads one that is on none of the pages that were read, where the list is not of all there are; and what it is. */
  readonly one?: { readonly call: Call<Declared>; readonly label: string };
  /** What is open beside the list. The item is undefined where the list does not have it (any more). */
  readonly Open?: ComponentType<{ readonly id: string; readonly item: Item | undefined; readonly onClose: () => void }>;
}

type QueryParamOf<Operation extends Declared> = keyof NonNullable<Sent<Operation>['query']>;

/** A list that can be of one project says so, and is asked for the one that is chosen. The compiler sees it but for lists of resources. */
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
          {name}: {shownText(inAddress(name))} ✕<span class="sr-only"> show all</span>
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

/** The view of a declared list. */
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
    if (answer === undefined) return <p class="said">{isLoading ? 'Asking …' : ''}</p>;
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
            label={`Search ${spec.title.toLowerCase()}`}
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
