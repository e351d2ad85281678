/** Errors: groups by last occurrence, and a side panel */

import { useEffect } from 'preact/hooks';
import { Spark } from '../../charts/spark.tsx';
import { Paged } from '../../client/pages.ts';
import { change, inAddress } from '../../frame/address.ts';
import { useEscape } from '../../frame/escape.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Found } from '../../lists/empty-state.tsx';
import { type ErrorGroup, errorsCall } from './calls.ts';
import { ErrorPanel } from './error-panel.tsx';

const errorPages = new Paged(errorsCall, ({ items }) => items);

const statuses = ['unresolved', 'resolved', 'ignored'] as const;
const sorts = [
  ['-lastSeen', 'Last seen'],
  ['-firstSeen', 'First seen'],
  ['-count', 'Events'],
  ['-users', 'Users'],
] as const;

const openError = (error: string): void => change({ error }, { replace: inAddress('error') !== '' });

const renderCells = (group: ErrorGroup) => [
  <span key="status" class={group.status === 'unresolved' ? 'text-error' : 'soft'}>
    {group.isNew ? 'new' : group.status}
  </span>,
  <bdi key="type">
    <b>{shownText(group.type ?? 'Error')}</b> {shownText(group.message)}
  </bdi>,
  String(group.count),
  typeof group.users === 'number' ? String(group.users) : '',
  <Spark key="trend" values={group.trend.counts} />,
  <bdi key="services">{shownText(group.services.join(', '))}</bdi>,
  shownMoment(group.lastSeen).slice(0, 19),
];

const ErrorTable = () => (
  <Found
    of={errorPages}
    nothing="No errors in this range."
    label="Errors"
    class="errors"
    columns={['Status', 'Error', 'Events', 'Users', 'Trend', 'Services', 'Last seen']}
    keyOf={({ id }) => id}
    cellsOf={renderCells}
    classOf={({ isNew }) => (isNew ? 'level-error' : '')}
    open={inAddress('error')}
    onOpen={openError}
  />
);

const FilterSelect = ({
  name,
  label,
  options,
}: {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, title: string])[];
}) => (
  <label>
    {label}{' '}
    <select value={inAddress(name)} onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}>
      {options.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

export const Errors = () => {
  const { from, to } = writtenRange.value;
  const [search, service] = [inAddress('search'), inAddress('service')];
  const [sort] = sorts.find(([each]) => each === inAddress('sort')) ?? sorts[0];
  const status = statuses.find((each) => each === inAddress('status'));
  useEffect(() => {
    const filter = { ...(status === undefined ? {} : { status }), ...(service === '' ? {} : { service }) };
    errorPages.load({ query: { from, to, search, sort, limit: 100, ...projectScope.value, ...filter } });
    return () => errorPages.cancel();
  }, [from, to, search, sort, service, status, projectScope.value, refreshes.value]);
  useEscape(() => {
    if (inAddress('error') !== '') openError('');
  });
  const { error } = errorPages.first.state.value;
  const open = inAddress('error');
  return (
    <div class="logs">
      <h1 class="sr-only">Errors</h1>
      <div class="toolbar">
        <Search
          key={search}
          label="Search errors"
          placeholder="Search by type, message or culprit"
          value={search}
          problem={error?.of('search')}
          onSearch={(text) => change({ search: text.trim() })}
        />
        <FilterSelect
          name="status"
          label="Status"
          options={[['', 'all'], ...statuses.map((each) => [each, each] as const)]}
        />
        <FilterSelect
          name="sort"
          label="Sort by"
          options={sorts.map(([value, title], at) => [at === 0 ? '' : value, title])}
        />
        {service === '' ? null : (
          <button type="button" class="plain" onClick={() => change({ service: '' })}>
            service: {shownText(service)} ✕<span class="sr-only"> clear filter</span>
          </button>
        )}
      </div>
      {error?.of('search') === undefined ? <Problem error={error} /> : null}
      <div class={open === '' ? 'list' : 'list with-record'}>
        <ErrorTable />
        {open === '' ? null : <ErrorPanel key={open} id={open} onClose={() => openError('')} />}
      </div>
      <Problem error={errorPages.furtherError.value} />
      <Freshness of={errorPages.first.state.value} />
    </div>
  );
};
